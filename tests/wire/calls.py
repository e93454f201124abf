"""Calls of a client against a local server, for tests of what comes back."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from types import ModuleType
from typing import Any

from runtime.errors import OrionError
from runtime.messages import Message, Text, ToolSpec, UserMessage
from runtime.providers.provider import Failed, Finished, Provider, Request, StreamItem, TextDelta
from tests.wire.links import connect
from tests.wire.server import Play, Say, WireServer

WEATHER = ToolSpec(
    "weather",
    "Tells the weather of a place.",
    {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
)
PIXEL = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc0"
        "000003010100c9fe92ef0000000049454e44ae426082"
    )
).decode()
ANSWER = "Grüße 🌍, all is well."
GOOD = Play((Say(ANSWER),), prompt=21, completion=7)
SILENCE = 0.4

Scenario = Callable[[WireServer, Provider], Awaitable[Any]]


def request(*messages: Message, **changes: Any) -> Request:
    """A call of the service's model with one tool on offer."""
    said = messages or (UserMessage((Text("How are you?"),)),)
    settings: dict[str, Any] = {"session": "s-1", "model": "", "system": "Be kind.", "tools": (WEATHER,)}
    return Request(**(settings | {"messages": said} | changes))


async def collect(provider: Provider, asked: Request) -> list[StreamItem]:
    async with aclosing(provider.stream(asked)) as items:
        return [item async for item in items]


def played(wire: ModuleType, scenario: Scenario, *plays: Play, silence: float = 20.0) -> Any:
    """What `scenario` gives with a client of the service and a server that plays `plays`."""

    async def main() -> Any:
        async with WireServer(wire.Wire()) as server:
            server.plays(*plays)
            provider: Provider = wire.make(connect(server.url + wire.SUFFIX, wire.NAME, silence=silence))
            try:
                return await scenario(server, provider)
            finally:
                await provider.close()

    return asyncio.run(main())


def items(wire: ModuleType, *plays: Play, silence: float = 20.0, **changes: Any) -> list[StreamItem]:
    """The items of one call."""

    async def scenario(_server: WireServer, provider: Provider) -> list[StreamItem]:
        return await collect(provider, request(model=wire.MODEL, **changes))

    found: list[StreamItem] = played(wire, scenario, *plays, silence=silence)
    return found


def text(found: list[StreamItem]) -> str:
    return "".join(item.text for item in found if isinstance(item, TextDelta))


def fault(found: list[StreamItem]) -> OrionError:
    assert isinstance(found[-1], Failed)
    assert sum(isinstance(item, Failed | Finished) for item in found) == 1
    return found[-1].error
