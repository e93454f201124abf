"""A session asked again by a new worker is not evaluated again, unless it was private or forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from models.generation import GenerateEvent, GenerateRequest, Loading, LoadOptions, Starting, Text
from models.worker_client import EngineState, LocalEngine
from tests.models.conversation import answer, ask, running, said, user

LONG = user("Tell me about the sea. " + "The keeper of the lighthouse wrote of waves. " * 12)


def options(weights: Path, folder: Path) -> LoadOptions:
    return LoadOptions(str(weights), threads=1, window=512, state_folder=str(folder), state_limit=1 << 30)


async def tokens(engine: LocalEngine, request: GenerateRequest) -> tuple[int, int, str]:
    """(prompt tokens, of them cached, the answer)."""
    told = await answer(engine, request)
    return told.finished.usage.prompt_tokens, told.finished.usage.cached_tokens, told.text


def test_a_session_goes_on_after_the_end_of_its_worker(weights: Path, tmp_path: Path) -> None:
    chosen = options(weights, tmp_path)

    async def scene() -> None:
        async with running() as engine:
            prompt, cached, text = await tokens(engine, ask(chosen, LONG, most=8))
            assert cached == 0
        assert len(list(tmp_path.iterdir())) == 1
        async with running() as engine:
            again = [*LONG, said("assistant", text), said("user", "Thank you.")]
            more, cached, _ = await tokens(engine, ask(chosen, again, most=4))
            assert more > prompt
            assert cached >= prompt

    asyncio.run(scene())


def test_the_same_answer_comes_from_a_stored_state(weights: Path, tmp_path: Path) -> None:
    chosen = options(weights, tmp_path)

    async def scene() -> None:
        async with running() as engine:
            prompt, _, text = await tokens(engine, ask(chosen, LONG, most=12))
            await engine.unload()
            assert engine.pid == 0
            assert await tokens(engine, ask(chosen, LONG, most=12)) == (prompt, prompt - 1, text)

    asyncio.run(scene())


def test_many_sessions_and_another_model_are_stored_and_a_damaged_state_is_not_used(
    weights: Path, tmp_path: Path
) -> None:
    chosen = replace(options(weights, tmp_path), pool_limit=0)

    async def scene() -> None:
        async with running() as engine:
            for name in "abc":
                await tokens(engine, ask(chosen, LONG, session=name, most=1))
            assert len(list(tmp_path.iterdir())) == 2  # the third is still the live one
            await engine.load(replace(chosen, window=1024))
            assert len(list(tmp_path.iterdir())) == 3
        for path in list(tmp_path.iterdir())[:2]:
            path.write_bytes(path.read_bytes()[:-1])
        async with running() as engine:
            warm = [(await tokens(engine, ask(chosen, LONG, session=name, most=1)))[1] for name in "abc"]
            assert sorted(bool(cached) for cached in warm) == [False, False, True]

    asyncio.run(scene())


def test_private_and_forgotten_sessions_leave_nothing_on_disk(weights: Path, tmp_path: Path) -> None:
    chosen = replace(options(weights, tmp_path), pool_limit=0)

    async def scene() -> None:
        async with running() as engine:
            private = replace(ask(chosen, LONG, session="private", most=1), private=True)
            await tokens(engine, private)
            await tokens(engine, ask(chosen, LONG, session="b", most=1))
            await tokens(engine, ask(chosen, LONG, session="c", most=1))
            await engine.evict("b")
            assert list(tmp_path.iterdir()) == []
            await tokens(engine, private)
            await engine.evict("c")
        assert list(tmp_path.iterdir()) == []

    asyncio.run(scene())


def test_a_request_that_runs_at_the_end_breaks_off_and_what_it_held_is_stored(
    weights: Path, tmp_path: Path
) -> None:
    chosen = options(weights, tmp_path)

    async def read(stream: AsyncGenerator[GenerateEvent, None], heard: asyncio.Event) -> None:
        async with aclosing(stream):
            async for event in stream:
                if isinstance(event, Text):
                    heard.set()

    async def scene() -> None:
        async with running() as engine:
            heard = asyncio.Event()
            request = ask(chosen, LONG, most=300, temperature=0.8)
            reading = asyncio.create_task(read(engine.generate(request), heard))
            await heard.wait()
            await engine.close()
            await asyncio.gather(reading, return_exceptions=True)
        assert len(list(tmp_path.iterdir())) == 1

    asyncio.run(scene())


def test_an_idle_model_leaves_the_memory_and_comes_back_with_the_next_question(
    weights: Path, tmp_path: Path
) -> None:
    chosen = options(weights, tmp_path)
    states: list[EngineState] = []

    async def scene() -> None:
        gone = asyncio.Event()

        def note(state: EngineState) -> None:
            states.append(state)
            if state == "unloaded":
                gone.set()

        async with running(on_state=note) as engine:
            engine.idle_seconds = 0.05
            await tokens(engine, ask(chosen, LONG, most=2))
            await gone.wait()
            assert engine.pid == 0
            assert engine.info is None
            engine.idle_seconds = 0
            told = await answer(engine, ask(chosen, LONG, most=2))
            assert told.events[0] == Starting(again=False)
            assert any(isinstance(event, Loading) for event in told.events)
            assert told.finished.usage.cached_tokens == told.finished.usage.prompt_tokens - 1

    asyncio.run(scene())
    assert states.count("unloaded") == 1
    assert "dead" not in states
