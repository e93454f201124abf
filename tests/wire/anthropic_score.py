"""Plain ways to ask for a reply of Anthropic's service and to say of which events it consists."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from runtime.events import Body
from runtime.messages import AssistantMessage, JsonObject, Message, Text, ToolSpec, UserMessage
from runtime.providers.anthropic import AnthropicProvider
from runtime.providers.anthropic_models import kind
from runtime.providers.anthropic_reply import Reading
from runtime.providers.anthropic_request import Prepared, prepare
from runtime.providers.provider import Request, StreamItem
from runtime.reply import Reply
from tests.wire.anthropic import MODEL, NAME, Wire, complaints, framed
from tests.wire.links import connect
from tests.wire.server import Play, Say, WireServer

WEATHER = ToolSpec("weather", "Tells the weather.", {"properties": {"place": {"type": "string"}}})
CLOCK = ToolSpec("clock", "Tells the time.")
DONE = Play((Say("Done."),))
ASKED = UserMessage((Text("How is it in Oslo?"),))
PIXEL = "aWNvbg=="

Scenario = Callable[[WireServer, AnthropicProvider], Awaitable[Any]]


class Scores(Wire):
    """Plays prepared lists of events, in order."""

    def __init__(self, *scores: list[JsonObject]) -> None:
        self.scores = list(scores)

    def events(self, play: Play, request: JsonObject) -> list[bytes]:
        """See WireFormat."""
        return [framed(event) for event in self.scores.pop(0)]


def served(wire: Wire, scenario: Scenario, *plays: Play) -> Any:
    """What `scenario` gives with a client of a server that speaks `wire`."""

    async def main() -> Any:
        async with WireServer(wire) as server:
            server.plays(*plays)
            provider = AnthropicProvider(connect(server.url, NAME))
            try:
                return await scenario(server, provider)
            finally:
                await provider.close()

    return asyncio.run(main())


def asking(*history: Message, model: str = MODEL, **changes: Any) -> Request:
    """A request with two tools on offer."""
    plain = Request("s", model, "Be kind.", history or (ASKED,), (WEATHER, CLOCK))
    return replace(plain, **changes)


def made(request: Request) -> Prepared:
    """`request` as it would be sent; one that the service would not accept fails the test."""
    prepared = prepare(request, NAME, kind(request.model))
    assert not list(complaints(prepared.body))
    return prepared


async def collect(provider: AnthropicProvider, request: Request) -> list[StreamItem]:
    """The items of one call."""
    async with aclosing(provider.stream(request)) as items:
        return [item async for item in items]


def heard(*events: JsonObject, request: Request | None = None) -> list[StreamItem]:
    """The items of a reply that consists of `events`, over HTTP."""

    async def scenario(_server: WireServer, provider: AnthropicProvider) -> list[StreamItem]:
        return await collect(provider, request or asking())

    found: list[StreamItem] = served(Scores(list(events)), scenario, Play())
    return found


def read(*events: JsonObject, request: Request | None = None) -> list[StreamItem]:
    """The items of a reply that consists of `events`, without a server."""
    asked = request or asking()
    reading = Reading(NAME, asked.model, made(asked))
    items = [item for event in events for item in reading.take(event)]
    return [*items, reading.end(kind(asked.model).window)]


def replied(items: list[StreamItem]) -> AssistantMessage:
    """The reply as the conversation keeps it."""
    ignored: list[Body] = []
    reply = Reply("m", ignored.append)
    for item in items:
        reply.take(item)
    return AssistantMessage("".join(reply.text), reply.blocks, tuple(reply.calls), NAME)


def begin(**usage: int) -> JsonObject:
    """The event that opens a reply."""
    return {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": usage}}


def block(index: int, start: JsonObject, *deltas: JsonObject) -> list[JsonObject]:
    """The events of one block."""
    grown = [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
    stop = {"type": "content_block_stop", "index": index}
    return [{"type": "content_block_start", "index": index, "content_block": start}, *grown, stop]


def text(index: int, said: str) -> list[JsonObject]:
    """A block of text."""
    return block(index, {"type": "text", "text": ""}, {"type": "text_delta", "text": said})


def thought(index: int, said: str, signature: str = "") -> list[JsonObject]:
    """A block of thinking."""
    signed = [{"type": "signature_delta", "signature": signature}] if signature else []
    return block(index, {"type": "thinking", "thinking": said, "signature": ""}, *signed)


def call(index: int, *pieces: str, **start: Any) -> list[JsonObject]:
    """A block that calls a tool."""
    block_start = {"type": "tool_use", "id": f"toolu_{index}", "name": "weather", "input": {}} | start
    return block(index, block_start, *({"type": "input_json_delta", "partial_json": p} for p in pieces))


def finish(reason: str, **usage: Any) -> list[JsonObject]:
    """The events that close a reply."""
    delta = {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}
    return [delta, {"type": "message_stop"}]


def unmarked(found: Any) -> Any:
    """`found` without the marks for the cache."""
    if isinstance(found, list):
        return [unmarked(part) for part in found]
    if isinstance(found, dict):
        return {name: unmarked(part) for name, part in found.items() if name != "cache_control"}
    return found


def thoughts(body: JsonObject) -> list[JsonObject]:
    """The blocks of thinking in a request."""
    blocks = (part for message in body["messages"] for part in message["content"])
    return [part for part in blocks if part["type"] in ("thinking", "redacted_thinking")]
