"""The container engine is killed while the agent really works: one clear state, and a way on from there."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from installer.podman import Podman
from sandbox.audit import verify
from sandbox.container import MachineConfig
from sandbox.engine import Engine
from sandbox.image import ImageBuilder
from sandbox.machine import Machine
from tests.end2end.program import Program, until
from tests.end2end.test_computer import NEXT, shown, start
from tests.runtime.scripted_house import call, write_profile
from tests.sandbox.conftest import podman

__all__ = ["podman"]

pytestmark = pytest.mark.timeout(300)

STEPS = [
    {"say": "I begin something long."},
    call("bash", command="echo begun >/workspace/mark.txt; sleep 600", timeout=500),
    NEXT,
    {"say": "The engine does not answer."},
    {"say": "I look again."},
    call("bash", command="cat /workspace/mark.txt; echo on"),
    {"say": "It goes on."},
]
SETTINGS = "version: 1\nagent:\n  profile: test\n  autonomy: auto\n"
NAME = f"orion-test-{os.getpid()}-kill"


@pytest.fixture
def programs(display: str, podman: Podman, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Program]]:
    """Programs put in here work on Podman, and are ended whatever happens."""
    del display
    monkeypatch.setenv("DOCKER_HOST", podman.address)
    monkeypatch.setenv("COMPUTER_USE_CONTAINER", NAME)
    monkeypatch.setenv("COMPUTER_USE_IMAGE", ImageBuilder().tag)
    monkeypatch.setenv("ORION_SANDBOX_MARK", str(os.getpid()))
    made: list[Program] = []
    yield made
    for program in made:
        if program.exit_code is None:
            program.picture("engine-last")
            program.kill()


async def _on(address: str, work: Any) -> Any:
    engine = await Engine.find(address)
    try:
        return await work(engine)
    finally:
        await engine.close()


async def _removed(engine: Engine) -> None:
    await Machine(engine, MachineConfig(name=NAME, volume=f"{NAME}-workspace")).reset()


async def _sleeps(engine: Engine) -> bool:
    """Whether the agent's command runs in the container."""
    seen = await _there(engine)
    if not seen or seen[0].status != "running":
        return False
    look = ["pgrep", "-fx", "sleep 600"]
    done = await engine.call(lambda client: seen[0].exec_run(look))
    return bool(done.exit_code == 0)


async def _there(engine: Engine) -> list[Any]:
    return list(await engine.call(lambda client: client.containers.list(all=True, filters={"name": NAME})))


def _at_work(programs: list[Program], home: Path, podman: Podman) -> Program:
    """The program, with the agent's command running and the pane open."""
    write_profile(home, STEPS, allowed_tools=["bash"])
    (home / "settings.yaml").write_text(SETTINGS)
    program = start(programs, home, QT_LINUX_ACCESSIBILITY_ALWAYS_ON="1")
    program.press("ctrl+shift+c")
    until("what it is", lambda: shown(program, "The agent's own computer"))
    program.press("ctrl+l")
    program.type("Do something long")
    program.press("Return")
    until("the call", lambda: program.recorded("tool_intent"), seconds=120)
    until("the command to run", lambda: asyncio.run(_on(podman.address, _sleeps)))
    return program


def _said(program: Program, code: str, words: str) -> None:
    """The loss stands in the pane and in the call's result, and the turn ends."""
    until("the loss", lambda: shown(program, "The sandbox was lost"))
    assert shown(program, words)
    until("the turn to end", lambda: program.recorded("done"))
    (told,) = program.recorded("tool_result")
    assert code in str(told)
    program.press("ctrl+shift+c", "ctrl+shift+c")


def _goes_on(program: Program, home: Path, podman: Podman) -> None:
    """The button in the pane starts it again, what was written is there, and nothing is left at the end."""
    program.press("space")
    until("the sandbox again", lambda: shown(program, "Nobody is at the wheel"))
    program.press("ctrl+l")
    program.type("Please go on")
    program.press("Return")
    until("the second turn to end", lambda: program.recorded("done", 2), seconds=120)
    assert "begun\non" in str(program.recorded("tool_result")[-1]["parts"][0]["text"])
    assert program.close() == ""
    assert asyncio.run(_on(podman.address, _there)) == []
    asyncio.run(_on(podman.address, _removed))
    assert verify(home / "audit" / "computer_use_log.jsonl").ok


VICTIMS = {
    "container": (["kill"], "container_gone", "The sandbox ended by itself"),
    "guest": (["pkill", "-KILL", "-f", "sandbox.guest control"], "guest_gone", "own process ended"),
}


@pytest.mark.parametrize("victim", VICTIMS)
def test_what_is_killed_in_the_engine_is_one_clear_state_and_no_end(
    programs: list[Program], fresh_home: Path, podman: Podman, victim: str
) -> None:
    command, code, words = VICTIMS[victim]

    async def kill(engine: Engine) -> None:
        (thing,) = await _there(engine)
        await engine.call(lambda client: thing.kill() if command == ["kill"] else thing.exec_run(command))

    program = _at_work(programs, fresh_home, podman)
    asyncio.run(_on(podman.address, kill))
    _said(program, code, words)
    program.picture(f"engine-{victim}-killed")
    _goes_on(program, fresh_home, podman)


def test_a_killed_engine_is_one_clear_state_and_no_end(
    programs: list[Program], fresh_home: Path, podman: Podman
) -> None:
    program = _at_work(programs, fresh_home, podman)
    program.picture("engine-1-at-work")
    podman.kill()
    try:
        _said(program, "engine_gone", "does not answer any more (Connection refused)")
        program.picture("engine-2-killed")
        program.press("space")
        until("a start in vain", lambda: shown(program, "No container engine answers"))
        program.picture("engine-3-still-gone")
    finally:
        podman.start()
    _goes_on(program, fresh_home, podman)
    podman.close()
