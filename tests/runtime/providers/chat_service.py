"""Asks a local server that speaks Chat Completions, and looks at what went out and came back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

from runtime.messages import (
    Image,
    JsonObject,
    Message,
    Text,
    ToolCall,
    ToolSpec,
    UserMessage,
)
from runtime.providers.openai import make
from runtime.providers.provider import (
    CallReady,
    Failed,
    Finished,
    Provider,
    ReasoningDelta,
    Request,
    StreamItem,
    TextDelta,
)
from tests.wire.links import KEY, connect
from tests.wire.openai_chat import MODEL, Wire, chunk, framed
from tests.wire.server import Play, Received, Say, WireServer

WEATHER = ToolSpec(
    "weather", "Tells the weather.", {"type": "object", "properties": {"place": {"type": "string"}}}
)
PICTURE = Image("image/png", "iVBORw0KGgo=")
HELLO = UserMessage((Text("Hello."),))
GOOD = Play((Say("All is well."),))


class Raw(Wire):
    """Sends these events to whoever asks."""

    def __init__(self, *events: JsonObject | bytes) -> None:
        super().__init__()
        self._raw = [event if isinstance(event, bytes) else framed(event) for event in events]

    def events(self, play: Play, request: JsonObject) -> list[bytes]:
        return self._raw


def delta(finish: str | None = None, **said: Any) -> JsonObject:
    return chunk({"model": "m"}, [{"index": 0, "delta": said, "finish_reason": finish}])


def called(index: int | None = None, id: str | None = None, **function: Any) -> JsonObject:
    place = {} if index is None else {"index": index}
    return place | ({"id": id} if id else {}) | {"function": function}


DONE = b"data: [DONE]\n\n"


def request(*messages: Message, **changes: Any) -> Request:
    settings: dict[str, Any] = {"session": "s-1", "model": MODEL, "system": "Be kind."}
    return Request(**(settings | {"messages": messages or (HELLO,)} | changes))


async def collect(provider: Provider, asked: Request) -> list[StreamItem]:
    async with aclosing(provider.stream(asked)) as items:
        return [item async for item in items]


def served(
    wire: Wire, scenario: Callable[[WireServer, Provider], Awaitable[Any]], *plays: Play, key: str = KEY
) -> Any:
    async def main() -> Any:
        async with WireServer(wire) as server:
            server.plays(*plays)
            provider = make(connect(server.url + "/v1", "somewhere", key=key))
            try:
                return await scenario(server, provider)
            finally:
                await provider.close()

    return asyncio.run(main())


def asked(
    *plays: Play, requests: tuple[Request, ...], key: str = KEY
) -> tuple[list[Received], list[list[StreamItem]]]:
    """What reaches the server, and what comes of each request."""

    async def scenario(
        server: WireServer, provider: Provider
    ) -> tuple[list[Received], list[list[StreamItem]]]:
        found = [await collect(provider, one) for one in requests]
        return server.requests, found

    result: tuple[list[Received], list[list[StreamItem]]] = served(Wire(), scenario, *plays, key=key)
    return result


def read(*events: JsonObject | bytes) -> list[StreamItem]:
    """The items of an answer made of these events."""

    async def scenario(_server: WireServer, provider: Provider) -> list[StreamItem]:
        return await collect(provider, request(tools=(WEATHER,)))

    found: list[StreamItem] = served(Raw(*events), scenario, Play())
    return found


def text(items: list[StreamItem]) -> str:
    return "".join(item.text for item in items if isinstance(item, TextDelta))


def calls(items: list[StreamItem]) -> list[ToolCall]:
    return [item.call for item in items if isinstance(item, CallReady)]


def end(items: list[StreamItem]) -> Finished:
    assert isinstance(items[-1], Finished), items[-1]
    return items[-1]


def code(items: list[StreamItem]) -> str:
    assert isinstance(items[-1], Failed), items[-1]
    return items[-1].error.code


def thoughts(found: list[StreamItem]) -> str:
    return "".join(item.text for item in found if isinstance(item, ReasoningDelta))
