"""The computer over a guest that only notes what it is asked: events, log, verdicts and refusals."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sandbox.actions import ActionEvent
from sandbox.audit import AuditLog, verify
from sandbox.computer import Computer
from sandbox.errors import SandboxError
from sandbox.guest.peer import Call, Operation, Peer, PeerError, PeerGone
from sandbox.guest.rects import Rect
from tests.sandbox.guest.pairs import pair

SEVEN = {
    "role": "push button",
    "name": "7",
    "value": "",
    "states": [],
    "x": 40,
    "y": 40,
    "width": 20,
    "height": 20,
}
ENTRY = SEVEN | {"role": "entry", "name": "Search", "x": 100, "width": 200}
CHANGED = {"settled": True, "region_changed": 0.3, "screen_changed": 0.01, "touched": True, "elsewhere": None}
NOTHING = CHANGED | {"region_changed": 0.0, "screen_changed": 0.0, "touched": False}


@dataclass
class Screen:
    """A screen whose pictures say what was asked for."""

    width: int = 1280
    height: int = 800
    asked: list[tuple[Rect | None, tuple[int, int] | None]] = field(default_factory=list)

    async def picture(
        self, *, region: Rect | None = None, size: tuple[int, int] | None = None, pointer: bool = False
    ) -> bytes:
        del pointer
        self.asked.append((region, size))
        return b"PNG"


@dataclass
class Stage:
    """A computer whose guest answers `input.act` with `answer`, and what came of it."""

    computer: Computer
    screen: Screen
    host: Peer
    guest: Peer
    log: AuditLog
    acts: list[dict[str, Any]]
    answer: dict[str, Any]
    events: list[ActionEvent]
    asked: asyncio.Event

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.path.read_text("ascii").splitlines()]


@dataclass
class Running:
    """What a Computer needs of a guest."""

    control: Peer
    screen: Any


def on(folder: Path, check: Callable[[Stage], Awaitable[None]], screen: Screen | None = None) -> None:
    shown = screen or Screen()
    acts: list[dict[str, Any]] = []
    answer: dict[str, Any] = dict(CHANGED)
    held, asked = asyncio.Event(), asyncio.Event()

    async def on_act(call: Call) -> dict[str, Any]:
        acts.append(call.arguments)
        asked.set()
        if "refuse" in answer:
            raise PeerError(answer["refuse"], "nokey")
        if answer.get("hang"):
            await held.wait()
        return answer | {"pointer": [3, 4]}

    async def on_pointer(call: Call) -> dict[str, Any]:
        del call
        return {"x": 3, "y": 4}

    async def on_list(call: Call) -> dict[str, Any]:
        del call
        return {"window": "Calculator", "elements": [SEVEN, ENTRY], "complete": True}

    operations: dict[str, Operation] = {
        "input.act": on_act,
        "pointer": on_pointer,
        "elements.list": on_list,
    }

    async def run() -> None:
        log = AuditLog(folder / "computer_use_log.jsonl")
        events: list[ActionEvent] = []
        async with pair(guest=operations) as (host, guest):
            computer = Computer(Running(host, shown), log, events.append)
            await check(Stage(computer, shown, host, guest, log, acts, answer, events, asked))

    asyncio.run(run())


def test_a_click_is_done_told_and_written_down(tmp_path: Path) -> None:
    async def check(stage: Stage) -> None:
        action = {"action": "left_click", "coordinate": [50, 60]}
        outcome = await stage.computer.perform(action, session="s", call="c")
        assert outcome.verdict == "confirmed"
        assert outcome.picture == b"PNG"
        assert not outcome.failed
        assert stage.acts[0]["region"] == [2, 12, 97, 97]
        assert [(event.phase, event.point, event.verdict) for event in stage.events] == [
            ("begun", (50, 60), ""),
            ("ended", (50, 60), "confirmed"),
        ]
        (record,) = stage.records()
        assert (record["session"], record["call"], record["action"]) == ("s", "c", "left_click")
        assert record["arguments"] == {"coordinate": [50, 60]}
        assert record["picture"] == hashlib.sha256(b"PNG").hexdigest()
        assert verify(stage.log.path).ok

    on(tmp_path, check)


def test_pictures_can_be_left_out(tmp_path: Path) -> None:
    async def check(stage: Stage) -> None:
        assert (await stage.computer.perform({"action": "key", "text": "a"}, picture=False)).picture is None
        assert (await stage.computer.perform({"action": "screenshot"}, picture=False)).picture == b"PNG"

    on(tmp_path, check)


def test_pictures_and_places_are_scaled(tmp_path: Path) -> None:
    async def check(stage: Stage) -> None:
        await stage.computer.perform({"action": "screenshot"})
        await stage.computer.perform({"action": "zoom", "region": [0, 0, 640, 400]})
        outcome = await stage.computer.perform({"action": "cursor_position"})
        assert outcome.text == "X=1,Y=2"
        assert stage.screen.asked == [(None, (1280, 800)), (Rect(0, 0, 1280, 800), (1280, 800))]

    on(tmp_path, check, Screen(2560, 1600))


def test_a_spot_without_effect_is_looked_at_and_then_refused(tmp_path: Path) -> None:
    async def check(stage: Stage) -> None:
        stage.answer.update(NOTHING)
        click = {"action": "left_click", "coordinate": [600, 400]}
        said = [await stage.computer.perform(click) for _ in range(4)]
        assert [outcome.verdict for outcome in said] == ["no_change", "no_change", "no_change", ""]
        assert said[0].text == "The left click at (600, 400) changed nothing near it."
        assert "2 in a row: look at the picture" in said[1].text
        assert stage.screen.asked[1] == (Rect(504, 304, 193, 193), (800, 800))
        assert said[3].failed
        assert len(stage.acts) == 3
        await stage.computer.perform({"action": "screenshot"})
        assert (await stage.computer.perform(click)).failed, "looking is not doing something else"
        await stage.computer.perform({"action": "key", "text": "Escape"})
        assert not (await stage.computer.perform(click)).failed

    on(tmp_path, check)


def test_a_model_without_pictures_is_told_to_list_again(tmp_path: Path) -> None:
    async def check(stage: Stage) -> None:
        stage.answer.update(NOTHING)
        await stage.computer.elements()
        click = {"action": "click_element", "number": 1}
        said = [await stage.computer.perform(click, picture=False) for _ in range(2)]
        assert said[1].text.endswith("That makes 2 in a row: list the elements again, and do something else.")
        assert said[1].picture is None

    on(tmp_path, check)


@pytest.mark.parametrize(
    ("refuse", "said"),
    [("key_unknown", "There is no key called nokey."), ("step_refused", "It could not be")],
)
def test_what_the_guest_refuses_is_told_to_the_model(tmp_path: Path, refuse: str, said: str) -> None:
    async def check(stage: Stage) -> None:
        stage.answer["refuse"] = refuse
        outcome = await stage.computer.perform({"action": "key", "text": "ctrl+nokey"})
        assert outcome.failed
        assert outcome.text.startswith(said)
        assert stage.records()[0]["verdict"] == stage.events[-1].verdict == "failed"

    on(tmp_path, check)


def test_several_actions_stop_at_the_first_that_fails(tmp_path: Path) -> None:
    async def check(stage: Stage) -> None:
        actions = [{"action": "key", "text": "a"}, {"action": "bad"}, {"action": "key", "text": "b"}]
        outcome = await stage.computer.perform({"actions": actions})
        assert outcome.failed
        assert outcome.picture == b"PNG"
        assert outcome.text.endswith("Not done after it: 1 of 3 actions.")
        assert len(stage.acts) == 1
        outcome = await stage.computer.perform({"actions": actions[:1] * 3})
        assert not outcome.failed
        assert len(stage.acts) == 4
        assert (await stage.computer.perform({"actions": []})).failed

    on(tmp_path, check)


def test_elements_are_clicked_by_number(tmp_path: Path) -> None:
    async def check(stage: Stage) -> None:
        stale = await stage.computer.perform({"action": "click_element", "number": 1})
        assert "there is no list yet" in stale.text
        listed = await stage.computer.perform({"action": "elements"})
        assert listed.text.splitlines()[:2] == ["Window: Calculator", '1. push button "7" at (50, 50)']
        assert listed.picture is None
        outcome = await stage.computer.perform({"action": "click_element", "number": 1})
        assert stage.acts[0]["steps"][0] == {"do": "move", "x": 50, "y": 50}
        assert outcome.text.startswith('The click on 1, push button "7",')
        assert (await stage.computer.perform({"action": "click_element", "number": 3})).failed

    on(tmp_path, check)


def test_text_goes_into_an_element(tmp_path: Path) -> None:
    async def check(stage: Stage) -> None:
        await stage.computer.elements()
        await stage.computer.perform({"action": "type_into", "number": 2, "text": "né"})
        steps = stage.acts[0]["steps"]
        assert steps[0] == {"do": "move", "x": 200, "y": 50}
        assert steps[-2:] == [{"do": "key", "key": "ctrl+a"}, {"do": "type", "text": "né"}]
        assert stage.acts[0]["region"] == [100, 40, 200, 20]

    on(tmp_path, check)


def test_a_secret_is_nowhere_but_on_the_way(tmp_path: Path) -> None:
    async def check(stage: Stage) -> None:
        await stage.computer.perform({"action": "type", "text": "hunter2", "secret": True})
        assert stage.acts[0]["steps"] == [{"do": "type", "text": "hunter2"}]
        assert "hunter2" not in stage.log.path.read_text("ascii")
        assert all("hunter2" not in event.summary for event in stage.events)

    on(tmp_path, check)


def test_an_action_that_is_stopped_is_written_down(tmp_path: Path) -> None:
    async def check(stage: Stage) -> None:
        stage.answer["hang"] = True
        acting = asyncio.create_task(stage.computer.perform({"action": "key", "text": "a"}))
        async with asyncio.timeout(5):
            await stage.asked.wait()
        acting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await acting
        assert stage.events[-1].phase == "ended"
        assert stage.records()[0]["verdict"] == "failed"

    on(tmp_path, check)


def test_the_end_of_the_guest_is_for_the_caller(tmp_path: Path) -> None:
    async def check(stage: Stage) -> None:
        stage.guest.close()
        with pytest.raises(PeerGone):
            await stage.computer.perform({"action": "left_click", "coordinate": [5, 5]})
        assert stage.records()[0]["verdict"] == "failed"

    on(tmp_path, check)


def test_what_cannot_be_written_down_may_not_go_on(tmp_path: Path) -> None:
    async def check(stage: Stage) -> None:
        stage.log.path.write_text("nonsense\n", "ascii")
        with pytest.raises(SandboxError) as refused:
            await stage.computer.perform({"action": "screenshot"})
        assert refused.value.code == "audit_unwritable"

    on(tmp_path, check)
