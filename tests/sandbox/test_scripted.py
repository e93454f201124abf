"""The scripted computer answers in order and fails on what was not expected."""

from __future__ import annotations

import asyncio

import pytest

from sandbox.actions import ActionEvent
from sandbox.computer import Outcome
from sandbox.elements import Element
from sandbox.scripted import Expected, ScriptedComputer, Unscripted

BUTTON = Element(1, "push button", "OK", "", (), 10, 10, 30, 20)


def test_outcomes_come_in_order_with_their_events() -> None:
    async def check() -> None:
        events: list[ActionEvent] = []
        script = [
            Expected({"action": "screenshot"}, Outcome("", b"png")),
            Expected({"action": "elements"}, elements=(BUTTON,)),
            Expected({"action": "left_click", "coordinate": [5, 6]}),
        ]
        computer = ScriptedComputer(script, events.append)
        assert (await computer.perform({"action": "screenshot"})).picture == b"png"
        assert await computer.elements() == [BUTTON]
        outcome = await computer.perform({"action": "left_click", "coordinate": [5, 6], "text": "ctrl"})
        assert outcome.verdict == "confirmed"
        computer.finish()
        assert [(event.phase, event.action, event.point) for event in events[2:]] == [
            ("begun", "left_click", (5, 6)),
            ("ended", "left_click", (5, 6)),
        ]

    asyncio.run(check())


def test_an_unexpected_call_fails() -> None:
    async def check() -> None:
        computer = ScriptedComputer([Expected({"action": "key", "text": "Return"})])
        with pytest.raises(Unscripted):
            await computer.perform({"action": "key", "text": "Escape"})
        await computer.perform({"action": "key", "text": "Return"})
        with pytest.raises(Unscripted):
            await computer.perform({"action": "screenshot"})

    asyncio.run(check())


def test_what_is_left_over_fails() -> None:
    with pytest.raises(Unscripted, match="screenshot"):
        ScriptedComputer([Expected({"action": "screenshot"})]).finish()
