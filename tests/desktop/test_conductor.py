"""The window's parts do together what the user expects, with a bridge that only records."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from runtime.errors import OrionError
from runtime.events import (
    ApprovalRequired,
    Done,
    Queued,
    ResponseChunk,
    StateChange,
    UsageReport,
    UserSaid,
)
from tests.desktop.doubles import listed
from tests.desktop.stage import Stage

ASK = ApprovalRequired(
    "a1",
    "write_file",
    {"path": "a.md"},
    "d",
    "medium",
    "Write a file",
    "+a",
    {"once": "", "session": "files"},
)


def test_words_are_sent_and_cleared_once_taken(stage: Stage) -> None:
    editor = stage.window.composer.editor
    QTest.keyClicks(editor, "hello")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert stage.bridge.last("submit") == ("s1", "hello", [])
    assert editor.toPlainText() == "hello"
    stage.bridge.answers["submit"] = "r1"
    stage.bridge.settle()
    assert editor.toPlainText() == ""
    assert stage.drafts.get("s1") == ""


def test_refused_words_stay_and_the_reason_is_said(stage: Stage) -> None:
    stage.bridge.answers["submit"] = OrionError("disk_full", path="sessions")
    QTest.keyClicks(stage.window.composer.editor, "keep me")
    stage.window.composer.submit()
    stage.bridge.settle()
    assert stage.window.composer.text() == "keep me"
    assert "disk is full" in stage.window.toast.text.text()


def test_a_turn_is_drawn_from_its_events(stage: Stage) -> None:
    stage.happen(UserSaid("r1", "hello", "window"), StateChange("IDLE", "THINKING"), ResponseChunk("Hi"))
    assert stage.window.status.state.text() == "Answering…"
    assert stage.window.composer.action.accessibleName() == "Stop (Esc)"
    stage.happen(UsageReport(10, 5, 0, 0, 20.0, 8192, True), Done("complete", 1, {}, 0.5, "m"))
    stage.bridge.settle()
    assert stage.window.header.title.text() == "Budget"
    assert stage.window.windowTitle() == "Budget – Orion"
    assert not stage.window.composer.action.isEnabled()


def test_escape_stops_what_runs(stage: Stage) -> None:
    stage.happen(StateChange("IDLE", "THINKING"))
    QTest.keyClick(stage.window.composer.editor, Qt.Key.Key_Escape)
    assert stage.bridge.last("cancel") == ("s1",)


def test_escape_denies_before_it_stops(stage: Stage) -> None:
    stage.happen(StateChange("IDLE", "THINKING"), ASK)
    QTest.keyClick(stage.window.composer.editor, Qt.Key.Key_Escape)
    assert stage.bridge.last("answer") == ("s1", "a1", "deny", "once", None)
    assert "cancel" not in stage.bridge.names()


def test_an_approval_waits_for_a_deliberate_key(qtbot: QtBot, stage: Stage) -> None:
    stage.happen(StateChange("IDLE", "TOOL_CALLING"), ASK)
    assert stage.window.approval.isVisible()
    qtbot.waitUntil(stage.window.approval.approve.isEnabled)
    stage.window.composer.editor.setFocus()
    qtbot.waitUntil(stage.window.composer.editor.hasFocus)
    QTest.keyClicks(stage.window.composer.editor, "and then")
    stage.conductor.approve()
    assert "answer" not in stage.bridge.names()
    stage.window.composer.set_draft("")
    stage.conductor.approve()
    assert stage.bridge.last("answer") == ("s1", "a1", "approve", "once", None)


def test_another_sessions_events_leave_this_one_alone(stage: Stage) -> None:
    stage.talks.open("s2")
    stage.bridge.settle()
    stage.happen(StateChange("IDLE", "THINKING"), ASK, session="s1")
    assert stage.window.approval.isHidden()
    assert stage.window.status.state.text() == "Ready"
    model = stage.window.sidebar.model
    assert "waits for your decision" in str(
        model.data(model.index(0), int(Qt.ItemDataRole.AccessibleTextRole))
    )
    stage.talks.open("s1")
    assert stage.window.approval.isVisible()
    assert stage.window.composer.action.accessibleName() == "Stop (Esc)"


def test_each_session_keeps_its_draft(stage: Stage) -> None:
    QTest.keyClicks(stage.window.composer.editor, "for one")
    stage.talks.open("s2")
    stage.bridge.settle()
    assert stage.window.composer.text() == ""
    QTest.keyClicks(stage.window.composer.editor, "for two")
    stage.talks.open("s1")
    assert stage.window.composer.text() == "for one"


def test_a_steering_message_is_shown_as_queued_until_it_enters(stage: Stage) -> None:
    stage.happen(StateChange("IDLE", "THINKING"), Queued("also this"))
    assert stage.window.composer.queued.text() == "Queued: also this"
    stage.happen(UserSaid("r2", "also this", "window", True))
    assert stage.window.composer.queued.isHidden()


def test_deleting_can_be_taken_back(stage: Stage) -> None:
    stage.bridge.answers["delete"] = "token"
    stage.bridge.answers["restore"] = [listed("s2", "Two")]
    stage.window.sidebar.delete_requested.emit("s2", "Two")
    stage.bridge.settle()
    assert "“Two” was deleted" in stage.window.toast.text.text()
    stage.window.toast.buttons[0].click()
    assert stage.bridge.last("restore") == ("token",)


def test_an_example_prompt_is_sent(stage: Stage) -> None:
    stage.window.chats.prompt_chosen.emit("Explain rain")
    assert stage.bridge.last("submit") == ("s1", "Explain rain", [])


def test_an_export_is_written_whole(stage: Stage, tmp_path: Path) -> None:
    stage.bridge.answers["export"] = "# Chat \ud800"
    stage.talks.export("s1", "markdown", str(tmp_path / "chat.md"))
    stage.bridge.settle()
    assert (tmp_path / "chat.md").read_bytes() == b"# Chat \xed\xa0\x80"
    stage.talks.export("s1", "markdown", str(tmp_path / "none" / "chat.md"))
    stage.bridge.settle()
    assert "could not be written" in stage.window.toast.text.text()


def test_only_harmless_links_are_opened(stage: Stage) -> None:
    stage.window.chats.link_activated.emit("javascript:alert(1)")
    stage.window.chats.link_activated.emit("file:///etc/passwd")
    assert stage.window.isVisible()


def on_chat(stage: Stage) -> bool:
    return stage.window.on_chat


def test_pages_come_and_go_by_key(stage: Stage) -> None:
    stage.bridge.answers["settings"] = {"schema": {"properties": {}}, "values": {}, "file": "settings.yaml"}
    stage.window.show_page("settings")
    stage.bridge.settle()
    assert not on_chat(stage)
    stage.conductor.on_escape()
    assert on_chat(stage)
    stage.window.show_page("about")
    stage.window.show_page("about")
    assert on_chat(stage)
