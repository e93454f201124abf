"""The behaviour every provider must show, run against each of them for real."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import resources
from models.library import Library
from runtime.messages import AssistantMessage, Message, Text, ToolCall, ToolMessage, ToolSpec, UserMessage
from runtime.providers.local import LocalProvider
from runtime.providers.provider import (
    CallReady,
    Failed,
    Finished,
    Provider,
    Request,
    StreamItem,
    TextDelta,
)
from runtime.providers.scripted import ScriptedProvider, load_script
from runtime.settings import LocalModel

Make = Callable[[Path], Provider]

CALCULATOR = ToolSpec(
    "calculator",
    "Evaluates arithmetic.",
    {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]},
)


def scripted(folder: Path) -> Provider:
    path = folder / "script.yaml"
    words = " ".join(f"word{number}" for number in range(200))
    YAML(typ="safe").dump({"loop": True, "steps": [{"say": {"text": words, "delay": 0.001}}]}, path)
    return ScriptedProvider(load_script(path))


def calling_script(folder: Path) -> Provider:
    path = folder / "script.yaml"
    step = {"call": {"name": "calculator", "arguments": {"expression": "6 + 6"}}}
    YAML(typ="safe").dump({"steps": [step]}, path)
    return ScriptedProvider(load_script(path))


def exchange(number: int, result: int) -> tuple[Message, ...]:
    """A question that was answered with the calculator."""
    sum_of = f"{number} + {number}"
    call = ToolCall(f"c{number}", "calculator", {"expression": sum_of})
    return (
        UserMessage((Text(f"What is {sum_of}?"),)),
        AssistantMessage("", calls=(call,)),
        ToolMessage(call.id, "calculator", (Text(str(result)),)),
        AssistantMessage(f"It is {result}."),
    )


def local(folder: Path) -> Provider:
    return LocalProvider(Library((resources.weights_dir(), folder)), LocalModel)


def broken_script(folder: Path) -> Provider:
    path = folder / "script.yaml"
    YAML(typ="safe").dump({"steps": [{"error": "model_missing"}]}, path)
    return ScriptedProvider(load_script(path))


def no_model(folder: Path) -> Provider:
    return LocalProvider(Library((folder,)), LocalModel)


PROVIDERS = pytest.mark.parametrize("make", [scripted, local])


@asynccontextmanager
async def opened(make: Make, folder: Path) -> AsyncIterator[Provider]:
    provider = make(folder)
    try:
        yield provider
    finally:
        await provider.close()
        await provider.close()


def asked(text: str = "Count to one hundred in words.", session: str = "a", **changes: Any) -> Request:
    messages: tuple[Message, ...] = (*changes.pop("messages", ()), UserMessage((Text(text),)))
    limits = {"temperature": 0.0, "max_tokens": 48} | changes
    return Request(session, "bundled", "You are a helpful assistant.", messages, **limits)


async def collect(provider: Provider, request: Request) -> list[StreamItem]:
    async with asyncio.timeout(60), aclosing(provider.stream(request)) as stream:
        return [item async for item in stream]


@PROVIDERS
def test_text_streams_in_pieces_and_ends_in_finished_with_usage(make: Make, tmp_path: Path) -> None:
    async def main() -> list[StreamItem]:
        async with opened(make, tmp_path) as provider:
            return await collect(provider, asked())

    items = asyncio.run(main())
    assert sum(isinstance(item, TextDelta) for item in items) > 1
    end = items[-1]
    assert isinstance(end, Finished)
    assert end.usage.prompt > 0
    assert end.usage.completion > 0
    assert end.stop_reason in ("stop", "length")
    assert [item for item in items if isinstance(item, Finished | Failed)] == [end]


@PROVIDERS
def test_closing_the_stream_mid_token_is_quick_and_the_next_call_works(make: Make, tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(make, tmp_path) as provider:
            stream = provider.stream(asked(max_tokens=1000))
            async for item in stream:
                if isinstance(item, TextDelta):
                    break
            started = time.monotonic()
            await stream.aclose()
            assert time.monotonic() - started < 2
            items = await collect(provider, asked("Say hello.", max_tokens=8))
            assert isinstance(items[-1], Finished)

    asyncio.run(main())


@PROVIDERS
def test_cancelling_the_task_that_reads_ends_it(make: Make, tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(make, tmp_path) as provider:
            begun = asyncio.Event()

            async def read() -> None:
                async with aclosing(provider.stream(asked(max_tokens=1000))) as stream:
                    async for item in stream:
                        if isinstance(item, TextDelta):
                            begun.set()

            task = asyncio.create_task(read())
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert isinstance((await collect(provider, asked("Hi.", max_tokens=8)))[-1], Finished)

    asyncio.run(main())


@PROVIDERS
def test_a_whole_conversation_with_tools_and_odd_text_is_taken(make: Make, tmp_path: Path) -> None:
    history: tuple[Message, ...] = (
        UserMessage((Text("What is 2+2? שלום \x00 🎈"),)),
        AssistantMessage("I will calculate."),
        UserMessage((Text("Go on."),)),
        AssistantMessage("Done."),
        ToolMessage("c1", "calculator", (Text("4"),)),
        AssistantMessage(""),
    )

    async def main() -> list[StreamItem]:
        async with opened(make, tmp_path) as provider:
            return await collect(provider, asked("And now?", messages=history, max_tokens=16))

    assert isinstance(asyncio.run(main())[-1], Finished)


@PROVIDERS
def test_two_sessions_at_once_are_both_answered(make: Make, tmp_path: Path) -> None:
    async def main() -> list[list[StreamItem]]:
        async with opened(make, tmp_path) as provider:
            requests = (asked(session=name, max_tokens=12) for name in ("a", "b"))
            return list(await asyncio.gather(*(collect(provider, request) for request in requests)))

    assert all(isinstance(items[-1], Finished) for items in asyncio.run(main()))


@pytest.mark.parametrize("make", [calling_script, local])
def test_a_call_is_whole_valid_and_has_an_id_that_no_other_has(make: Make, tmp_path: Path) -> None:
    """The history shows a tiny model twice how it is done."""
    worked = [one for number, result in ((2, 4), (3, 6)) for one in exchange(number, result)]

    async def main() -> list[StreamItem]:
        async with opened(make, tmp_path) as provider:
            assert provider.traits("").tools
            return await collect(provider, asked("What is 6 + 6?", messages=worked, tools=(CALCULATOR,)))

    items = asyncio.run(main())
    (call,) = [item.call for item in items if isinstance(item, CallReady)]
    assert (call.name, call.error) == ("calculator", "")
    assert list(call.arguments) == ["expression"]
    assert call.id not in ("", "c2", "c3")
    end = items[-1]
    assert isinstance(end, Finished)
    assert end.stop_reason == "tool_calls"


@pytest.mark.parametrize("make", [broken_script, no_model])
def test_a_fault_of_the_world_is_the_last_item_and_never_raised(make: Make, tmp_path: Path) -> None:
    async def main() -> list[StreamItem]:
        async with opened(make, tmp_path) as provider:
            return await collect(provider, asked())

    end = asyncio.run(main())[-1]
    assert isinstance(end, Failed)
    assert end.error.code == "model_missing"


@PROVIDERS
def test_nothing_leaves_this_machine(make: Make, tmp_path: Path) -> None:
    assert make(tmp_path).traits("").local
