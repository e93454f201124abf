"""The local provider speaks the house's contract over a real engine child and the bundled model."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

import resources
from models.library import Library
from runtime.errors import OrionError
from runtime.messages import (
    AssistantMessage,
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolMessage,
    ToolSpec,
    UserMessage,
)
from runtime.providers.local import LocalProvider
from runtime.providers.provider import (
    CallReady,
    Failed,
    Finished,
    Progress,
    ReasoningDelta,
    Request,
    StreamItem,
    TextDelta,
)
from runtime.settings import LocalModel
from tests.conftest import missing

SETTINGS = LocalModel(window=1024)
CALCULATOR = ToolSpec(
    "calculator",
    "Evaluates arithmetic.",
    {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]},
)
FAKE = (sys.executable, str(Path(__file__).parents[2] / "models" / "fake_worker.py"))


def library(*more: Path) -> Library:
    made = Library((resources.weights_dir(), *more))
    if not made.list():
        missing("the bundled model")
    return made


def user(text: str) -> UserMessage:
    return UserMessage((Text(text),))


def request(*messages: Message, model: str = "bundled", most: int = 6, session: str = "s") -> Request:
    tools = (ToolSpec("echo", "Repeats.", {"type": "object", "properties": {}}),)
    return Request(session, model, "Be brief.", messages, tools, temperature=0.0, max_tokens=most)


def worked(ident: str, expression: str, result: str) -> tuple[Message, ...]:
    """An exchange in which the calculator was used."""
    return (
        user(f"What is {expression}?"),
        AssistantMessage("", calls=(ToolCall(ident, "calculator", {"expression": expression}),)),
        ToolMessage(ident, "calculator", (Text(result),)),
        AssistantMessage(f"It is {result}."),
    )


def play(
    scene: Callable[[LocalProvider], Awaitable[None]],
    command: tuple[str, ...] | None = None,
    settings: LocalModel = SETTINGS,
    folder: Path | None = None,
) -> None:
    """Run a scene with a provider that is closed at the end."""

    async def main() -> None:
        made = LocalProvider(library(*([folder] if folder else [])), lambda: settings, command)
        try:
            await scene(made)
        finally:
            await made.close()

    asyncio.run(main())


async def gather(provider: LocalProvider, asked: Request) -> list[StreamItem]:
    return [item async for item in provider.stream(asked)]


def text_of(items: list[StreamItem]) -> str:
    return "".join(item.text for item in items if isinstance(item, TextDelta))


def failure(items: list[StreamItem]) -> OrionError:
    last = items[-1]
    assert isinstance(last, Failed)
    return last.error


def test_a_conversation_streams_and_its_later_turn_is_cached() -> None:
    async def scene(provider: LocalProvider) -> None:
        assert provider.traits("").local
        first = await gather(provider, request(user("Say hello in five words.")))
        states = [item.state for item in first if isinstance(item, Progress)]
        assert states[:2] == ["starting", "loading"]
        assert states[-1] == "evaluating"
        end = first[-1]
        assert isinstance(end, Finished)
        assert end.window == 1024
        assert end.usage.prompt > 0
        assert end.tokens_per_second > 0

        later = request(user("Say hello in five words."), AssistantMessage(text_of(first)), user("Again!"))
        last = (await gather(provider, later))[-1]
        assert isinstance(last, Finished)
        assert last.usage.cached >= end.usage.prompt

    play(scene)


def test_a_model_whose_template_has_no_tools_is_told_of_them_and_calls_one() -> None:
    """What the tiny model means matters little: the call it begins is whole, of this tool, and valid."""

    async def scene(provider: LocalProvider) -> None:
        asked = replace(request(user("Hello")), tools=(CALCULATOR,), max_tokens=80)
        assert await provider.count(asked) > await provider.count(replace(asked, tools=())) + 40
        example = (
            *worked("c1", "2 + 2", "4"),
            *worked("c2", "3 * 5", "15"),
            user("What is 12 * 9?"),
        )
        items = await gather(provider, replace(asked, messages=example))
        (call,) = [item.call for item in items if isinstance(item, CallReady)]
        assert (call.name, call.error) == ("calculator", "")
        assert set(call.arguments) == {"expression"}
        assert isinstance(call.arguments["expression"], str)
        end = items[-1]
        assert isinstance(end, Finished)
        assert end.stop_reason == "tool_calls"

    play(scene)


def test_closing_the_stream_cancels_at_once() -> None:
    async def scene(provider: LocalProvider) -> None:
        async with aclosing(provider.stream(request(user("Write a long story."), most=900))) as stream:
            async for item in stream:
                if isinstance(item, TextDelta):
                    break
            begin = time.monotonic()
        assert time.monotonic() - begin < 2
        assert isinstance((await gather(provider, request(user("Hello"))))[-1], Finished)

    play(scene)


def test_a_worker_killed_in_an_answer_fails_it_and_the_next_is_answered() -> None:
    async def scene(provider: LocalProvider) -> None:
        items: list[StreamItem] = []
        async for item in provider.stream(request(user("Write a long story."), most=900)):
            if isinstance(item, TextDelta) and not any(isinstance(old, TextDelta) for old in items):
                os.kill(provider.engine.pid, signal.SIGKILL)
            items.append(item)
        assert failure(items).code == "worker_killed"
        assert failure(items).fault == "provider"
        again = await gather(provider, request(user("Hello")))
        assert Progress("restarted") in again
        assert isinstance(again[-1], Finished)

    play(scene)


@pytest.mark.parametrize(
    ("model", "content", "code"),
    [
        ("ghost", None, "model_unknown"),
        ("bad", b"this is no model", "model_file_not_gguf"),
        ("/nowhere/x.gguf", None, "model_file_missing"),
    ],
)
def test_a_model_that_cannot_be_used_is_a_failed_item(
    model: str, content: bytes | None, code: str, tmp_path: Path
) -> None:
    if content:
        (tmp_path / f"{model}.gguf").write_bytes(content)

    async def scene(provider: LocalProvider) -> None:
        (item,) = await gather(provider, request(user("Hello"), model=model))
        error = failure([item])
        assert (error.code, error.fault) == (code, "user")
        with pytest.raises(OrionError):
            await provider.count(Request("s", model, "", (user("Hello"),)))

    play(scene, folder=tmp_path)


def test_a_prompt_that_cannot_fit_is_the_users_to_shorten() -> None:
    async def scene(provider: LocalProvider) -> None:
        error = failure(await gather(provider, request(user("sheep " * 3000))))
        assert (error.code, error.fault) == ("context_overflow", "user")
        assert error.fields["window"] == 1024

    play(scene)


def test_a_memory_limit_too_small_for_the_model_is_told() -> None:
    async def scene(provider: LocalProvider) -> None:
        assert failure(await gather(provider, request(user("Hello")))).code == "model_too_large"

    play(scene, settings=LocalModel(memory_limit_mb=64))


def test_reasoning_comes_apart_and_every_kind_of_message_is_taken() -> None:
    messages = (
        user("What is it?"),
        AssistantMessage("I look.", (Reasoning("hm"),), (ToolCall("c1", "look", {"at": 1}),)),
        ToolMessage("c1", "look", (Text("a clock"),)),
    )

    async def scene(provider: LocalProvider) -> None:
        items = await gather(provider, request(*messages, most=99))
        assert text_of(items) == "42"
        assert "".join(item.text for item in items if isinstance(item, ReasoningDelta)) == "hmm"

    play(scene, (*FAKE, "reasoning"))
