"""An Ollama server: the way to it, the models it keeps, and its faults said as the house's errors."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from resources.translation import _
from runtime.errors import OrionError
from runtime.messages import JsonObject
from runtime.permits import is_local
from runtime.providers import faults
from runtime.providers.connection import Connection, HostRefused

if TYPE_CHECKING:
    import httpx
    from ollama import AsyncClient, ListResponse, ShowResponse

_AT_ONCE = 4

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class OllamaModel:
    """A model the server keeps. `size` is in bytes, `window` what it was trained for and `chosen` the window
    its maker set, in tokens; 0 and empty where it is not known. `capabilities` are in Ollama's words:
    completion, tools, thinking, vision, embedding, insert. `digest` tells one build of it from the next."""

    name: str
    size: int = 0
    digest: str = ""
    parameters: str = ""
    quantization: str = ""
    window: int = 0
    chosen: int = 0
    capabilities: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Pulling:
    """How far a download is: what the server does now, and bytes of the present file; 0 where unknown."""

    status: str
    completed: int = 0
    total: int = 0


class OllamaLibrary:
    """Speaks to the server of `connection` through the official client, which is made at the first call.

    Every method raises OrionError for what goes wrong out there. Used from one event loop, closed by its
    owner. Formats: the API documentation in Ollama's repository (docs/api.md, api/types.go).
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._client: AsyncClient | None = None
        self._making = asyncio.Lock()
        self._known: dict[str, OllamaModel] = {}

    @property
    def host(self) -> str:
        """Where the server is."""
        return urlsplit(self.connection.base_url).hostname or ""

    @property
    def local(self) -> bool:
        """Whether the server is on this machine."""
        return is_local(self.host)

    def known(self, name: str) -> OllamaModel | None:
        """What was learnt of the model so far."""
        return self._known.get(_full(name))

    async def installed(self) -> list[OllamaModel]:
        """The models the server keeps, by name, those that only embed included."""
        listed: ListResponse = await self._ask("", lambda client: client.list())
        gate = asyncio.Semaphore(_AT_ONCE)

        async def look(name: str, size: int, digest: str) -> OllamaModel:
            known = self.known(name)
            if known is not None and digest and known.digest == digest:
                return known
            async with gate:
                return replace(await self.show(name), size=size, digest=digest)

        looks = [
            look(model.model, int(model.size or 0), model.digest or "")
            for model in listed.models
            if model.model
        ]
        found = await asyncio.gather(*looks, return_exceptions=True)
        for fault in found:
            if isinstance(fault, BaseException) and not _gone(fault):
                raise fault
        kept = [model for model in found if isinstance(model, OllamaModel)]
        self._known |= {_full(model.name): model for model in kept}
        return sorted(kept, key=lambda model: model.name)

    async def show(self, name: str) -> OllamaModel:
        """What the server knows of one model; `model_not_offered` when it has none of that name."""
        shown: ShowResponse = await self._ask(name, lambda client: client.show(name))
        self._known[_full(name)] = _model(name, shown)
        return self._known[_full(name)]

    async def pull(self, name: str) -> AsyncGenerator[Pulling, None]:
        """Let the server download a model from its library, and tell how far it is until it is there.

        Closing the iterator stops the download; a later one goes on where it stopped. It is the server that
        goes out for it: ask the user before. Raises `pull_unknown`, `pull_cut_short` or `pull_failed`
        (model, problem) besides the faults of every call.
        """
        done = False
        try:
            async with aclosing(self.lines(name, "/api/pull", {"model": name, "stream": True})) as parts:
                async for part in parts:
                    done = part.get("status") == "success"
                    yield _pulling(part)
        except OrionError as error:
            raise _of_the_pull(error, name) from None
        if not done:
            raise OrionError("pull_cut_short", fault="provider", model=name)
        self._known.pop(_full(name), None)

    async def delete(self, name: str) -> None:
        """Remove a model from the server's disk; `model_not_offered` when it has none of that name."""
        await self._ask(name, lambda client: client.delete(name))
        self._known.pop(_full(name), None)

    async def embed(self, model: str, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each of `texts`, in their order; texts beyond the model's window are cut off."""
        if not texts:
            return []
        answer = await self._ask(model, lambda client: client.embed(model, list(texts)))
        vectors = [list(vector) for vector in answer.embeddings]
        if len(vectors) != len(texts):
            count = f"{len(vectors)} vectors for {len(texts)} texts"
            raise faults.malformed(self.connection.provider, count)
        return vectors

    async def lines(self, model: str, path: str, body: JsonObject) -> AsyncGenerator[JsonObject, None]:
        """The objects of a streamed answer. Closing the iterator hangs up.

        Sent and read here rather than by the official client's `chat`: that drops nested parts of schemas,
        ids of calls, options it does not know and the status of an error inside, and ends a line at U+0085.
        """
        begun = False
        fault: OrionError | None = None
        try:
            http = (await self._ready())._client
            async with http.stream("POST", path, json=body) as answer:
                if not answer.is_success:
                    await answer.aread()
                    answer.raise_for_status()
                async with aclosing(_objects(answer)) as parts:
                    async for part in parts:
                        begun = True
                        if "error" in part:
                            fault = self._inside(part, model)
                            break
                        yield part
        except _expected() as error:
            fault = self._fault(error, model, begun)
        if fault is not None:
            raise fault

    async def close(self) -> None:
        """Close the connections; idempotent."""
        client, self._client = self._client, None
        if client is not None:
            await client._client.aclose()

    async def _ask(self, model: str, call: Callable[[AsyncClient], Awaitable[Answer]]) -> Answer:
        fault: OrionError
        try:
            return await call(await self._ready())
        except _expected() as error:
            fault = self._fault(error, model, False)
        raise fault

    async def _ready(self) -> AsyncClient:
        """The client, with the key of this moment."""
        async with self._making:
            if self._client is None:
                self._client = await asyncio.to_thread(_client, self.connection)
        key = await asyncio.to_thread(self.connection.key)
        headers = self._client._client.headers
        headers.pop("authorization", None)
        if key:
            headers["authorization"] = f"Bearer {key}"
        return self._client

    def _fault(self, error: Exception, model: str, begun: bool) -> OrionError:
        import httpx

        provider = self.connection.provider
        if (own := faults.of_the_house(error, provider)) is not None:
            return own
        for cause in faults.causes(error):
            if isinstance(cause, httpx.HTTPStatusError):
                answer = cause.response
                return faults.refused(provider, model, answer.status_code, _said(answer), answer.headers)
        match error:
            case ConnectionError() | httpx.ConnectError() | httpx.ConnectTimeout():
                return faults.unreachable(self._host, self._unreached(error))
            case httpx.TimeoutException():
                return faults.silent(provider, self.connection.silence)
            case httpx.TransportError() if begun:
                return faults.cut_short(provider, model)
            case httpx.TransportError() | httpx.InvalidURL():
                return faults.unreachable(self._host, str(error) or type(error).__name__)
        return faults.malformed(provider, _("not the JSON that Ollama documents"))

    def _inside(self, part: JsonObject, model: str) -> OrionError:
        """The fault that a line of a stream tells of; older servers name no status there."""
        problem, status = _problem(part), part.get("status")
        if not isinstance(status, int):
            status = 400 if "context length" in problem or "does not support" in problem else 500
        return faults.refused(self.connection.provider, model, status, problem)

    @property
    def _host(self) -> str:
        parts = urlsplit(self.connection.base_url)
        return (
            f"{parts.hostname}:{parts.port}" if self.local and parts.port else parts.hostname or parts.netloc
        )

    def _unreached(self, error: Exception) -> str:
        if self.local:
            return _("Ollama is not running there; start it, or install it from ollama.com")
        return str(error) or type(error).__name__


def _client(connection: Connection) -> AsyncClient:
    """The official client over the house's way onto the network. It takes no key from the environment, which
    the client would send to any server, this machine's included. Reads certificates: not for the loop."""
    import httpx
    from ollama import AsyncClient

    def wired(base_url: str, headers: dict[str, str], **_rest: Any) -> httpx.AsyncClient:
        client = connection.old_client()
        client.base_url = httpx.URL(base_url)
        client.headers.update({name: value for name, value in headers.items() if name != "authorization"})
        return client

    class Client(AsyncClient):
        def __init__(self) -> None:
            super(AsyncClient, self).__init__(wired, connection.base_url)

    return Client()


def _expected() -> tuple[type[Exception], ...]:
    """What the official client raises for a fault of the world. It reads an answer that is no object as if it
    were one, which ends in AttributeError or TypeError."""
    import httpx
    from ollama import RequestError, ResponseError

    of_the_client = (RequestError, ResponseError, AttributeError, TypeError, ValueError, RecursionError)
    return (OrionError, HostRefused, ConnectionError, httpx.HTTPError, httpx.InvalidURL, *of_the_client)


def _said(answer: httpx.Response) -> str:
    """What a refusal says, which some servers before Ollama write in other forms."""
    import httpx

    try:
        text = answer.text
    except httpx.ResponseNotRead:
        return ""
    try:
        return _problem(json.loads(text))
    except (ValueError, RecursionError):
        return text


def _problem(body: object) -> str:
    """What an error says, in any of the usual forms."""
    said = body.get("error", body) if isinstance(body, dict) else body
    said = said.get("message", said) if isinstance(said, dict) else said
    return said if isinstance(said, str) else json.dumps(said)


async def _objects(answer: httpx.Response) -> AsyncGenerator[JsonObject, None]:
    """The object of each line; ValueError for a line that is none. An end inside of a line is no line."""
    rest = b""
    async for piece in answer.aiter_bytes():
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            if line.strip():
                yield _object(line)
    if rest.strip() and not rest.lstrip().startswith(b"{"):
        raise ValueError("not JSON")
    with suppress(ValueError):
        yield _object(rest)


def _object(line: bytes) -> JsonObject:
    found = json.loads(line)
    if not isinstance(found, dict):
        raise ValueError("a line that is no JSON object")
    return found


def _pulling(part: JsonObject) -> Pulling:
    completed, total = (
        count if isinstance(count, int) else 0 for count in (part.get("completed"), part.get("total"))
    )
    return Pulling(str(part.get("status", "")), completed, total)


def _of_the_pull(error: OrionError, name: str) -> OrionError:
    problem = str(error.fields.get("problem", ""))
    if error.code == "model_not_offered" or "file does not exist" in problem:
        return OrionError("pull_unknown", fault="user", model=name)
    if error.code == "reply_cut_short":
        return OrionError("pull_cut_short", fault="provider", model=name)
    if error.code in ("provider_unavailable", "request_rejected"):
        return OrionError("pull_failed", fault="provider", model=name, problem=problem)
    return error


def _gone(fault: BaseException) -> bool:
    """Whether one model could not be looked at although the server is well: it was deleted meanwhile, or its
    files are damaged."""
    return isinstance(fault, OrionError) and fault.code in ("model_not_offered", "provider_unavailable")


def _full(name: str) -> str:
    """With the tag that an untagged name means."""
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def _model(name: str, shown: ShowResponse) -> OllamaModel:
    info = shown.modelinfo or {}
    length = info.get(f"{info.get('general.architecture', '')}.context_length", 0)
    details = shown.details
    return OllamaModel(
        name,
        parameters=(details.parameter_size or "") if details else "",
        quantization=(details.quantization_level or "") if details else "",
        window=length if isinstance(length, int) else 0,
        chosen=_chosen(shown.parameters or ""),
        capabilities=frozenset(shown.capabilities or ()),
    )


def _chosen(parameters: str) -> int:
    """The `num_ctx` in the lines of parameters that a model was made with."""
    for line in parameters.splitlines():
        name, _space, value = line.strip().partition(" ")
        if name == "num_ctx" and value.strip().isdigit():
            return int(value)
    return 0
