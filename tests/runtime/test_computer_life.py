"""The computer's life over a machine without an engine: started, lost, stopped, built."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from runtime.agent_computer import AgentComputer
from runtime.errors import OrionError
from sandbox.errors import SandboxError
from tests.runtime.computer_stage import (
    CLICK,
    SAY,
    Desk,
    StageMachine,
    acted,
    failures,
    makers,
    staged,
)
from tests.runtime.scripted_house import talking


@pytest.mark.parametrize("code", ["engine_gone", "container_gone", "guest_gone"])
def test_a_lost_machine_fails_the_action_once_and_starts_anew(fresh_home: Path, code: str) -> None:
    async def loses() -> None:
        async with staged(fresh_home, [CLICK, {"wait": 0}, CLICK, SAY]) as stage:
            stage.desk.held.clear()
            await stage.session.submit("click")
            await acted(stage, 1)
            stage.machine.lose(code)
            await stage.seen.until(
                lambda event: event.type == "state_changed" and event.state.phase == "lost"
            )
            stage.desk.held.set()
            await stage.done()
            assert stage.seen.phases == ["starting", "running", "lost", "starting", "running"]
            assert len(failures(stage)) == 1
            assert stage.machine.starts == 2
            assert len(stage.watch.of("tool_call_complete")) == 1

    asyncio.run(loses())


def test_a_missing_image_is_said_and_not_built(fresh_home: Path) -> None:
    async def lacks() -> None:
        async with staged(fresh_home, [CLICK, SAY]) as stage:
            stage.machine.failing = SandboxError("image_missing", image="orion-sandbox:1")
            await stage.session.submit("click")
            await stage.done()
            assert stage.computer.state.remedies == ("build",)
            (failed,) = failures(stage)
            assert "image" in failed.text
            await stage.computer.build()
            await stage.computer.start()
            assert stage.seen.phases == ["starting", "no_image", "building", "off", "starting", "running"]

    asyncio.run(lacks())


def test_no_engine_is_unavailable_with_its_code(fresh_home: Path) -> None:
    async def lacks() -> None:
        async with talking(fresh_home, [SAY]) as (runtime, _session, _watch):
            broken = makers(StageMachine(Desk(fresh_home)), engine=SandboxError("engine_missing"))
            computer = AgentComputer(runtime, broken)
            with pytest.raises(OrionError, match="engine_missing"):
                await computer.start()
            assert (computer.state.phase, computer.state.code) == ("unavailable", "engine_missing")
            assert computer.state.remedies == ("retry",)
            await computer.close()

    asyncio.run(lacks())


def test_the_environment_turns_it_off(fresh_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPUTER_USE_SANDBOX", "false")

    async def off() -> None:
        async with staged(fresh_home, [CLICK, SAY]) as stage:
            await stage.session.submit("click")
            await stage.watch.until("done")
            assert (stage.computer.state.phase, stage.computer.state.code) == ("off", "sandbox_off")
            assert stage.computer.state.remedies == ()
            assert stage.machine.starts == 0
            assert "COMPUTER_USE_SANDBOX" in failures(stage)[0].text

    asyncio.run(off())


def test_names_from_the_environment(fresh_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPUTER_USE_CONTAINER", "my-box")
    monkeypatch.setenv("COMPUTER_USE_IMAGE", "my-image:1")

    async def named() -> None:
        async with staged(fresh_home, [SAY]) as stage:
            await stage.computer.start()
            config = stage.machine.config
            assert config is not None
            assert (config.name, config.image, config.volume) == ("my-box", "my-image:1", "my-box-workspace")

    asyncio.run(named())


def test_all_who_ask_wait_for_one_start(fresh_home: Path) -> None:
    async def waits() -> None:
        async with staged(fresh_home, [SAY]) as stage:
            stage.machine.may_start.clear()
            waiting = [asyncio.create_task(stage.computer.start()) for _ in range(3)]
            await stage.machine.starting.wait()
            waiting[0].cancel()
            stage.machine.may_start.set()
            await asyncio.gather(*waiting[1:])
            assert waiting[0].cancelled()
            assert stage.machine.starts == 1
            assert stage.computer.state.phase == "running"

    asyncio.run(waits())


def test_stopping_while_it_starts(fresh_home: Path) -> None:
    async def stops() -> None:
        async with staged(fresh_home, [SAY]) as stage:
            stage.machine.may_start.clear()
            waiting = asyncio.create_task(stage.computer.start())
            await stage.machine.starting.wait()
            await stage.computer.stop()
            assert stage.computer.state.phase == "off"
            await asyncio.wait([waiting])
            assert waiting.cancelled() or isinstance(waiting.exception(), OrionError)

    asyncio.run(stops())


def test_a_bug_in_the_start_ends_in_a_state(fresh_home: Path) -> None:
    async def breaks() -> None:
        async with staged(fresh_home, [SAY]) as stage:
            stage.machine.broken = True
            with pytest.raises(AssertionError):
                await stage.computer.start()
            assert (stage.computer.state.phase, stage.computer.state.code) == (
                "unavailable",
                "computer_broken",
            )
            await stage.computer.start()
            assert stage.computer.state.phase == "running"

    asyncio.run(breaks())


def test_what_was_lost_is_removed_at_the_end(fresh_home: Path) -> None:
    async def loses() -> None:
        async with staged(fresh_home, [SAY]) as stage:
            await stage.computer.start()
            stage.machine.lose("guest_gone")
            await stage.seen.until(
                lambda event: event.type == "state_changed" and event.state.phase == "lost"
            )
        assert stage.machine.stops == 1
        assert stage.computer.state.phase == "off"

    asyncio.run(loses())


def test_nobody_waits_for_the_image(fresh_home: Path) -> None:
    async def builds() -> None:
        async with staged(fresh_home, [CLICK, SAY]) as stage:
            stage.machine.may_build.clear()
            building = asyncio.create_task(stage.computer.build())
            await stage.seen.until(lambda event: event.type == "state_changed" and event.state.progress > 0)
            await stage.session.submit("click")
            await stage.done()
            assert "is being built" in failures(stage)[0].text
            stage.machine.may_build.set()
            await building
            assert stage.computer.state.phase == "off"

    asyncio.run(builds())


def test_ports_are_opened_or_warned_of(fresh_home: Path) -> None:
    async def opens() -> None:
        async with staged(fresh_home, [SAY]) as stage:
            stage.runtime.save_settings({"sandbox.ports": ["0:8888", "http"]})
            await stage.computer.start()
            assert (stage.computer.state.phase, stage.computer.state.code) == ("running", "port_unknown")
            assert stage.computer.state.fields == {"port": "http"}
            stage.runtime.save_settings({"sandbox.ports": ["0:8888"]})
            await stage.computer.restart()
            assert stage.computer.state.code == ""

    asyncio.run(opens())


def test_another_process_holds_it(fresh_home: Path) -> None:
    async def holds() -> None:
        async with staged(fresh_home, [SAY]) as stage:
            await stage.computer.start()
            other = AgentComputer(stage.runtime, makers(StageMachine(stage.desk)))
            with pytest.raises(OrionError, match="computer_busy"):
                await other.start()
            await other.close()
            await stage.computer.stop()

    asyncio.run(holds())


def test_it_sleeps_after_a_while_without_anyone(fresh_home: Path) -> None:
    async def sleeps() -> None:
        async with staged(fresh_home, [SAY]) as stage:
            stage.runtime.save_settings({"sandbox.idle_minutes": 0.0005})
            stage.seen.stop()
            await stage.computer.start()
            async with asyncio.timeout(20):
                await stage.machine.stopped.wait()
            await stage.computer.close()
            assert stage.computer.state.phase == "off"
            assert stage.machine.stops == 1

    asyncio.run(sleeps())
