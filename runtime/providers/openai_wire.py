"""The way to a service that speaks like OpenAI's, through the official client, for both of its forms."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from resources.translation import _
from runtime.errors import OrionError
from runtime.messages import JsonObject, Usage
from runtime.permits import is_local
from runtime.providers import faults
from runtime.providers.connection import Connection, HostRefused

if TYPE_CHECKING:
    from openai import AsyncOpenAI

OFFICIAL = "api.openai.com"
CONNECT_SECONDS = 15.0

_STATUS = (
    ("quota", 429), ("rate_limit", 429), ("api_key", 401), ("authentication", 401), ("permission", 403),
    ("not_found", 404), ("overloaded", 503), ("context", 400), ("invalid", 400), ("policy", 400),
    ("image", 400),
)  # fmt: skip
_MARKUP = re.compile(r"\s*<")
_PLAIN = re.compile(r"application/(\w+\+)?json|text/html")


class Refusal(Exception):
    """The service refused a request before it answered. `said` is all of its words, in lower case."""

    def __init__(self, error: OrionError, status: int, said: str) -> None:
        super().__init__(error)
        self.error = error
        self.status = status
        self.said = said.lower()


class Service:
    """Asks the service of `connection`; the client is made at the first call.

    Raises OrionError for every fault of the world, and Refusal where the service named a reason. Used from
    one event loop, closed by its owner. Of the variables that the official client reads from the environment
    none is used: neither keys nor organisations nor headers, because they would go to any address.
    """

    def __init__(self, connection: Connection) -> None:
        split = urlsplit(connection.base_url)
        host = split.hostname or ""
        self.provider = connection.provider
        self.host = host
        self.official = is_official(host)
        self.local = is_local(host)
        self._place = split.netloc.rpartition("@")[2]
        self._connection = connection
        self._client: AsyncOpenAI | None = None
        self._making = asyncio.Lock()

    async def events(self, path: str, body: JsonObject, model: str) -> AsyncGenerator[JsonObject, None]:
        """The events of a streamed answer as JSON objects, without the mark that ends them."""
        client = await self._ready()
        headers = await self._headers()
        import httpx2
        from openai import AsyncStream, OpenAIError

        begun = False
        fault: OrionError | Refusal | None = None
        try:
            stream = await client.post(
                path,
                cast_to=object,
                body=body,
                options={"headers": headers},
                stream=True,
                stream_cls=AsyncStream[object],
            )
            async with stream:
                if _PLAIN.match(stream.response.headers.get("content-type", "")):
                    yield self._whole(await stream.response.aread(), model)
                    return
                async for event in stream:
                    if not isinstance(event, dict):
                        raise ValueError(_("an event is not a JSON object"))
                    begun = True
                    yield event
        except (OpenAIError, HostRefused, httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            fault = self._fault(error, model, begun)
        if fault is not None:  # raised here, so that it does not carry the error with the request along
            raise fault

    async def models(self) -> list[JsonObject]:
        """The service's own list, one object a model."""
        client = await self._ready()
        headers = await self._headers()
        import httpx2
        from openai import OpenAIError

        found: object = None
        fault: OrionError | Refusal | None = None
        try:
            found = await client.get("/models", cast_to=object, options={"headers": headers})
        except (OpenAIError, HostRefused, httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            fault = self._fault(error, "", False)
        if fault is not None:
            raise fault.error if isinstance(fault, Refusal) else fault
        listed = found.get("data", found.get("models")) if isinstance(found, dict) else found
        if not isinstance(listed, list):
            raise faults.malformed(self.provider, _("the list of models is none"))
        about = found.get("models") if isinstance(found, dict) else None
        more = about if isinstance(about, list) and len(about) == len(listed) else [{}] * len(listed)
        pairs = ((one, two) for one, two in zip(listed, more, strict=True) if isinstance(one, dict))
        return [(two if isinstance(two, dict) else {}) | one for one, two in pairs]

    async def close(self) -> None:
        """Close the connections; idempotent."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _ready(self) -> AsyncOpenAI:
        async with self._making:
            if self._client is None:
                self._client = await asyncio.to_thread(self._made)
        return self._client

    def _made(self) -> AsyncOpenAI:
        import httpx2
        from openai import AsyncOpenAI, Omit

        lines = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
        omitted: Any = {line.partition(":")[0].strip(): Omit() for line in lines if ":" in line}
        silence = self._connection.silence
        client = AsyncOpenAI(
            api_key="-",  # never sent: each request brings its own header, or none
            admin_api_key="",
            base_url=self._connection.base_url,
            http_client=self._connection.client(),
            max_retries=0,
            timeout=httpx2.Timeout(silence, connect=min(CONNECT_SECONDS, silence)),
            default_headers=omitted,
        )
        client.organization = client.project = None
        return client

    async def _headers(self) -> Any:
        """The key, read anew. Raises OrionError."""
        from openai import Omit

        key = await asyncio.to_thread(self._connection.key)
        if not key:
            return {"Authorization": Omit()}
        return {"Authorization": f"Bearer {key}"}

    def _fault(self, error: Exception, model: str, begun: bool) -> OrionError | Refusal:
        """What `error` means. Nothing of it is kept, because it holds the request and with it the key."""
        import httpx2
        import openai

        if (own := faults.of_the_house(error, self.provider)) is not None:
            return own
        chain = faults.causes(error)
        if isinstance(error, openai.APIStatusError):
            problem, kind = _said(error.body)
            headers = dict(error.response.headers)
            found = faults.refused(self.provider, model, error.status_code, problem, headers, kind)
            whole = json.dumps(error.body, default=str) if error.body else ""
            return Refusal(found, error.status_code, f"{whole} {problem}")
        unconnected = httpx2.ConnectTimeout, httpx2.ConnectError, httpx2.UnsupportedProtocol
        if any(isinstance(cause, unconnected) for cause in chain):
            return faults.unreachable(self._place, str(chain[-1]) or type(chain[-1]).__name__)
        if any(isinstance(cause, httpx2.TimeoutException) for cause in chain):
            return faults.silent(self.provider, self._connection.silence)
        if isinstance(error, openai.APIError) and not isinstance(error, openai.APIConnectionError):
            return self.told(error.body or {"message": error.message}, model, begun)
        if isinstance(error, ValueError):
            return faults.malformed(self.provider, str(error) if type(error) is ValueError else _("not JSON"))
        if begun:
            return faults.cut_short(self.provider, model)
        return faults.unreachable(self._place, str(chain[-1]) or type(chain[-1]).__name__)

    def _whole(self, text: bytes, model: str) -> JsonObject:
        """The one event that an answer is worth which came in one piece, as from a service that does not
        stream. Most of those are not answers: something else listens at the address."""
        found = json.loads(text)
        if isinstance(found, dict) and (error := found.get("error")):
            raise self.told(error, model, begun=False, otherwise=400)
        if isinstance(found, dict) and found.get("object") == "response":
            return {"type": "response.completed", "response": found}
        if isinstance(found, dict) and "choices" in found:
            return found
        raise ValueError(_("not a stream of events"))

    def told(
        self, body: object, model: str, begun: bool = True, otherwise: int = 500
    ) -> OrionError | Refusal:
        """The fault that an error inside a stream stands for; a Refusal as long as nothing had `begun`.
        `otherwise` is the status of one without a name."""
        problem, kind = _said(body)
        code = body.get("code") if isinstance(body, dict) else None
        status = code if isinstance(code, int) and code >= 400 else _status(kind, otherwise)
        if "policy" in kind or "invalid_prompt" in kind:
            kind += " content_policy"
        found = faults.refused(self.provider, model, status, problem, None, kind)
        return found if begun else Refusal(found, status, f"{kind} {problem}")


def is_official(host: str) -> bool:
    """Whether the host is OpenAI's own, in whatever region."""
    return host == OFFICIAL or host.endswith(f".{OFFICIAL}")


def _status(kind: str, otherwise: int) -> int:
    """The status that the name of an error stands for."""
    return next((status for mark, status in _STATUS if mark in kind.lower()), otherwise)


def _said(body: object) -> tuple[str, str]:
    """What the service said, and its own name for the error, in all the forms that services give them."""
    if isinstance(body, str):
        return ("" if _MARKUP.match(body) else body), ""
    if not isinstance(body, dict):
        return "", ""
    problem = next((body[name] for name in ("message", "detail", "error", "title") if body.get(name)), "")
    text = problem if isinstance(problem, str) else json.dumps(problem)
    if isinstance(about := body.get("metadata"), dict) and isinstance(raw := about.get("raw"), str):
        text = f"{text}: {raw}"
    kinds = (body.get(name) for name in ("code", "type", "param"))
    return text, " ".join(kind for kind in kinds if isinstance(kind, str))


def usage(found: object) -> Usage:
    """The tokens of one call, by the names of either form. Some services leave the thoughts out of the reply
    they count, and have them in the total alone, for which they want to be paid."""
    if not isinstance(found, dict):
        return Usage()
    prompt = _whole(found, "prompt_tokens", "input_tokens")
    completion = _whole(found, "completion_tokens", "output_tokens")
    read = found.get("prompt_tokens_details") or found.get("input_tokens_details")
    written = found.get("completion_tokens_details") or found.get("output_tokens_details")
    return Usage(
        prompt=prompt,
        completion=max(completion, _whole(found, "total_tokens") - prompt),
        cached=_whole(read, "cached_tokens") or _whole(found, "prompt_cache_hit_tokens"),
        reasoning=_whole(written, "reasoning_tokens"),
        cache_written=_whole(read, "cache_write_tokens"),
    )


def _whole(found: object, *names: str) -> int:
    values = (found.get(name) for name in names) if isinstance(found, dict) else ()
    return next((int(value) for value in values if isinstance(value, int | float) and value > 0), 0)
