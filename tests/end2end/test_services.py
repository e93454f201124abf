"""A person and a service elsewhere: allow it, talk, see it break off, read what it cost, take it back."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.end2end.program import Program, until
from tests.runtime.scripted_house import write_profile
from tests.runtime.secret_service import secret_service
from tests.wire import openai_chat
from tests.wire.server import Call, Play, Say, Think, WireServer

pytestmark = pytest.mark.timeout(300)

KEY = "sk-test-planted-9876"
HOST = "0.0.0.0"
"""Leads to this machine but is no name for it, so that a permission is needed as for any other host."""

PRICES = "version: 1\nmakers:\n  0.0.0.0:\n    models:\n      gpt-4o: {input: 1000, output: 2000}\n"
SETTINGS = "version: 1\nagent:\n  profile: far\nappearance:\n  theme: light\nspending:\n  daily_usd: 0.05\n"
PROFILE = """\
name: far
provider: openai
model: gpt-4o
base_url: {address}
api: chat
fallback: [spare]
allowed_tools: [calculator]
"""


@contextmanager
def service() -> Iterator[WireServer]:
    """A server that speaks Chat Completions on this machine, from a thread of its own."""
    server, ready, loop = WireServer(openai_chat.Wire()), threading.Event(), asyncio.new_event_loop()

    async def serve() -> None:
        async with server:
            ready.set()
            await over.wait()

    over = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), name="service")
    thread.start()
    assert ready.wait(20)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(20)
        loop.close()


@contextmanager
def window(home: Path, **environment: str) -> Iterator[Program]:
    """The program, which must end well and silently."""
    program = Program(home, **environment)
    try:
        until("the runtime", lambda: program.title == "New chat – Orion")
        yield program
        assert program.close() == ""
        assert program.exit_code == 0
    finally:
        if program.exit_code is None:
            program.kill()


def say(program: Program, text: str) -> None:
    """Write a message and wait for the end of its turn."""
    before = len(program.recorded("done"))
    program.press("ctrl+l")
    program.type(text)
    program.press("Return")
    until("the turn to end", lambda: program.recorded("done", before + 1))


def open_page(program: Program, name: str) -> None:
    """By the palette; waits until the page is drawn."""
    program.press("ctrl+k")
    program.type(name)
    program.press("Return")
    still(program)


def still(program: Program) -> None:
    """Wait until nothing moves on the screen."""
    until("the screen to stand still", lambda: program.picture() == program.picture())


def faults(program: Program) -> list[str]:
    return [record["code"] for record in program.recorded("error")]


def test_allow_a_service_and_talk_until_it_breaks_off_and_costs_too_much(
    display: str, fresh_home: Path
) -> None:
    del display
    write_profile(fresh_home, [{"say": "The whole answer."}], loop=True, name="spare")
    (fresh_home / "settings.yaml").write_text(SETTINGS)
    (fresh_home / "pricing.yaml").write_text(PRICES)
    permits = fresh_home / "network.yaml"
    with service() as server:
        address = server.url.replace("127.0.0.1", HOST) + "/v1"
        (fresh_home / "profiles" / "far.yaml").write_text(PROFILE.format(address=address))
        server.plays(
            Play(status=429, headers={"Retry-After": "0"}),
            Play((Think("A sum."), Say("Let me see."), Call("call_1", "calculator", {"expression": "6*7"}))),
            Play((Say("It is 42."),)),
            Play((Say("Once upon a time there was a lighthouse by the sea. " * 4),), misdeed="cut"),
        )
        with window(fresh_home) as program:
            say(program, "What is 6 times 7?")
            assert faults(program) == ["host_not_allowed"]
            assert not server.requests
            still(program)
            program.picture("10-host-not-allowed-light")

            def allowed() -> bool:
                program.press("F6", "space")
                return permits.exists() and HOST in permits.read_text()

            until("the permission", allowed)
            until("the answer", lambda: program.recorded("tool_result"))
            until("the turn to end", lambda: program.recorded("done", 2))
            assert program.recorded("assistant")[-1]["text"] == "It is 42."
            assert server.left_over == 1
            program.picture("11-allowed-light")

            say(program, "Tell me a story")
            assert program.recorded("fallback")[-1]["code"] == "reply_cut_short"
            assert program.recorded("assistant")[-1]["text"] == "The whole answer."
            program.picture("12-fallback-light")

            say(program, "And now?")
            assert faults(program)[-1] == "cap_reached"
            program.picture("13-cap-light")
            open_page(program, "usage")
            program.picture("14-usage-light")
            open_page(program, "network")
            program.press("Tab", "Tab")
            program.picture("15-network-light")
            program.press("space")
            until("the permission to be gone", lambda: HOST not in permits.read_text())
        assert len(server.requests) == 4


def test_a_key_goes_into_the_keyring_and_out_of_it_again(
    display: str, fresh_home: Path, tmp_path: Path
) -> None:
    del display
    fresh_home.mkdir(parents=True)
    (fresh_home / "settings.yaml").write_text("version: 1\nappearance:\n  theme: light\n")
    index = fresh_home / "keys.yaml"
    with secret_service(tmp_path / "keyring") as environment, window(fresh_home, **environment) as program:
        open_page(program, "services")
        program.press("Tab")
        program.type(KEY)
        program.press("Return")
        until("the key", lambda: index.exists() and "api.openai.com" in index.read_text())
        program.picture("16-key-light")
        still(program)
        program.press("Tab", "space")
        until("the key to be gone", lambda: "api.openai.com" not in index.read_text())
    for path in fresh_home.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()
