"""The model hub: what it has, what lies in a repository, and the way to a file.

Format: the API of huggingface.co, through its own library, and the headers of its file addresses.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from models.errors import EngineError
from models.hub_files import File, HubVariant, below, projectors, variants
from models.hub_session import MOST_REDIRECTS, HubSession, Opened, busy, endless, host_of, redirected

if TYPE_CHECKING:
    import httpx2

HOME = "https://huggingface.co"
SILENCE = 30.0
"""Seconds without a byte after which a connection counts as lost."""

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_MOST_FILES = 5000
_LARGEST = 1 << 50
"""Of what is counted: no file has more bytes, no model more numbers."""

_PLAIN = {"Accept-Encoding": "identity"}


@dataclass(frozen=True, slots=True)
class Shape:
    """What the hub read out of a GGUF file of a repository; 0 and "" where it did not."""

    architecture: str = ""
    window: int = 0
    parameters: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """A repository with GGUF files. `gated` ones want a token and that its holder agreed to their terms;
    `updated` is a day as in "2026-05-01", "" where it is unknown."""

    repository: str
    maker: str
    title: str
    downloads: int
    likes: int
    licence: str
    gated: bool
    pipeline: str
    updated: str
    shape: Shape


@dataclass(frozen=True, slots=True)
class Described:
    """A repository at the commit `revision`: all its files whose names can be used, the models among them and
    the projectors that belong to these."""

    repository: str
    revision: str
    licence: str
    gated: bool
    files: tuple[File, ...]
    variants: tuple[HubVariant, ...]
    projectors: tuple[File, ...]
    shape: Shape


@dataclass(frozen=True, slots=True)
class Located:
    """A file as the hub has it now, in the commit `commit`; "" and -1 stand for what it did not say. `git` is
    git's own hash of the content, given for small files instead of `sha256`."""

    commit: str
    size: int
    sha256: str
    git: str


class Hub:
    """The hub at `endpoint`, else at HF_ENDPOINT, else huggingface.co. All methods block and may be called
    from any thread; the owner closes it. `client` makes the HTTP client, which raises `refused` (with the
    name in `host`) for a host that was not allowed; `token` is read at each call and sent to the hub alone.

    All raise EngineError: host_refused (host), hub_unreachable (host, reason), hub_unavailable (host, status,
    seconds), hub_unusable (host, reason), hub_not_found (name, host, revision: whether only the
    commit is gone), hub_token_refused (host, name, status), download_gated (repository, page).
    """

    def __init__(
        self,
        client: Callable[[], httpx2.Client],
        endpoint: str = "",
        token: Callable[[], str] = lambda: "",
        *,
        refused: type[Exception],
    ) -> None:
        self.endpoint = (endpoint.strip() or os.environ.get("HF_ENDPOINT", "").strip() or HOME).rstrip("/")
        self._session = HubSession(client, self.endpoint, token, refused)

    @property
    def host(self) -> str:
        """The host that must be allowed for a search."""
        return host_of(self.endpoint)

    def search(self, words: str, limit: int = 20) -> list[Found]:
        """Repositories with GGUF files whose names have all `words`, the most downloaded first."""
        with self._asking(words):
            from huggingface_hub.hf_api import HfApi

            listed = HfApi(self.endpoint, token=False).list_models(
                filter="gguf",
                search=words,
                sort="downloads",
                limit=limit,
                expand=["downloads", "likes", "gated", "pipeline_tag", "lastModified", "tags", "gguf"],
            )
            return [_found(info) for info in listed if _REPOSITORY.fullmatch(str(info.id))]

    def describe(self, repository: str, revision: str = "main") -> Described:
        """What lies in a repository. A name that no repository can have is hub_not_found."""
        with self._asking(repository):
            from huggingface_hub.hf_api import HfApi

            self._check(repository)
            api = HfApi(self.endpoint, token=False)
            info = api.model_info(repository, revision=revision, files_metadata=True)
            files = tuple(_files((info.siblings or [])[:_MOST_FILES]))
            return Described(
                repository=repository,
                revision=str(info.sha or revision),
                licence=_licence(info),
                gated=bool(info.gated),
                files=files,
                variants=variants(files),
                projectors=projectors(files),
                shape=_shape(info),
            )

    def place(self, repository: str, revision: str, file: str) -> str:
        """The address of a file."""
        from huggingface_hub.file_download import hf_hub_url

        self._check(repository)
        return hf_hub_url(repository, file, revision=revision, endpoint=self.endpoint)

    def page(self, repository: str) -> str:
        """Where a person reads about a repository and agrees to its terms."""
        return f"{self.endpoint}/{repository}"

    def look(self, repository: str, revision: str, file: str, opened: Opened | None = None) -> Located:
        """What the hub says of a file before it is fetched. It stands in the first answer that names a hash,
        also where that redirects; no other host than the hub's own is asked. `opened` hears of each
        connection, so that a wait can be ended."""
        url = self.place(repository, revision, file)
        commit = ""
        for _number in range(MOST_REDIRECTS):
            response = self._session.request(
                "HEAD", url, headers=_PLAIN, follow_redirects=False, opened=opened
            )
            if response.status_code >= 400:
                raise self._refusal(response, repository, file)
            told = response.headers
            commit = commit or _hexadecimal(told.get("X-Repo-Commit", ""), 40)
            target = redirected(url, response) if response.has_redirect_location else ""
            if not target or "X-Linked-Etag" in told or host_of(target) != host_of(url):
                return _located(commit, told, bool(target))
            url = target
        raise endless(url)

    @contextmanager
    def fetch(
        self, repository: str, revision: str, file: str, begin: int = 0, opened: Opened | None = None
    ) -> Iterator[httpx2.Response]:
        """The answer (200, 206 or 416) from which the bytes of a file from `begin` on are to be read, after
        redirects. Not by the library's own function for this: that one waits out of sight, cannot be stopped
        within ten megabytes, and looks neither at Content-Range nor at what a server sends too much.
        """
        headers = {**_PLAIN, **({"Range": f"bytes={begin}-"} if begin else {})}
        url = self.place(repository, revision, file)
        for _number in range(MOST_REDIRECTS):
            with self._session.stream("GET", url, headers, timeout=SILENCE, opened=opened) as response:
                if response.has_redirect_location:
                    url = redirected(url, response)
                    continue
                if response.status_code not in (200, 206, 416):
                    raise self._refusal(response, repository, file)
                yield response
                return
        raise endless(url)

    def close(self) -> None:
        """Close every connection; idempotent."""
        self._session.close()

    def _check(self, repository: str) -> None:
        if not _REPOSITORY.fullmatch(repository) or ".." in repository:
            raise EngineError("hub_not_found", name=repository[:200], host=self.host)

    @contextmanager
    def _asking(self, name: str, file: str = "") -> Iterator[None]:
        """The library works over this hub's session; what it raises becomes an EngineError."""
        with self._session.lent():
            from huggingface_hub.errors import HfHubHTTPError

            try:
                yield
            except HfHubHTTPError as error:
                raise self._refusal(error.response, name, file) from error
            except (
                ValueError,
                LookupError,
                TypeError,
                AttributeError,
                ArithmeticError,
                RecursionError,
            ) as error:
                reason = "its answer is not what a hub says"
                raise EngineError("hub_unusable", host=self.host, reason=reason) from error

    def _refusal(self, response: httpx2.Response, name: str, file: str) -> EngineError:
        """What a status of 400 or more means."""
        status, said = response.status_code, response.headers.get("X-Error-Code", "")
        host = response.url.host
        if said == "GatedRepo":
            return EngineError("download_gated", repository=name, page=self.page(name))
        if status == 404 or said in ("RepoNotFound", "EntryNotFound", "RevisionNotFound"):
            wanted = f"{name}/{file}" if file else name
            return EngineError("hub_not_found", name=wanted, host=host, revision=said == "RevisionNotFound")
        if status in (401, 403, 407):
            return EngineError("hub_token_refused", host=host, name=name, status=status)
        if status in (408, 429) or status >= 500:
            return busy(response)
        return EngineError("hub_unusable", host=host, reason=f"HTTP status {status}")


def _found(info: Any) -> Found:
    maker, _slash, name = str(info.id).partition("/")
    return Found(
        repository=str(info.id),
        maker=maker,
        title=re.sub(r"[-_.]gguf$", "", name, flags=re.IGNORECASE),
        downloads=int(info.downloads or 0),
        likes=int(info.likes or 0),
        licence=_licence(info),
        gated=bool(info.gated),
        pipeline=_short(info.pipeline_tag),
        updated=info.last_modified.date().isoformat() if info.last_modified else "",
        shape=_shape(info),
    )


def _files(siblings: list[Any]) -> Iterator[File]:
    """Those whose names can be used on a disk, each name once, also where large and small letters are one."""
    met: set[str] = set()
    for sibling in siblings:
        name, lfs = str(sibling.rfilename), sibling.lfs
        try:
            below(name)
        except EngineError:
            continue
        if name.casefold() in met:
            continue
        met.add(name.casefold())
        size = sibling.size if isinstance(sibling.size, int) and 0 <= sibling.size <= _LARGEST else -1
        yield File(name, size, _hexadecimal(str(lfs.sha256) if lfs else "", 64))


def _shape(info: Any) -> Shape:
    told = info.gguf if isinstance(info.gguf, dict) else {}
    return Shape(
        _short(told.get("architecture")), _count(told.get("context_length")), _count(told.get("total"))
    )


def _licence(info: Any) -> str:
    tags = [str(tag) for tag in info.tags or []]
    return next((_short(tag.removeprefix("license:")) for tag in tags if tag.startswith("license:")), "")


def _short(said: object) -> str:
    return "".join(letter for letter in str(said or "") if letter.isprintable())[:80]


def _count(said: object) -> int:
    return said if isinstance(said, int) and 0 < said <= _LARGEST else 0


def _located(commit: str, told: httpx2.Headers, elsewhere: bool) -> Located:
    """From the headers of an answer; length and hash of one that leads `elsewhere` are its own, not the
    file's."""
    own: Mapping[str, str] = {} if elsewhere else told
    size = told.get("X-Linked-Size") or own.get("Content-Length") or ""
    etag = told.get("X-Linked-Etag") or own.get("ETag") or ""
    etag = etag.removeprefix("W/").strip('"')
    number = int(size) if re.fullmatch(r"\d{1,15}", size) else -1
    return Located(commit, number, _hexadecimal(etag, 64), _hexadecimal(etag, 40))


def _hexadecimal(said: str, digits: int) -> str:
    return said.lower() if re.fullmatch(rf"[0-9a-fA-F]{{{digits}}}", said) else ""
