"""Only the moves that DECISIONS names are legal."""

from __future__ import annotations

import pytest

from runtime.errors import OrionError
from runtime.events import State, StateChange
from runtime.states import LEGAL, StateMachine


def at(*path: State) -> StateMachine:
    machine = StateMachine(lambda change: None)
    for state in path:
        machine.to(state)
    return machine


def test_a_turn_with_tools_and_an_approval_is_legal_and_told() -> None:
    told: list[StateChange] = []
    machine = StateMachine(told.append)
    path: list[State] = [
        "THINKING",
        "COMPILING",
        "TOOL_CALLING",
        "PAUSED",
        "TOOL_CALLING",
        "OBSERVING",
        "THINKING",
    ]
    for state in path:
        machine.to(state)
    machine.to("IDLE")
    assert [change.new for change in told] == [*path, "IDLE"]


@pytest.mark.parametrize("new", ["COMPILING", "TOOL_CALLING", "OBSERVING", "PAUSED"])
def test_idle_goes_to_work_only(new: State) -> None:
    with pytest.raises(OrionError, match="illegal_transition"):
        at().to(new)


def test_paused_goes_back_only_to_what_it_interrupted_or_to_idle() -> None:
    machine = at("THINKING", "TOOL_CALLING", "PAUSED")
    with pytest.raises(OrionError, match="illegal_transition"):
        machine.to("THINKING")
    machine.back()
    assert machine.state == "TOOL_CALLING"


def test_every_working_state_may_end() -> None:
    assert all("IDLE" in moves for state, moves in LEGAL.items() if state != "IDLE")


def test_staying_is_no_move() -> None:
    told: list[StateChange] = []
    machine = StateMachine(told.append)
    machine.to("IDLE")
    assert told == []
