"""The status is one true sentence about the session."""

from __future__ import annotations

import pytest

from runtime.events import (
    ApprovalReceived,
    ApprovalRequired,
    Body,
    Done,
    ModelState,
    Paused,
    Retry,
    StateChange,
    ToolComplete,
    ToolStart,
)
from runtime.spoken_status import Status

THINK = StateChange("IDLE", "THINKING")
WRITE = StateChange("THINKING", "COMPILING")
TOOL = ToolStart("c", "read_file", {"path": "notes/a.md"}, "low")
ASK = ApprovalRequired("c", "write_file", {}, "d", "medium", "", "", {})
DONE = Done("complete", 1, {}, 1.0, "m")


@pytest.mark.parametrize(
    ("bodies", "sentence"),
    [
        ([], "I am not working on anything."),
        ([THINK], "I am thinking, for 12 seconds now."),
        ([THINK, ModelState("loading", "m")], "The model is still being loaded."),
        ([THINK, ModelState("evaluating", "m", 0.375)], "I am reading, 38 percent are done."),
        (
            [THINK, ModelState("waiting", "m")],
            "I am waiting for the model, which is busy with something else.",
        ),
        ([THINK, Retry("rate_limited", {}, 1, 2.0)], "The service did not answer; I am asking again."),
        ([THINK, ModelState("evaluating", "m", 0.5), WRITE], "I am writing the answer, for 12 seconds now."),
        ([THINK, TOOL], "I am running read file `notes/a.md`, for 12 seconds now."),
        ([THINK, TOOL, ToolComplete("c", "read_file", "", {}, 1.0)], "I am thinking, for 12 seconds now."),
        ([THINK, ASK], "I am waiting for you to allow write file."),
        ([THINK, ASK, ApprovalReceived("c", "deny", "once", "voice")], "I am thinking, for 12 seconds now."),
        ([THINK, Paused(True, "")], "I have paused. Say go on, and I will."),
        ([THINK, TOOL, DONE], "I am not working on anything."),
    ],
)
def test_the_sentence(bodies: list[Body], sentence: str) -> None:
    status = Status()
    for body in bodies:
        status.note(body, 100.0)
    assert status.sentence(112.0) == sentence


def test_long_times_are_told_in_minutes() -> None:
    status = Status()
    status.note(THINK, 0.0)
    assert status.sentence(0.2) == "I am thinking, for one second now."
    assert status.sentence(90.0) == "I am thinking, for 2 minutes now."
