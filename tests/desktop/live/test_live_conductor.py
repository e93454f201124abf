"""The pane opens when it is wanted, and what is done in it is asked of the runtime."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop.actions import install
from desktop.live.pane import LivePane
from runtime.computer_events import ComputerState, ReviewChanged, StateChanged, WheelChanged
from runtime.errors import OrionError
from tests.desktop.doubles import asked, card
from tests.desktop.live.sandbox_double import action, desktop_picture, frame_of
from tests.desktop.stage import Stage

WIDE, NARROW = (1300, 800), (760, 640)


def opened(stage: Stage) -> LivePane:
    stage.live.open()
    pane = stage.live.pane
    assert pane is not None
    return pane


def running(stage: Stage) -> LivePane:
    pane = opened(stage)
    stage.bridge.computed.emit(StateChanged(ComputerState("running")))
    stage.bridge.frames.open(1280, 800)
    stage.bridge.frames.put(frame_of(desktop_picture()))
    stage.bridge.pictured.emit()
    return pane


@pytest.fixture(autouse=True)
def _wide(stage: Stage) -> None:
    stage.window.resize(*WIDE)


def test_nothing_is_made_before_it_is_wanted(stage: Stage) -> None:
    stage.live.begin()
    assert stage.bridge.names()[-1] == "begin"
    assert stage.live.pane is None
    assert not stage.window.remember().pane


def test_the_button_and_the_key_open_and_close_it(stage: Stage, qtbot: QtBot) -> None:
    install(stage.window, stage.live.commands())
    stage.window.header.computer.click()
    assert stage.window.remember().pane
    qtbot.waitActive(stage.window)
    QTest.keyClick(
        stage.window,
        Qt.Key.Key_C,
        Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier,
    )
    assert not stage.window.beside.open
    qtbot.waitUntil(stage.window.composer.editor.hasFocus)


def test_what_was_told_before_is_shown_when_it_opens(stage: Stage) -> None:
    stage.bridge.computed.emit(StateChanged(ComputerState("lost", "computer_stopped")))
    stage.bridge.computed.emit(WheelChanged("agent", "s1", True))
    stage.bridge.computed.emit(ReviewChanged("s1", 2))
    pane = opened(stage)
    assert (pane.state.phase, pane.wheel.wheel.paused, pane.changes.isHidden()) == ("lost", True, False)


def test_the_first_action_opens_it_but_not_against_the_user(stage: Stage) -> None:
    stage.bridge.computed.emit(action())
    assert stage.window.beside.open
    pane = stage.live.pane
    assert pane is not None
    assert pane.log.lines.rowCount() == 1
    stage.live.close()
    stage.bridge.computed.emit(action(2))
    assert not stage.window.beside.open


def test_it_is_watched_while_it_is_seen(stage: Stage) -> None:
    opened(stage)
    assert stage.bridge.last("watch") == (True,)
    stage.window.show_page("settings")
    assert stage.bridge.last("watch") == (False,)
    stage.window.show_chat()
    assert stage.bridge.last("watch") == (True,)


def test_hands_and_buttons_ask_the_runtime(stage: Stage, qtbot: QtBot) -> None:
    pane = running(stage)
    qtbot.waitUntil(lambda: pane.view.fit is not None)
    stage.bridge.computed.emit(WheelChanged("agent", "s1", False))
    fit = pane.view.fit
    assert fit is not None
    QTest.mouseClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=fit.to_view(640, 400).toPoint())
    assert stage.bridge.last("steer")[0][-1] == {"do": "button", "button": "left", "down": False}
    pane.wheel.pause.click()
    stage.bridge.computed.emit(WheelChanged("agent", "s1", True))
    pane.wheel.step.click()
    pane.wheel.resume.click()
    pane.page.asked.emit("restart")
    pane.cancelled.emit()
    names = stage.bridge.names()
    assert {"pause", "step", "resume", "remedy", "cancel_build"} <= set(names)


def test_a_whole_run_is_undone_from_beside_the_chat(stage: Stage) -> None:
    pane = opened(stage)
    stage.bridge.answers["review_undo_run"] = {"undone": 3}
    stage.bridge.computed.emit(ReviewChanged("s1", 2, "r9"))
    menu = pane.undo_run.menu()
    assert menu is not None
    menu.aboutToShow.emit()
    menu.actions()[0].trigger()
    stage.bridge.settle()
    assert stage.bridge.last("review_undo_run") == ("r9",)
    assert "3 files are as they were before" in stage.window.toast.text.text()


def test_the_summary_of_the_hand_back_is_shown(stage: Stage) -> None:
    pane = running(stage)
    stage.bridge.answers["hand_back"] = "The user clicked once."
    stage.bridge.computed.emit(WheelChanged("user", "s1", True))
    pane.wheel.note.setText("Logged in")
    pane.wheel.back.click()
    stage.bridge.settle()
    assert stage.bridge.last("hand_back") == ("Logged in",)
    assert pane.wheel.summary.text() == "The agent was told: The user clicked once."


def test_clipboards_are_carried_only_at_the_users_word(stage: Stage) -> None:
    pane = running(stage)
    clipboard = QGuiApplication.clipboard()
    clipboard.setText("mine")
    stage.bridge.settle()
    assert "paste_in" not in stage.bridge.names()
    pane.paste_requested.emit()
    assert stage.bridge.last("paste_in") == ("mine",)
    stage.bridge.answers["copy_out"] = "theirs"
    pane.copy_requested.emit()
    stage.bridge.settle()
    assert clipboard.text() == "theirs"
    stage.bridge.answers["copy_out"] = ""
    pane.copy_requested.emit()
    stage.bridge.settle()
    assert clipboard.text() == "theirs"
    clipboard.clear()
    pane.paste_requested.emit()
    assert stage.bridge.names().count("paste_in") == 1


def test_what_fails_is_said_once(stage: Stage) -> None:
    pane = opened(stage)
    stage.bridge.answers["remedy"] = OrionError("computer_stopped")
    pane.asked.emit("start")
    stage.bridge.settle()
    assert stage.window.toast.isVisible()
    stage.window.toast.hide()
    stage.bridge.computed.emit(StateChanged(ComputerState("lost", "computer_stopped")))
    pane.asked.emit("retry")
    stage.bridge.settle()
    assert not stage.window.toast.isVisible()


def test_where_it_is_narrow_a_question_stays_in_sight(stage: Stage, qtbot: QtBot) -> None:
    stage.window.resize(*NARROW)
    opened(stage)
    qtbot.waitUntil(lambda: not stage.window.chats.isVisible())
    stage.bridge.answers["card"] = lambda session: card(session, pending=[asked()])
    stage.window.approval.set_pending([asked()])
    assert stage.window.approval.isVisible()
    assert stage.live.pane is not None
    assert not stage.live.pane.isAncestorOf(stage.window.approval)
    stage.live.close()
    assert stage.window.chats.isVisible()


def test_the_round_of_the_window_goes_through_the_pane(stage: Stage, qtbot: QtBot) -> None:
    pane = opened(stage)
    qtbot.waitActive(stage.window)
    stage.window.composer.editor.setFocus()
    reached = []
    for _step in range(5):
        stage.window.focus_next_part()
        reached.append(pane.isAncestorOf(stage.window.focusWidget()))
    assert any(reached)


def test_where_it_is_narrow_another_chat_is_seen_when_it_is_opened(stage: Stage) -> None:
    stage.window.resize(*NARROW)
    opened(stage)
    stage.window.sidebar.open_requested.emit("s2")
    assert stage.window.chats.isVisible()
    stage.window.resize(*WIDE)
    opened(stage)
    stage.window.sidebar.new_requested.emit(False)
    assert stage.window.beside.open


def test_in_the_smallest_window_a_question_can_be_answered_over_the_pane(stage: Stage, qtbot: QtBot) -> None:
    stage.window.resize(720, 480)
    running(stage)
    stage.bridge.computed.emit(WheelChanged("user", "s1", True))
    stage.bridge.computed.emit(action())
    stage.window.approval.set_pending([asked()])
    stage.window.approval.fit(480)
    approve, composer = stage.window.approval.approve, stage.window.composer

    def fits() -> bool:
        foot = approve.mapTo(stage.window, approve.rect().bottomLeft()).y()
        return (
            approve.height() >= approve.minimumSizeHint().height()
            and foot < composer.mapTo(stage.window, composer.rect().topLeft()).y()
        )

    qtbot.waitUntil(fits)
    assert stage.window.height() == 480
