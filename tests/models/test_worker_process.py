"""A worker's death, silence and disobedience are noticed, named and survived."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from models.errors import EngineError
from models.generation import GenerateEvent, LoadOptions, Starting, Text
from models.worker_client import EngineState, LocalEngine
from models.worker_process import default_command
from tests.models.conversation import FAKE, LIMITS, answer, ask, play, running, user

ANYTHING = LoadOptions("any.gguf")


async def until_text(stream: AsyncIterator[GenerateEvent]) -> None:
    async for event in stream:
        if isinstance(event, Text):
            return


@pytest.mark.parametrize(
    ("number", "code", "how"),
    [
        (signal.SIGKILL, "worker_killed", None),
        (signal.SIGSEGV, "worker_crashed", "SIGSEGV"),
        (signal.SIGABRT, "worker_crashed", "SIGABRT"),
    ],
)
def test_a_death_while_decoding_is_told_within_a_second_and_the_next_prompt_answered(
    weights: Path, number: signal.Signals, code: str, how: str | None
) -> None:
    async def scene(engine: LocalEngine) -> None:
        options = LoadOptions(str(weights), threads=1, window=512)
        asked = ask(options, user("Write a very long story."), most=400, temperature=0.8)
        async with aclosing(engine.generate(asked)) as stream:
            await until_text(stream)
            begin = time.monotonic()
            os.kill(engine.pid, number)
            with pytest.raises(EngineError) as caught:
                async for _ in stream:
                    pass
            assert time.monotonic() - begin < 5
        assert caught.value.code == code
        assert caught.value.fields["model"] == weights.stem
        assert caught.value.fields.get("how") == how
        told = await answer(engine, ask(options, user("Hello"), most=3))
        assert told.events[0] == Starting(again=True)
        assert told.text

    play(scene)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGSTOP])
def test_a_death_or_hang_while_idle_costs_the_next_prompt_nothing(number: signal.Signals) -> None:
    states: list[EngineState] = []

    async def scene() -> None:
        async with running((*FAKE, "plain"), replace(LIMITS, silence=1), states.append) as engine:
            await answer(engine, ask(ANYTHING, user("Hello")))
            os.kill(engine.pid, number)
            told = await answer(engine, ask(ANYTHING, user("Hello")))
            assert told.text == "Hello world!"

    asyncio.run(scene())
    assert "dead" in states
    assert "restarted" in states


def test_an_idle_death_is_noticed_without_a_request() -> None:
    async def scene() -> None:
        died = asyncio.Event()

        def on_state(state: EngineState) -> None:
            if state == "dead":
                died.set()

        async with running((*FAKE, "plain"), on_state=on_state) as engine:
            await answer(engine, ask(ANYTHING, user("Hello")))
            os.kill(engine.pid, signal.SIGKILL)
            await asyncio.wait_for(died.wait(), 1)
            assert engine.pid == 0

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("mode", "silence", "stall"),
    [("stopped", 1.5, 20), ("stuck", 20, 1.0)],
    ids=["no sign of life", "life without progress"],
)
def test_a_hang_is_told_and_the_next_prompt_gets_a_fresh_worker(
    mode: str, silence: float, stall: float
) -> None:
    async def scene() -> None:
        limits = replace(LIMITS, silence=silence, stall=stall)
        async with running((*FAKE, mode), limits) as engine:
            with pytest.raises(EngineError) as caught:
                await answer(engine, ask(ANYTHING, user("Hello")))
            assert caught.value.code == "worker_hung"
            assert float(caught.value.fields["seconds"]) >= min(silence, stall)
            with pytest.raises(EngineError):
                await answer(engine, ask(ANYTHING, user("Hello")))

    asyncio.run(scene())


def test_a_worker_that_ignores_a_cancel_is_killed_and_replaced() -> None:
    async def scene() -> None:
        async with running((*FAKE, "disobedient"), replace(LIMITS, settle=0.5)) as engine:
            stream = engine.generate(ask(ANYTHING, user("Hello")))
            await until_text(stream)
            pid = engine.pid
            begin = time.monotonic()
            await stream.aclose()
            assert time.monotonic() - begin < 2
            again = engine.generate(ask(ANYTHING, user("Hello")))
            assert await anext(again) == Starting(again=True)
            await until_text(again)
            assert engine.pid != pid
            await again.aclose()

    asyncio.run(scene())


def test_a_cancelled_answer_of_an_obedient_worker_settles() -> None:
    async def scene() -> None:
        async with running((*FAKE, "endless")) as engine:
            for _ in range(5):
                stream = engine.generate(ask(ANYTHING, user("Hello"), most=10**9))
                await until_text(stream)
                await stream.aclose()
            pid = engine.pid
            told = await answer(engine, ask(ANYTHING, user("Hello"), most=3))
            assert told.text == "word " * 3
            assert told.finished.stop_reason == "length"
            assert engine.pid == pid

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("mode", "code", "detail"),
    [
        ("assert", "worker_crashed", "GGML_ASSERT(n > 0) failed"),
        ("segfault", "worker_crashed", ""),
        ("bad_alloc", "worker_out_of_memory", "std::bad_alloc"),
        ("memory", "worker_out_of_memory", ""),
        ("unloadable", "model_load_failed", "it is a fake"),
        ("no-cpu", "cpu_features_missing", "avx2"),
        ("dies-at-start", "worker_start_failed", "ImportError: nothing here"),
    ],
)
def test_each_way_to_fail_has_its_code_and_says_why(mode: str, code: str, detail: str) -> None:
    async def scene(engine: LocalEngine) -> None:
        for _ in range(2):
            with pytest.raises(EngineError) as caught:
                await answer(engine, ask(ANYTHING, user("Hello")))
            assert caught.value.code == code
            assert detail in str(caught.value)

    play(scene, (*FAKE, mode))


def test_a_command_that_is_not_there_or_speaks_another_language_is_named() -> None:
    async def scene() -> None:
        for command in (("/nowhere/python",), (sys.executable, "-c", "print('hello, I am no worker')")):
            async with running(command) as engine:
                with pytest.raises(EngineError) as caught:
                    await answer(engine, ask(ANYTHING, user("Hello")))
                assert caught.value.code in ("worker_start_failed", "worker_crashed")

    asyncio.run(scene())


def test_what_a_native_library_prints_does_not_reach_the_wire() -> None:
    async def scene(engine: LocalEngine) -> None:
        assert (await answer(engine, ask(ANYTHING, user("Hello")))).finished.stop_reason == "stop"

    play(scene, (*FAKE, "noisy"))


@pytest.mark.parametrize(
    ("mode", "text", "reasoning"),
    [("split", "héllo 🙂 wörld", ""), ("broken", "ok \ufffd.", ""), ("reasoning", "42", "hmm")],
)
def test_text_comes_in_whole_characters_and_reasoning_apart(mode: str, text: str, reasoning: str) -> None:
    async def scene(engine: LocalEngine) -> None:
        told = await answer(engine, ask(ANYTHING, user("Hello"), most=1000))
        assert (told.text, told.reasoning) == (text, reasoning)

    play(scene, (*FAKE, mode))


@pytest.mark.parametrize("command", [default_command(), (*FAKE, "plain")], ids=["llama", "fake"])
def test_the_end_of_stdin_ends_the_worker(command: tuple[str, ...]) -> None:
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process, process.stdout:
        assert process.stdout.read(4)  # it is up
        process.stdin.close()
        assert process.wait(timeout=10) == 0


def test_a_worker_is_not_given_the_keys_of_services(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("ORION_KEY_OPENAI_PLACE", "sk-test")
    monkeypatch.setenv("ORION_TEST_NAME", "kept")

    async def scene(engine: LocalEngine) -> None:
        await answer(engine, ask(ANYTHING, user("Hello"), most=1))
        found = psutil.Process(engine.pid).environ()
        assert found["ORION_TEST_NAME"] == "kept"
        assert "sk-test" not in found.values()

    play(scene, (*FAKE, "split"))


def test_the_death_of_the_program_ends_a_worker_that_is_at_work() -> None:
    program = (
        "import asyncio, os, sys\n"
        "from tests.models.conversation import FAKE, ask, running, user\n"
        "from tests.models.test_worker_process import ANYTHING, until_text\n"
        "async def main():\n"
        "    async with running((*FAKE, 'endless')) as engine:\n"
        "        await until_text(engine.generate(ask(ANYTHING, user('Hello'), most=10**9)))\n"
        "        print(engine.pid, flush=True)\n"
        "        os.kill(os.getpid(), 9)\n"
        "asyncio.run(main())\n"
    )
    root = Path(__file__).resolve().parents[2]
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=root, timeout=60
    )
    assert told.stdout, told.stderr
    try:
        worker = psutil.Process(int(told.stdout))
    except psutil.NoSuchProcess:
        return
    assert psutil.wait_procs([worker], timeout=10)[1] == []
