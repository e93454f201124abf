"""The window and the voice do together what the user expects, with a bridge that only records."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from runtime.errors import OrionError
from runtime.events import ApprovalRequired, StateChange
from tests.desktop.stage import Stage
from tests.desktop.voice_stage import hold, let_go, look, say, space, spoken_text
from voice import events as ev


def test_holding_the_button_speaks_and_letting_go_sends(stage: Stage) -> None:
    hold(stage)
    assert stage.bridge.names()[-1] == "press"
    assert look(stage) == "starting"
    assert stage.window.composer.editor.placeholderText() == "Getting the microphone ready…"
    say(stage, ev.State("idle"), ev.Devices((), ()), ev.State("hearing"))
    assert look(stage) == "starting", "the microphone is not open yet"
    say(stage, ev.State("hearing", open=True), ev.Level(0.5))
    assert look(stage) == "hearing"
    assert stage.window.composer.editor.placeholderText() == "Listening…"
    assert stage.window.status.microphone.isVisible()
    say(stage, ev.Partial("what is rain", 7))
    assert spoken_text(stage) == "what is rain"
    assert stage.window.composer.text() == ""
    let_go(stage)
    assert stage.bridge.names()[-1] == "release"
    say(stage, ev.Final("What is rain?", "en", 1.5), ev.State("thinking"))
    assert spoken_text(stage) == ""
    assert look(stage) == "thinking"
    assert stage.window.composer.editor.placeholderText() == "Write a message"


def test_the_key_in_the_window_does_the_same(qtbot: QtBot, stage: Stage) -> None:
    stage.voice.take_settings({"voice": {"push_to_talk_key": "Ctrl+Space", "global_hot_key": ""}})
    assert "Ctrl+Space" in stage.window.composer.voice.accessibleName()
    assert stage.voice.held_keys == [("Ctrl+Space", "Hold to talk")]
    space(stage, QEvent.Type.KeyPress)
    assert stage.bridge.names()[-1] == "press"
    hold(stage)
    let_go(stage)
    assert stage.bridge.names()[-1] == "press", "only what was pressed first counts"
    space(stage, QEvent.Type.KeyRelease)
    qtbot.waitUntil(lambda: stage.bridge.names()[-1] == "release")


def test_a_key_that_cannot_be_held_is_named(stage: Stage) -> None:
    stage.voice.take_settings({"voice": {"push_to_talk_key": "Return"}})
    assert "“Return” cannot be the key" in stage.window.toast.text.text()


def test_it_wakes_once_when_the_pointer_comes(stage: Stage) -> None:
    button = stage.window.composer.voice
    button.approached.emit()
    button.approached.emit()
    assert stage.bridge.names().count("wake") == 1
    used = [stage.voice.used]
    hold(stage)
    let_go(stage)
    assert [*used, stage.voice.used] == [False, True]


def test_what_was_typed_stays_beside_what_is_said(stage: Stage) -> None:
    editor = stage.window.composer.editor
    QTest.keyClicks(editor, "Look at this:")
    hold(stage)
    say(stage, ev.State("hearing", open=True), ev.Partial("how much rain", 3))
    assert spoken_text(stage) == " how much rain"
    assert stage.window.composer.text() == "Look at this:"
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    assert stage.bridge.names()[-1] == "cancel"
    assert spoken_text(stage) == ""
    say(stage, ev.Partial("how much rain fell", 3))
    assert spoken_text(stage) == ""
    let_go(stage)
    say(stage, ev.Final("", "", 1.0), ev.State("idle"))
    assert stage.window.composer.text() == "Look at this:"
    assert stage.window.toast.isHidden()


def test_escape_throws_away_before_it_stops_the_turn(stage: Stage) -> None:
    stage.happen(StateChange("IDLE", "THINKING"))
    hold(stage)
    say(stage, ev.State("hearing", open=True))
    stage.conductor.on_escape()
    assert stage.bridge.names()[-1] == "cancel"
    let_go(stage)
    say(stage, ev.Final(""), ev.State("speaking"))
    stage.conductor.on_escape()
    assert stage.bridge.names()[-1] == "hush"
    say(stage, ev.State("idle"))
    stage.conductor.on_escape()
    assert stage.bridge.last("cancel") == ("s1",), "now the turn itself is stopped"


def test_a_tap_says_that_the_button_is_held_but_not_when_it_stopped_the_voice(stage: Stage) -> None:
    say(stage, ev.State("speaking"), ev.Speaking("Rain.", "Rain.", 1.0))
    hold(stage)
    let_go(stage)
    assert stage.window.captions.isHidden()
    assert stage.window.toast.isHidden()
    say(stage, ev.State("idle"))
    hold(stage)
    let_go(stage)
    assert "Keep the button pressed" in stage.window.toast.text.text()
    assert look(stage) == "idle"


def test_a_host_for_voices_is_allowed_by_name(stage: Stage) -> None:
    say(stage, ev.Trouble("voice_host_refused", {"host": "speech.example"}))
    assert stage.window.toast.buttons[0].text() == "Allow speech.example"
    stage.window.toast.buttons[0].click()
    assert stage.bridge.last("allow_host") == ("speech.example",)


def test_a_refused_press_is_told(stage: Stage) -> None:
    stage.bridge.answers["press"] = OrionError("disk_full", path="sessions")
    hold(stage)
    stage.bridge.settle()
    assert "disk is full" in stage.window.toast.text.text()
    assert look(stage) == "idle"


def test_hands_free_is_a_line_of_the_menu(stage: Stage) -> None:
    menu = stage.window.composer.voice_options.menu()
    menu.aboutToShow.emit()
    assert not menu.actions()[0].isChecked()
    menu.actions()[0].trigger()
    assert stage.bridge.last("hands_free") == (True,)
    say(stage, ev.State("idle", on=True))
    assert stage.window.composer.voice.hands_free
    menu.aboutToShow.emit()
    assert menu.actions()[0].isChecked()
    menu.actions()[0].trigger()
    assert stage.bridge.last("hands_free") == (False,)


def test_escape_denies_a_question_that_is_read_aloud(stage: Stage) -> None:
    asked = ApprovalRequired("a1", "write_file", {}, "d", "medium", "Write a file", "+a", {"once": ""})
    stage.happen(StateChange("IDLE", "TOOL_CALLING"), asked)
    say(stage, ev.State("speaking"), ev.Speaking("May I?", "May I?", 1.0))
    stage.conductor.on_escape()
    assert stage.bridge.last("answer")[2] == "deny"
    say(stage, ev.State("idle"))


def test_voice_belongs_to_the_chat_in_front(stage: Stage) -> None:
    stage.talks.open("s2")
    stage.bridge.settle()
    assert stage.bridge.last("attach") == ("s2",)
    stage.talks.open("s1")
    assert stage.bridge.last("attach") == ("s1",)


def test_an_answer_is_read_aloud_on_request(stage: Stage) -> None:
    stage.window.chats.read_requested.emit("**Rain** falls.")
    assert stage.bridge.last("read_aloud") == ("**Rain** falls.",)
