"""The session lent to the hub's own library for a call: no hidden waiting, a token for one host only."""

from __future__ import annotations

import functools
import ipaddress
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urljoin, urlsplit

from models.errors import EngineError

if TYPE_CHECKING:
    import httpx2

BUSY = (408, 425, 429)
LONGEST = 3600
"""Seconds that a host may ask to be left alone for; it is asked again then, whatever it said."""

OURSELVES = "orion-desktop"
TIMEOUT = 20.0
CONNECTING = 8.0
"""Seconds; a download that is paused in the middle of connecting waits for them."""

MOST_REDIRECTS = 8
Opened = Callable[[Any], None]
"""Hears of the network stream of a connection."""

LARGEST = 32 << 20
"""Bytes of an answer of the API."""

MOST_ANSWERS = 30
"""Answers to one call of the library, which turns pages for as long as it is offered another."""


class HubSession:
    """One client to one hub at `endpoint`. Used from any number of threads; the owner closes it.

    `token` goes to the host of `endpoint` and to no other. A failure of the network and an answer that asks
    for patience are raised at once as EngineErrors, so that the library neither retries nor waits by itself;
    so is `refused`, the exception of the client for a host that was not allowed, with its name in `host`.
    """

    def __init__(
        self,
        client: Callable[[], httpx2.Client],
        endpoint: str,
        token: Callable[[], str],
        refused: type[Exception],
    ) -> None:
        self._make = client
        self._made: httpx2.Client | None = None
        self._making = threading.Lock()
        self._token = token
        self._origin = _origin(endpoint)
        self._refused = refused

    def close(self) -> None:
        """Close every connection; the next call opens new ones."""
        with self._making:
            made, self._made = self._made, None
        if made is not None:
            made.close()

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Within it huggingface_hub, called in this thread, uses this session."""
        _lend()
        kept = _current.set(_Loan(self))
        try:
            yield
        finally:
            _current.reset(kept)

    def request(self, method: str, url: str, **more: Any) -> httpx2.Response:
        """An answer that is read, after redirects unless `follow_redirects` is False. EngineError
        host_refused, hub_unreachable or hub_unavailable."""
        follow = more.get("follow_redirects", True)
        params = more.get("params")
        opened: Opened | None = more.get("opened")
        timeout = more.get("timeout") or TIMEOUT
        for _number in range(MOST_REDIRECTS):
            with self.stream(
                method, url, more.get("headers"), timeout=timeout, params=params, opened=opened
            ) as response:
                if not (follow and response.has_redirect_location):
                    return _read(response)
                url, params = redirected(url, response), None
        raise endless(url)

    @contextmanager
    def stream(
        self,
        method: str,
        url: str,
        headers: Any = None,
        *,
        timeout: float = TIMEOUT,
        params: Any = None,
        opened: Opened | None = None,
    ) -> Iterator[httpx2.Response]:
        """One answer whose body is still to be read, also a redirect; raises as `request`, for what happens
        within it too. `opened` hears of the connection, which is then one of its own, before it answers."""
        import httpx2

        host = host_of(url)
        try:
            client = self._client()
            dressed = self._dressed(url, headers)
            limits = httpx2.Timeout(timeout, connect=min(CONNECTING, timeout))
            signs = {"trace": functools.partial(_on_sign, opened)} if opened else {}
            dressed |= {"Connection": "close"} if opened else {}
            request = client.build_request(
                method, url, headers=dressed, params=params, timeout=limits, extensions=signs
            )
            response = client.send(request, stream=True, follow_redirects=False)
            try:
                if response.status_code in BUSY or response.status_code >= 500:
                    raise busy(response)
                yield response
            finally:
                response.close()
        except self._refused as error:
            raise EngineError("host_refused", host=str(getattr(error, "host", host))) from error
        except (httpx2.RequestError, httpx2.InvalidURL, httpx2.StreamError) as error:
            raise EngineError("hub_unreachable", host=host, reason=_plainly(error)) from error

    def _client(self) -> httpx2.Client:
        with self._making:
            self._made = self._made or self._make()
            return self._made

    def _dressed(self, url: str, headers: Any) -> dict[str, str]:
        """The headers with the token where the host is the hub's own, without any elsewhere. The library
        would tell of this machine in User-Agent."""
        own = ("authorization", "user-agent")
        kept = {name: value for name, value in dict(headers or {}).items() if name.lower() not in own}
        kept["User-Agent"] = OURSELVES
        token = self._token() if _origin(url) == self._origin else ""
        if not re.fullmatch(r"[\x21-\x7e]*", token):  # no header can carry it, and an error would quote it
            token = ""
        return {**kept, "Authorization": f"Bearer {token}"} if token else kept


def _on_sign(opened: Opened, name: str, info: dict[str, Any]) -> None:
    """A sign of the HTTP library: a connection stands, or has become one with TLS."""
    if name.endswith(("connect_tcp.complete", "start_tls.complete")):
        opened(info["return_value"])


def _plainly(error: Exception) -> str:
    """What `error` says, without the system's number for it."""
    return re.sub(r"^\[Errno -?\d+\] ", "", str(error)) or type(error).__name__


def busy(response: httpx2.Response) -> EngineError:
    """What to raise for an answer that asks for patience; `seconds` is what it asks for, else 0."""
    said = response.headers.get("Retry-After", "").strip()
    limit = re.search(r";\s*r=0\s*;\s*t=(\d+)", response.headers.get("RateLimit", ""))
    seconds = int(said) if re.fullmatch(r"\d{1,9}", said) else int(limit[1]) if limit else 0
    return EngineError(
        "hub_unavailable", host=response.url.host, status=response.status_code, seconds=min(seconds, LONGEST)
    )


def redirected(url: str, response: httpx2.Response) -> str:
    """Where an answer of `url` leads. EngineError hub_unusable where that is no address, one without TLS
    although `url` has it, or this machine although `url` is of another."""
    try:
        target = urljoin(url, response.headers["Location"])
        scheme, host, _port = _origin(target)
    except ValueError:
        target, scheme, host = "", "", ""
    safe = scheme == "https" or (scheme == "http" and not url.startswith("https:"))
    if not (safe and host) or (_is_here(host) and not _is_here(host_of(url))):
        raise EngineError("hub_unusable", host=host_of(url), reason="it redirects to where nobody should go")
    return target


def endless(url: str) -> EngineError:
    """What to raise after too many redirects."""
    return EngineError("hub_unusable", host=host_of(url), reason="it redirects without end")


def _read(response: httpx2.Response) -> httpx2.Response:
    """The answer with its body. One that would fill the memory is none of the hub's."""
    import httpx2

    size, pieces = 0, []
    for piece in response.iter_bytes():
        size += len(piece)
        if size > LARGEST:
            raise EngineError("hub_unusable", host=response.url.host, reason="its answer is too large")
        pieces.append(piece)
    headers = [(name, value) for name, value in response.headers.items() if name != "content-encoding"]
    return httpx2.Response(
        response.status_code, headers=headers, content=b"".join(pieces), request=response.request
    )


def host_of(url: str) -> str:
    """The name of the host in an address, "" where there is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _is_here(host: str) -> bool:
    """Whether a host is this machine, which needs no permission."""
    try:
        return host.rstrip(".") == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _origin(url: str) -> tuple[str, str, int | None]:
    split = urlsplit(url)
    return split.scheme, (split.hostname or "").lower(), split.port


class _Loan:
    """The session of one call."""

    def __init__(self, session: HubSession) -> None:
        self._session = session
        self._answers = 0

    def request(self, method: str, url: str, **more: Any) -> httpx2.Response:
        self._answers += 1
        if self._answers > MOST_ANSWERS:
            raise EngineError("hub_unusable", host=host_of(url), reason="its answer goes on without end")
        return self._session.request(method, url, **more)


class _Lent:
    """What huggingface_hub takes for its client: whatever is asked goes to the session of the caller."""

    def request(self, method: str, url: str, **more: Any) -> httpx2.Response:
        return _loan().request(method, str(url), **more)

    def get(self, url: str, **more: Any) -> httpx2.Response:
        return self.request("GET", url, **more)

    def close(self) -> None:
        """The session is its owner's."""


_current: ContextVar[_Loan | None] = ContextVar("hub_session", default=None)


def _loan() -> _Loan:
    loan = _current.get()
    if loan is None:
        raise EngineError("hub_unusable", host="", reason="the library was called without a session")
    return loan


@functools.cache
def _lend() -> None:
    """Once in a process: the library has one place for a client."""
    from huggingface_hub import set_client_factory

    set_client_factory(lambda: cast("httpx2.Client", _Lent()))
