"""The status line puts what happens into words."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from desktop.status import StatusLine
from desktop.theme import LIGHT
from runtime.events import (
    ApprovalRequired,
    Body,
    Done,
    ModelState,
    Paused,
    ResponseChunk,
    StateChange,
    ThinkingStart,
    ToolStart,
    UsageReport,
)
from tests.desktop.doubles import event

ASK = ApprovalRequired("a", "write_file", {}, "d", "medium", "Write", "", {})


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (StateChange("IDLE", "THINKING"), "Working…"),
        (ThinkingStart(), "Thinking…"),
        (ResponseChunk("a"), "Answering…"),
        (ToolStart("c", "calculator", {}, "low"), "Using calculator…"),
        (ASK, "Waits for your decision"),
        (StateChange("TOOL_CALLING", "PAUSED"), "Waits for your decision"),
        (Done("complete", 1, {}, 1.26, "m"), "Done in 1.3 s"),
        (Done("cancelled", 1, {}, 1.0, "m"), "Stopped"),
        (Done("iterations", 1, {}, 1.0, "m"), "Stopped: the limit of steps is reached"),
    ],
)
def test_events_become_words(qtbot: QtBot, body: Body, words: str) -> None:
    status = StatusLine(LIGHT)
    qtbot.addWidget(status)
    status.on_event(event(body))
    assert status.state.text() == words
    assert status.state.accessibleName() == words


def test_loading_shows_how_far_it_is(qtbot: QtBot) -> None:
    status = StatusLine(LIGHT)
    qtbot.addWidget(status)
    status.on_event(event(ModelState("loading", "m", 0.4)))
    assert not status.progress.isHidden()
    assert status.progress.value() == 40
    status.on_event(event(ModelState("starting", "m")))
    assert status.progress.maximum() == 0
    status.on_event(event(ResponseChunk("a")))
    assert status.progress.isHidden()


def test_speed_and_fill_are_shown_and_forgotten(qtbot: QtBot) -> None:
    status = StatusLine(LIGHT)
    qtbot.addWidget(status)
    status.on_event(event(UsageReport(4000, 96, 0, 0, 51.7, 8192, True)))
    assert status.speed.text() == "52 tokens/s"
    assert status.context.words() == "50 % of 8,192 tokens"
    status.reset("IDLE")
    assert (status.state.text(), status.speed.text(), status.context.words()) == ("Ready", "", "Context")


def test_a_pause_says_why_until_it_is_over(qtbot: QtBot) -> None:
    line = StatusLine(LIGHT)
    qtbot.addWidget(line)
    line.on_event(event(Paused(True, "You took the wheel.")))
    line.on_event(event(StateChange("TOOL_CALLING", "PAUSED")))
    assert line.state.text() == "You took the wheel."
    line.on_event(event(Paused(False, "")))
    line.on_event(event(StateChange("PAUSED", "THINKING")))
    line.on_event(event(StateChange("TOOL_CALLING", "PAUSED")))
    assert line.state.text() == "Waits for your decision"
