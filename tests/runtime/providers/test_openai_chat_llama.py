"""The client of Chat Completions against llama.cpp's own server with the bundled model."""

from __future__ import annotations

import asyncio
import importlib.util
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing
from typing import Any

import pytest

import resources
from models.library import Library
from runtime.messages import (
    AssistantMessage,
    Text,
    UserMessage,
)
from runtime.providers.openai import make
from runtime.providers.provider import (
    Provider,
    TextDelta,
)
from tests.conftest import missing
from tests.runtime.providers.chat_service import (
    PICTURE,
    WEATHER,
    code,
    collect,
    end,
    request,
    text,
)
from tests.runtime.providers.llama_server import WINDOW, llama_server
from tests.wire.links import connect


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    library = Library((resources.weights_dir(),))
    if importlib.util.find_spec("xllamacpp") is None:
        missing("xllamacpp")
    if not library.list():
        missing("the bundled model")
    with llama_server(library.find("bundled").path) as address:
        yield address


def with_llama(address: str, scenario: Callable[[Provider], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        provider = make(connect(address + "/v1", "llama-server", key="", silence=60))
        try:
            return await scenario(provider)
        finally:
            await provider.close()

    return asyncio.run(main())


def test_a_real_server_answers_turn_after_turn(llama: str) -> None:
    async def scenario(provider: Provider) -> None:
        [model] = await provider.models()
        assert provider.traits(model.name).local
        assert provider.window(model.name) == WINDOW
        hello = UserMessage((Text("Say hello to Ann."),))
        plain: dict[str, Any] = {"model": model.name, "max_tokens": 12, "temperature": 0.0}
        first = await collect(provider, request(hello, **plain))
        assert sum(isinstance(item, TextDelta) for item in first) > 3
        assert end(first).usage.completion <= 12
        assert end(first).tokens_per_second > 0
        history = (
            hello,
            AssistantMessage(text(first), provider="llama-server"),
            UserMessage((Text("And Bob."),)),
        )
        second = await collect(provider, request(*history, **plain))
        assert end(second).usage.cached > end(first).usage.prompt // 2
        assert abs(await provider.count(request(*history, **plain)) - end(second).usage.prompt) < 40

    with_llama(llama, scenario)


def test_a_real_server_is_free_again_after_a_cancelled_answer(llama: str) -> None:
    async def scenario(provider: Provider) -> None:
        tell = UserMessage((Text("Tell me a very long story of the sea."),))
        async with aclosing(provider.stream(request(tell, max_tokens=1500))) as items:
            async for item in items:
                if isinstance(item, TextDelta):
                    break
            started = time.monotonic()
        assert time.monotonic() - started < 0.2
        async with asyncio.timeout(20):
            assert text(await collect(provider, request(max_tokens=4)))

    with_llama(llama, scenario)


def test_a_real_server_tells_of_what_it_cannot_do(llama: str) -> None:
    async def scenario(provider: Provider) -> None:
        long = await collect(provider, request(UserMessage((Text("word " * 4000),)), model="m"))
        assert code(long) == "context_too_long"
        assert provider.window("m") == WINDOW
        found = await collect(provider, request(UserMessage((Text("What?"), PICTURE)), max_tokens=4))
        assert [notice[0] for notice in end(found).notices] == ["content_left_out"]
        tools = await collect(provider, request(tools=(WEATHER,), answer=True, max_tokens=4))
        assert end(tools).stop_reason in ("length", "stop")

    with_llama(llama, scenario)
