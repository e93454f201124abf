"""The provider of Anthropic's models, and of every service that speaks Anthropic's Messages API."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from runtime.errors import OrionError
from runtime.messages import Image, JsonObject, ToolMessage, UserMessage
from runtime.permits import is_local
from runtime.providers import faults
from runtime.providers.anthropic_models import Kind, kind, learn
from runtime.providers.anthropic_reply import Reading
from runtime.providers.anthropic_request import Prepared, prepare
from runtime.providers.connection import Connection, HostRefused
from runtime.providers.provider import Failed, ModelInfo, Request, StreamItem, Traits

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic, AsyncStream

PAGE = 1000
"""Models asked for at a time, as many as the service gives."""

CONNECTING = 30.0
"""Seconds until a host that does not answer is given up."""

DRAINING = 0.2
"""Seconds a service may take to end its response after it said that the reply is whole."""

BYTES_PER_TOKEN = 2.5
PICTURE_TOKENS = 1_600
"""For guesses of the length of a prompt: fewer bytes than a token of plain text has, and a large picture."""

_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "api_error": 500,
    "overloaded_error": 529,
}
"""The status an error inside of a stream stands for."""


class AnthropicProvider:
    """Answers over `connection` with the official client, which is loaded at the first call."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._host = urlsplit(connection.base_url).hostname or connection.base_url
        self._sdk: AsyncAnthropic | None = None
        self._learnt: dict[str, Kind] = {}

    def traits(self, model: str) -> Traits:
        """See Provider."""
        provider, host = self._connection.provider, self._host
        return Traits(provider, is_local(host), images=self._kind(model).images, host=host)

    def window(self, model: str) -> int:
        """See Provider."""
        return self._kind(model).window

    def tools_on_demand(self, model: str) -> bool:
        """See Provider; no model of a service is that small."""
        return False

    async def count(self, request: Request) -> int:
        """See Provider: a guess on the long side, without asking the service."""
        pictures = [
            len(part.data)
            for message in request.messages
            if isinstance(message, UserMessage | ToolMessage)
            for part in message.parts
            if isinstance(part, Image)
        ]
        whole = len(json.dumps(self._prepare(request).body, ensure_ascii=False).encode())
        return int(max(0, whole - sum(pictures)) / BYTES_PER_TOKEN) + len(pictures) * PICTURE_TOKENS

    async def models(self) -> list[ModelInfo]:
        """See Provider."""
        found: list[ModelInfo] = []
        after: JsonObject = {}
        while True:
            page = await self._page({"limit": PAGE} | after)
            for entry in _entries(page.get("data")):
                name = str(entry.get("id", ""))
                self._learnt[name] = learn(entry)
                known = self._kind(name)
                title = str(entry.get("display_name") or name)
                found.append(ModelInfo(name, title, known.window, images=known.images))
            last = page.get("last_id")
            if not page.get("has_more") or not last or after.get("after_id") == last:
                return found
            after = {"after_id": last}

    async def stream(self, request: Request) -> AsyncGenerator[StreamItem, None]:
        """See Provider."""
        prepared = self._prepare(request)
        reading = Reading(self._connection.provider, request.model, prepared)
        try:
            client, headers = await self._ready()
        except OrionError as error:
            yield Failed(error)
            return
        import httpx2
        from anthropic import AnthropicError, AsyncStream

        if prepared.betas:
            headers["anthropic-beta"] = ",".join(prepared.betas)
        try:
            stream = await client.post(
                "/v1/messages",
                cast_to=object,
                body=prepared.body | {"stream": True},
                options={"headers": headers},
                stream=True,
                stream_cls=AsyncStream[object],
            )
            reading.begun = True
            async with stream:
                if "event-stream" not in stream.response.headers.get("content-type", ""):
                    raise faults.malformed(self._connection.provider, "it is no stream of events")
                async for event in stream:
                    for item in reading.take(event):
                        yield item
                    if reading.ended:
                        await _drain(stream)
                        break
        except (OrionError, AnthropicError, HostRefused, httpx2.HTTPError, ValueError) as error:
            yield Failed(self._fault(error, request.model, reading.begun))
            return
        yield reading.end(self.window(request.model))

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        sdk, self._sdk = self._sdk, None
        if sdk is not None:
            await sdk.close()

    def _kind(self, model: str) -> Kind:
        return kind(model, self._learnt.get(model))

    def _prepare(self, request: Request) -> Prepared:
        return prepare(request, self._connection.provider, self._kind(request.model))

    async def _ready(self) -> tuple[AsyncAnthropic, dict[str, Any]]:
        """The client with the key of this moment, and the headers of a call. Raises OrionError."""
        key = await asyncio.to_thread(self._connection.key)
        client = self._sdk or await self._open()
        from anthropic import Omit

        client.api_key = key
        return client, {} if key else {"Authorization": Omit()}

    async def _open(self) -> AsyncAnthropic:
        """Made in a thread, because loading the library takes its time; the first of several calls wins."""
        made = await asyncio.to_thread(self._make)
        if self._sdk is None:
            self._sdk = made
        elif self._sdk is not made:
            await made.close()
        return self._sdk

    def _make(self) -> AsyncAnthropic:
        from anthropic import AsyncAnthropic
        from httpx2 import Timeout

        silence = self._connection.silence
        return AsyncAnthropic(
            api_key="",
            base_url=self._connection.base_url.rstrip("/").removesuffix("/v1"),
            max_retries=0,
            timeout=Timeout(silence, connect=min(silence, CONNECTING)),
            http_client=self._connection.client(),
            open_telemetry=False,
        )

    async def _page(self, asked: JsonObject) -> JsonObject:
        """A page of the list of models. Raises OrionError."""
        client, headers = await self._ready()
        import httpx2
        from anthropic import AnthropicError

        found: object = None
        fault: OrionError | None = None
        try:
            found = await client.get(
                "/v1/models", cast_to=object, options={"params": asked, "headers": headers}
            )
        except (AnthropicError, HostRefused, httpx2.HTTPError, ValueError) as error:
            fault = self._fault(error, "", begun=False)
        if fault is not None:  # raised here, so that it does not carry the error with the request along
            raise fault
        if not isinstance(found, dict):
            raise faults.malformed(self._connection.provider, "it is no list of models")
        return found

    def _fault(self, error: Exception, model: str, begun: bool) -> OrionError:
        """What went wrong, as the house says it; `begun` once the service had begun to answer."""
        import httpx2
        from anthropic import APIStatusError

        provider = self._connection.provider
        if (own := faults.of_the_house(error, provider)) is not None:
            return own
        if isinstance(error, APIStatusError):
            problem, said = _said(error.body)
            status = error.status_code if error.status_code >= 400 else _STATUS.get(said, 500)
            return faults.refused(provider, model, status, problem, error.response.headers, said)
        if isinstance(error, ValueError):
            return faults.malformed(provider, type(error).__name__)
        root = next((cause for cause in faults.causes(error) if isinstance(cause, httpx2.HTTPError)), error)
        if isinstance(root, httpx2.TimeoutException) and not isinstance(root, httpx2.ConnectTimeout):
            return faults.silent(provider, self._connection.silence)
        if begun:
            return faults.cut_short(provider, model)
        return faults.unreachable(self._host, str(root) or type(root).__name__)


async def _drain(stream: AsyncStream[object]) -> None:
    """Read the end of the response, so that its connection can be used again."""
    import httpx2
    from anthropic import AnthropicError

    with suppress(TimeoutError, httpx2.HTTPError, AnthropicError, ValueError):
        async with asyncio.timeout(DRAINING):
            async for _event in stream:
                pass


def _said(body: object) -> tuple[str, str]:
    """The service's words for an error and its name for it."""
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, dict):
        return str(error.get("message") or ""), str(error.get("type") or "")
    return str(error or body or ""), ""


def _entries(found: object) -> list[JsonObject]:
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
