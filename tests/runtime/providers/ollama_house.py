"""A client of Ollama before a local server that speaks its wire format, and what tests ask of the two."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

from runtime.errors import OrionError
from runtime.messages import (
    Image,
    JsonObject,
    Message,
    Text,
    ToolCall,
    ToolSpec,
    UserMessage,
)
from runtime.providers.ollama import OllamaProvider
from runtime.providers.ollama_library import Pulling
from runtime.providers.provider import (
    Failed,
    Finished,
    Request,
    StreamItem,
)
from tests.wire.links import connect
from tests.wire.ollama import MODEL, Wire, make
from tests.wire.server import Play, Received, Say, WireServer

NESTED = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "spots": {"type": "array", "items": {"type": "object", "properties": {"x": {"minimum": 0}}}}
    },
}
TOOL = ToolSpec("weather", "Tells the weather.", NESTED)
CALL = ToolCall("call_1", "weather", {"place": "Rome"})
HELLO: tuple[Message, ...] = (UserMessage((Text("Hello"),)),)
PICTURE: tuple[Message, ...] = (UserMessage((Text("What is it?"), Image("image/png", "aWNvbg=="))),)

Scenario = Callable[[WireServer, OllamaProvider], Awaitable[Any]]


def run(scenario: Scenario, *plays: Play, key: str = "") -> Any:
    """What `scenario` gives; every play must have been asked for."""

    async def main() -> Any:
        async with WireServer(Wire()) as server:
            server.plays(*plays)
            provider = make(connect(server.url, "ollama", key))
            try:
                return await scenario(server, provider)
            finally:
                await provider.close()
                assert server.left_over == 0

    return asyncio.run(main())


def asked(*messages: Message, **changes: Any) -> Request:
    settings: dict[str, Any] = {"session": "s", "model": MODEL, "system": "Be kind.", "messages": messages}
    return Request(**(settings | changes))


async def collect(provider: OllamaProvider, request: Request) -> list[StreamItem]:
    async with aclosing(provider.stream(request)) as items:
        return [item async for item in items]


def exchange(request: Request, *plays: Play) -> tuple[list[StreamItem], list[Received]]:
    """The items of one call, and the requests the server got."""

    async def scenario(server: WireServer, provider: OllamaProvider) -> Any:
        return await collect(provider, request), server.requests

    items, requests = run(scenario, *plays)
    return items, requests


def body(request: Request, play: Play | None = None) -> JsonObject:
    """What is sent for `request`."""
    return exchange(request, play or Play((Say("Yes."),)))[1][-1].body


async def pulled(provider: OllamaProvider) -> list[Pulling]:
    async with aclosing(provider.library.pull("gemma:2b")) as steps:
        return [step async for step in steps]


def end(items: list[StreamItem]) -> Finished:
    assert isinstance(items[-1], Finished), items[-1]
    return items[-1]


def fault(items: list[StreamItem]) -> OrionError:
    assert isinstance(items[-1], Failed)
    return items[-1].error
