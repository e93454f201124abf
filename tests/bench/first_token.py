"""What the clients of services add to a first token, beside the bare call of the official client."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from runtime.messages import (
    AssistantMessage,
    JsonObject,
    Message,
    Text,
    ToolCall,
    ToolMessage,
    ToolSpec,
    UserMessage,
)
from runtime.providers.provider import Request, TextDelta
from tests.bench.child import Child
from tests.bench.figure import Figure, percentile
from tests.wire.links import KEY, connect
from tests.wire.server import Play, Say, WireServer

PAIRS = 300
WARM = 20
GOAL = 1.0
ANSWER = Play((Say("It is sunny today."),), prompt=2_000, completion=7, headers={"Connection": "close"})

Texts = AsyncGenerator[None, None]
"""Yields once for each piece of an answer's text."""

Bare = Callable[[str], tuple[Callable[[JsonObject], Texts], Any]]
"""The official client for an address: a call with the body that ours sends, and what closes it."""


@dataclass(slots=True)
class Times:
    """Milliseconds to the first text, by the clock and of work in this process."""

    clock: list[float] = field(default_factory=list)
    work: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Service:
    """A module of tests.wire, and the bare client."""

    wire: str
    bare: Bare


def _openai(path: str, is_text: Callable[[Any], bool]) -> Bare:
    """The leanest call of the official client, which makes no objects of what it reads: one that does takes
    several times as long."""

    def bare(address: str) -> tuple[Callable[[JsonObject], Texts], Any]:
        import httpx2
        from openai import AsyncOpenAI, AsyncStream

        plain = httpx2.AsyncClient(trust_env=False, timeout=20.0)
        client = AsyncOpenAI(api_key=KEY, base_url=address, http_client=plain, max_retries=0)
        kind = AsyncStream[object]

        async def call(body: JsonObject) -> Texts:
            async with await client.post(
                path, cast_to=object, body=body, stream=True, stream_cls=kind
            ) as stream:
                async for event in stream:
                    if is_text(event):
                        yield

        return call, client.close

    return bare


def _in_chat(event: Any) -> bool:
    return bool(event["choices"] and event["choices"][0]["delta"].get("content"))


def _in_response(event: Any) -> bool:
    return bool(event["type"] == "response.output_text.delta")


def _ollama(address: str) -> tuple[Callable[[JsonObject], Texts], Any]:
    """The official client, again without objects of what it sends and reads."""
    from ollama import AsyncClient

    client = AsyncClient(address, trust_env=False, timeout=20.0)

    async def call(body: JsonObject) -> Texts:
        lines: Any = await client._request(dict, "POST", "/api/chat", json=body, stream=True)
        async with aclosing(lines):
            async for line in lines:
                if line["message"]["content"]:
                    yield

    return call, client.close


def _anthropic(address: str) -> tuple[Callable[[JsonObject], Texts], Any]:
    """The official client, again without objects of what it reads."""
    import httpx2
    from anthropic import AsyncAnthropic, AsyncStream

    plain = httpx2.AsyncClient(trust_env=False, timeout=20.0)
    client = AsyncAnthropic(
        api_key=KEY, base_url=address, http_client=plain, max_retries=0, open_telemetry=False
    )
    kind = AsyncStream[object]

    async def call(body: JsonObject) -> Texts:
        stream: Any = await client.post(
            "/v1/messages", cast_to=object, body=body, stream=True, stream_cls=kind
        )
        async with stream:
            async for event in stream:
                if event["type"] == "content_block_delta":
                    yield

    return call, client.close


SERVICES = {
    "first_token_anthropic": Service("anthropic", _anthropic),
    "first_token_openai_chat": Service("openai_chat", _openai("/chat/completions", _in_chat)),
    "first_token_ollama": Service("ollama", _ollama),
    "first_token_openai_responses": Service("openai_responses", _openai("/responses", _in_response)),
}


def measure(*, peers: bool = False) -> list[Figure]:
    """For each service the 95th percentile of the time to the first text, less that of the bare call.

    In processor time of this process, because on a busy machine the clock mostly tells how long others
    worked; its own figures are beside it. Calls of both take turns, and the server is another process.
    """
    return [_figure(name, service) for name, service in SERVICES.items()]


def _figure(name: str, service: Service) -> Figure:
    with Child(["-m", "tests.bench.first_token", service.wire]) as server:
        ours, bare = asyncio.run(_pairs(service, server.ask()))
    reference = {
        "bare call, p95": percentile(bare.work, 95),
        "through the client, p95": percentile(ours.work, 95),
        "bare call, by the clock, p10": percentile(bare.clock, 10),
        "through the client, by the clock, p10": percentile(ours.clock, 10),
        "added by the clock, p95": percentile(ours.clock, 95) - percentile(bare.clock, 95),
    }
    added = percentile(ours.work, 95) - percentile(bare.work, 95)
    return Figure(name, added, "ms", GOAL, "lower", reference)


async def _pairs(service: Service, url: str) -> tuple[Times, Times]:
    """Times to the first text through our client and bare, call by call."""
    wire = importlib.import_module(f"tests.wire.{service.wire}")
    address = url + wire.SUFFIX
    provider = wire.make(connect(address, wire.NAME))
    call, close = service.bare(address)
    request = _request(wire.MODEL)
    body = await _body(wire, request)

    async def through() -> Texts:
        async with aclosing(provider.stream(request)) as items:
            async for item in items:
                if isinstance(item, TextDelta):
                    yield

    ours, bare = Times(), Times()
    try:
        for number in range(WARM + PAIRS):
            if number == WARM:
                ours, bare = Times(), Times()
            both = [(ours, through), (bare, lambda: call(body))]
            for times, begin in both if number % 2 else reversed(both):
                await _first(times, begin)
    finally:
        await provider.close()
        await close()
    return ours, bare


async def _first(times: Times, begin: Callable[[], Texts]) -> None:
    clock, work = time.perf_counter(), time.process_time()
    met = False
    async for _piece in begin():
        if not met:
            met = True
            times.work.append(1000 * (time.process_time() - work))
            times.clock.append(1000 * (time.perf_counter() - clock))
    if not met:
        raise RuntimeError("an answer had no text")


async def _body(wire: Any, request: Request) -> JsonObject:
    """What our client sends for the request."""
    async with WireServer(wire.Wire()) as server:
        server.plays(ANSWER)
        provider = wire.make(connect(server.url + wire.SUFFIX, wire.NAME))
        async with aclosing(provider.stream(request)) as items:
            async for _item in items:
                pass
        await provider.close()
        return server.requests[-1].body


def _request(model: str) -> Request:
    """The next call of a conversation in which tools were used."""
    schema = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}
    tools = tuple(ToolSpec(f"tool_{number}", "Tells something of a place.", schema) for number in range(9))
    messages: list[Message] = []
    for number in range(10):
        call = ToolCall(f"call_{number}", "tool_1", {"place": "Rome"})
        messages += [
            UserMessage((Text(f"{number}. What is there to say of Rome?"),)),
            AssistantMessage("", (), (call,), provider="another"),
            ToolMessage(call.id, call.name, (Text("It is sunny there, and many people walk about. " * 8),)),
            AssistantMessage("It is sunny there, and many people walk about.", provider="another"),
        ]
    messages.append(UserMessage((Text("And today?"),)))
    return Request("bench", model, "You are kind.", tuple(messages), tools)


async def _serve(name: str) -> None:
    """Serve answers at the address that is printed, until the standard input ends."""
    async with WireServer(importlib.import_module(f"tests.wire.{name}").Wire()) as server:
        server.plays(*[ANSWER] * (2 * (WARM + PAIRS)))
        print(json.dumps(server.url), flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1]))
