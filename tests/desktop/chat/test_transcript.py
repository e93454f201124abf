"""Stored rows and live events fold into the same rows."""

from __future__ import annotations

from typing import Any

import pytest

from desktop.chat.rows import ActivityRow, AssistantRow, NoticeRow, ThinkingRow, ToolRow, UserRow, notice
from desktop.chat.transcript import MAX_LOG, Transcript
from runtime import events as ev
from tests.desktop.chat.sample import answer, tool, user


def fold(*bodies: ev.Body, transcript: Transcript | None = None) -> Transcript:
    made = transcript or Transcript()
    for seq, body in enumerate(bodies, 1):
        made.apply(ev.Event(seq, "s", "t", 100.0 + seq, body))
    return made


def done(reason: Any = "complete") -> ev.Done:
    return ev.Done(reason, 1, {}, 1.0, "m")


def test_stored_rows_become_drawn_rows() -> None:
    made = Transcript()
    made.show([user("hi"), answer("yes", reasoning="hm", thinking_seconds=2.0), tool(), {"kind": "new"}])
    assert [type(row) for row in made.rows] == [UserRow, ThinkingRow, AssistantRow, ToolRow]


def test_an_answer_without_text_is_no_row() -> None:
    made = Transcript()
    made.show([answer("")])
    assert made.rows == []


def test_a_turn_builds_its_rows() -> None:
    made = fold(
        ev.UserSaid("u", "hi", "window"),
        ev.ThinkingStart(),
        ev.ThinkingChunk("h"),
        ev.ThinkingChunk("m"),
        ev.ThinkingComplete(1.5),
        ev.ResponseChunk("let me "),
        ev.ResponseChunk("see"),
        ev.ResponseComplete("a", "let me see", False, "tool_calls"),
        ev.ToolStart("t", "read_file", {"path": "a"}, "low"),
        ev.ToolChunk("t", "log"),
        ev.ToolComplete("t", "read_file", "text", {}, 0.5),
        ev.ResponseChunk("done"),
        ev.ResponseComplete("b", "done", True, "stop"),
        done(),
    )
    user_row, thought, first, call, second = made.rows
    assert isinstance(user_row, UserRow)
    assert isinstance(thought, ThinkingRow)
    assert (thought.text, thought.seconds, thought.live) == ("hm", 1.5, False)
    assert isinstance(first, AssistantRow)
    assert (first.id, first.text, first.live) == ("a", "let me see", False)
    assert isinstance(call, ToolRow)
    assert (call.status, call.log, call.text, call.seconds) == ("ok", "log", "text", 0.5)
    assert isinstance(second, AssistantRow)
    assert second.id == "b"


def test_work_is_shown_until_something_is_said() -> None:
    made = fold(ev.UserSaid("u", "hi", "window"), ev.ModelState("loading", "m", 0.4))
    last = made.rows[-1]
    assert isinstance(last, ActivityRow)
    assert last.state == "loading"
    fold(ev.ResponseChunk("x"), transcript=made)
    assert [type(row) for row in made.rows] == [UserRow, AssistantRow]


@pytest.mark.parametrize(
    ("bodies", "status"),
    [
        ([ev.ToolFailed("t", "x", "error", "no", 0.1)], "failed"),
        ([ev.ToolFailed("t", "x", "denied", "no", 0.1)], "denied"),
        ([ev.ToolFailed("t", "x", "unknown", "no", 0.1)], "unknown"),
        ([ev.Boundary("t", "x", "rule")], "denied"),
        ([ev.ApprovalReceived("t", "approve", "once", "window")], "running"),
        ([ev.ApprovalReceived("t", "deny", "once", "window")], "denied"),
    ],
)
def test_calls_end_in_a_state(bodies: list[ev.Body], status: str) -> None:
    asked = ev.ApprovalRequired("t", "x", {"a": 1}, "d", "high", "Do x", "", {})
    made = fold(asked, *bodies)
    row = made.rows[0]
    assert isinstance(row, ToolRow)
    assert row.status == status
    assert row.summary == "Do x"


def test_a_log_keeps_its_newest_part() -> None:
    made = fold(ev.ToolStart("t", "x", {}, "low"), ev.ToolChunk("t", "a" * MAX_LOG), ev.ToolChunk("t", "end"))
    row = made.rows[0]
    assert isinstance(row, ToolRow)
    assert len(row.log) == MAX_LOG
    assert row.log.endswith("end")


def test_undo_marks_the_call_whose_change_it_was() -> None:
    made = Transcript()
    made.show([tool(details={"change": "c1"})])
    fold(ev.Undone("c1", ["a.md"]), transcript=made)
    row = made.rows[0]
    assert isinstance(row, ToolRow)
    assert row.undone
    assert isinstance(made.rows[1], NoticeRow)


def test_a_cancelled_turn_leaves_a_partial_answer_and_a_way_on() -> None:
    made = fold(ev.UserSaid("u", "hi", "w"), ev.ResponseChunk("half"), done("cancelled"))
    _user, row, note = made.rows
    assert isinstance(row, AssistantRow)
    assert row.partial
    assert not row.live
    assert isinstance(note, NoticeRow)
    assert note.level == "stopped"


def test_an_error_is_a_notice_and_the_wait_ends() -> None:
    made = fold(ev.UserSaid("u", "hi", "w"), ev.ErrorRaised("model_missing", {}, "user"), done("error"))
    assert [type(row) for row in made.rows] == [UserRow, NoticeRow]


def test_quiet_events_draw_nothing() -> None:
    quiet: list[ev.Body] = [
        ev.StateChange("IDLE", "THINKING"),
        ev.Queued("x"),
        ev.Paused(True, "x"),
        ev.PlanCreated([]),
    ]
    more: list[ev.Body] = [
        ev.UsageReport(1, 1, 0, 0, 1.0, 1, True),
        ev.TaskUpdate([], ""),
        ev.ModelState("ready", "m"),
    ]
    assert fold(*quiet, *more, ev.ToolChunk("none", "x"), ev.ThinkingComplete(1.0)).rows == []


def test_what_was_heard_of_a_spoken_answer_is_known_live_and_stored() -> None:
    text = "Rain falls from clouds. It is water."
    made = fold(ev.ResponseChunk(text), ev.ResponseComplete("r1", text, True, "stop"), done())
    row = made.rows[-1]
    assert isinstance(row, AssistantRow)
    version = row.version
    fold(ev.AnswerHeard("r1", "Rain falls", False), transcript=made)
    assert (row.heard, row.version) == (10, version + 1)
    fold(ev.AnswerHeard("r1", text, True), transcript=made)
    assert row.heard is None
    fold(ev.AnswerHeard("unknown", "Rain", False), transcript=made)
    stored = Transcript()
    stored.show([answer(text) | {"heard": 10}, answer(text)])
    assert [found.heard for found in stored.rows if isinstance(found, AssistantRow)] == [10, None]


def test_what_the_agent_was_told_is_no_fault() -> None:
    assert notice("agent_told", {"text": "Go on."}, 0.0).level == "quiet"
    assert notice("model_missing", {}, 0.0).level == "error"
