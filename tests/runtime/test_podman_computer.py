"""The whole computer of the agent on a real Podman: it acts, runs commands and code, and leaves nothing."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from installer.podman import Podman
from runtime.computer_audit import FILE
from sandbox.audit import verify
from sandbox.container import MachineConfig
from sandbox.engine import Engine
from sandbox.image import ImageBuilder
from sandbox.machine import Machine
from tests.runtime.computer_stage import SAY, TOOLS, Seen
from tests.runtime.scripted_house import call, talking
from tests.sandbox.conftest import podman

__all__ = ["podman"]

PATIENCE = 90.0
NEXT: dict[str, Any] = {"wait": 0}


@pytest.fixture
def machine(podman: Podman, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of the container that the whole program makes in Podman."""
    name = f"orion-test-{os.getpid()}-podman"
    monkeypatch.setenv("DOCKER_HOST", podman.address)
    monkeypatch.setenv("COMPUTER_USE_CONTAINER", name)
    monkeypatch.setenv("COMPUTER_USE_IMAGE", ImageBuilder().tag)
    monkeypatch.setenv("ORION_SANDBOX_MARK", str(os.getpid()))
    yield name
    asyncio.run(_removed(podman.address, name))


async def _removed(address: str, name: str) -> None:
    engine = await Engine.find(address)
    try:
        left = Machine(engine, MachineConfig(name=name, volume=f"{name}-workspace"))
        assert (await left.status()).phase == "absent"
        await left.reset()
    finally:
        await engine.close()


def test_the_agent_works_there_as_on_docker(fresh_home: Path, machine: str) -> None:
    steps = [
        call("computer", action="left_click", coordinate=[79, 783]),
        call("computer", action="screenshot"),
        NEXT,
        call("bash", command="pwd; cat from-host.txt; echo made >made.txt"),
        call("run_code", code="print(6 * 7)"),
        SAY,
    ]

    async def works() -> None:
        async with talking(fresh_home, steps, allowed_tools=[*TOOLS, "run_code"]) as (
            runtime,
            session,
            watch,
        ):
            (runtime.workspace.root / "from-host.txt").write_text("hello\n", "utf-8")
            await session.use(autonomy="auto")
            seen = Seen(runtime.computer, PATIENCE)
            watch.patience = PATIENCE
            await session.submit("work")
            assert (await watch.until("done")).reason == "complete"
            await seen.until(lambda event: event.type == "wheel_changed" and event.holder == "nobody")
            assert not watch.of("tool_call_failed")
            said = [done.text for done in watch.of("tool_call_complete")]
            assert "/workspace\nhello" in said[2]
            assert "42" in said[3]
            (proposal,) = runtime.computer.review.pending
            assert proposal.path == "made.txt"
            await runtime.computer.review.apply()
            assert (runtime.workspace.root / "made.txt").read_text("utf-8") == "made\n"
        verified = verify(fresh_home / "audit" / FILE)
        assert (verified.ok, verified.records) == (True, 4)

    asyncio.run(works())
