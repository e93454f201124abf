"""What the window asks of the computer reaches a real AgentComputer, whose machine is played."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from desktop import desk_computer
from desktop.desk import Desk
from desktop.desk_computer import DeskComputer
from desktop.live.frames import FrameBox
from runtime.errors import OrionError
from sandbox.errors import SandboxError
from tests.desktop.live.sandbox_double import desktop_picture, frame_of
from tests.runtime.computer_stage import Stage, staged
from tests.runtime.scripted_house import Steps, call

CLICK: Steps = [call("computer", action="left_click", coordinate=[100, 100]), {"say": "Done."}]


@dataclass
class House:
    """A desk over a stage, with what its listener was told."""

    desk: Desk
    stage: Stage
    told: list[Any]
    frames: FrameBox
    pictured: list[bool]

    @property
    def wheel(self) -> Any:
        """The newest word about who has the wheel."""
        return [event for event in self.told if event.type == "wheel_changed"][-1]

    def phases(self) -> list[str]:
        return [event.state.phase for event in self.told if event.type == "state_changed"]


@asynccontextmanager
async def house(home: Path, *steps: dict[str, Any]) -> AsyncIterator[House]:
    async with staged(home, list(steps)) as stage:
        told: list[Any] = []
        frames, pictured = FrameBox(), list[bool]()
        watcher = DeskComputer(stage.runtime, told.append, frames, lambda: pictured.append(True))
        desk = Desk(stage.runtime, lambda _event: None, computer=watcher)
        try:
            yield House(desk, stage, told, frames, pictured)
        finally:
            await desk.close()


def test_it_tells_how_everything_is_and_starts_nothing(fresh_home: Path) -> None:
    async def run() -> None:
        async with house(fresh_home) as it:
            await desk_computer.begin(it.desk)
            assert [event.type for event in it.told] == ["state_changed", "wheel_changed"]
            assert it.phases() == ["off"]
            assert it.stage.machine.starts == 0

    asyncio.run(run())


def test_a_desk_that_was_never_asked_makes_no_computer(fresh_home: Path) -> None:
    async def run() -> None:
        async with house(fresh_home) as it:
            before = len(it.stage.computer._listeners)
            await it.desk.close()
            assert len(it.stage.computer._listeners) == before
            assert it.told == []

    asyncio.run(run())


def test_remedies(fresh_home: Path) -> None:
    async def run() -> None:
        async with house(fresh_home) as it:
            await desk_computer.begin(it.desk)
            await desk_computer.remedy(it.desk, "start")
            assert it.phases()[-1] == "running"
            await desk_computer.remedy(it.desk, "restart")
            assert (it.stage.machine.starts, it.phases()[-1]) == (2, "running")
            await desk_computer.remedy(it.desk, "stop")
            await desk_computer.remedy(it.desk, "build")
            assert it.phases()[-1] == "running"
            assert "building" in it.phases()
            await desk_computer.remedy(it.desk, "reset")
            assert it.phases()[-1] == "off"

    asyncio.run(run())


def test_a_start_that_fails_is_an_error_and_a_state(fresh_home: Path) -> None:
    async def run() -> None:
        async with house(fresh_home) as it:
            await desk_computer.begin(it.desk)
            it.stage.machine.failing = SandboxError("start_failed", reason="test")
            with pytest.raises(OrionError) as failed:
                await desk_computer.remedy(it.desk, "start")
            assert failed.value.code == it.told[-1].state.code == "start_failed"

    asyncio.run(run())


def test_the_screen_is_watched_only_while_somebody_looks(fresh_home: Path, qapp: object) -> None:
    del qapp

    async def run() -> None:
        async with house(fresh_home) as it:
            await desk_computer.watch(it.desk, True)
            await desk_computer.remedy(it.desk, "start")
            screen = it.stage.computer.screen
            assert screen is not None
            assert len(screen._listeners) == 1
            picture = desktop_picture()
            it.desk.computer._on_frame(frame_of(picture))
            it.desk.computer._on_frame(frame_of(picture))
            assert it.pictured == [True]
            taken = it.frames.take()
            assert taken is not None
            assert taken.image == picture
            await desk_computer.watch(it.desk, False)
            assert len(screen._listeners) == 0
            await desk_computer.watch(it.desk, True)
            await desk_computer.remedy(it.desk, "restart")
            again = it.stage.computer.screen
            assert again is not None
            assert again is not screen
            assert len(again._listeners) == 1

    asyncio.run(run())


def test_hands_take_the_wheel_and_give_it_back(fresh_home: Path) -> None:
    async def run() -> None:
        async with house(fresh_home, *CLICK) as it:
            await desk_computer.begin(it.desk)
            it.stage.desk.held.clear()
            await it.stage.session.submit("Click", source="window")
            await it.stage.desk.begun.wait()
            button = {"do": "button", "button": "left", "down": True}
            await desk_computer.steer(it.desk, [{"do": "move", "x": 5, "y": 6}, button])
            assert it.wheel.holder == "user"
            assert it.stage.desk.acts[-1]["steps"][-1] == button
            it.stage.desk.held.set()
            said = await desk_computer.hand_back(it.desk, "I clicked for you.")
            assert "I clicked for you." in said
            await it.stage.done()
            assert await desk_computer.hand_back(it.desk, "") == ""

    asyncio.run(run())


def test_moves_that_were_overtaken_are_left_out_and_the_order_is_kept(fresh_home: Path) -> None:
    async def run() -> None:
        async with house(fresh_home) as it:
            await desk_computer.remedy(it.desk, "start")
            moves = [[{"do": "move", "x": n, "y": n}] for n in range(50)]
            await asyncio.gather(
                *(desk_computer.steer(it.desk, steps) for steps in moves),
                desk_computer.steer(it.desk, [{"do": "type", "text": "a"}]),
                desk_computer.steer(it.desk, [{"do": "type", "text": "b"}]),
            )
            done = [step for act in it.stage.desk.acts for step in act["steps"]]
            assert len(done) < 10
            assert done[-3] == {"do": "move", "x": 49, "y": 49}
            assert [step.get("text") for step in done[-2:]] == ["a", "b"]

    asyncio.run(run())


def test_the_clipboard_is_carried_both_ways(fresh_home: Path) -> None:
    async def run() -> None:
        async with house(fresh_home) as it:
            await desk_computer.remedy(it.desk, "start")
            await desk_computer.paste_in(it.desk, "Grüße 世界")
            assert await desk_computer.copy_out(it.desk) == "Grüße 世界"

    asyncio.run(run())


def test_pause_step_and_go_on(fresh_home: Path) -> None:
    async def run() -> None:
        async with house(fresh_home, *CLICK) as it:
            await desk_computer.begin(it.desk)
            it.stage.desk.held.clear()
            await it.stage.session.submit("Click", source="window")
            await it.stage.desk.begun.wait()
            await desk_computer.pause(it.desk)
            assert (it.wheel.holder, it.wheel.paused) == ("agent", True)
            await desk_computer.step(it.desk)
            assert (it.wheel.paused, it.wheel.stepping) == (True, True)
            await desk_computer.resume(it.desk)
            assert not it.wheel.paused
            it.stage.desk.held.set()
            await it.stage.done()

    asyncio.run(run())
