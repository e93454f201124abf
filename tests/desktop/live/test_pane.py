"""The pane shows the picture while the sandbox runs, a page otherwise, and always who is at the wheel."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QLineEdit, QTreeView, QWidget
from pytestqt.qtbot import QtBot

from desktop.live.frames import FrameBox
from desktop.live.pane import LivePane
from desktop.theme import DARK, LIGHT
from runtime.computer_events import ComputerState, WheelChanged
from tests.desktop.live.sandbox_double import action, desktop_picture, frame_of

RUNNING = ComputerState("running")


@pytest.fixture
def pane(qtbot: QtBot) -> LivePane:
    frames = FrameBox()
    made = LivePane(LIGHT, frames)
    qtbot.addWidget(made)
    made.resize(620, 760)
    made.show()
    made.show_state(RUNNING)
    frames.open(1280, 800)
    frames.put(frame_of(desktop_picture()))
    made.view.on_pictured()
    qtbot.waitActive(made)
    return made


def test_the_picture_is_there_while_it_runs(pane: LivePane) -> None:
    assert pane.view.isVisible()
    assert pane.view.fit is not None
    pane.show_state(ComputerState("lost", "computer_stopped"))
    assert not pane.view.isVisible()
    assert pane.page.isVisible()
    assert not pane.clipboard.isVisible()
    assert not pane.badge.isVisible()
    pane.show_state(RUNNING)
    assert pane.view.isVisible()


def test_the_keyboard_stays_where_the_user_writes(qtbot: QtBot) -> None:
    """Also where it was in the pane before: a start, a loss and a change of the wheel do not fetch it."""
    window = QWidget()
    qtbot.addWidget(window)
    row, editor, pane = QHBoxLayout(window), QLineEdit(), LivePane(LIGHT, FrameBox())
    row.addWidget(editor)
    row.addWidget(pane)
    window.resize(900, 760)
    window.show()
    qtbot.waitActive(window)
    pane.take_keyboard()
    assert pane.isAncestorOf(window.focusWidget())
    pane.show_state(RUNNING)
    assert pane.isAncestorOf(window.focusWidget())
    pane.show_state(ComputerState("lost", "computer_stopped"))
    assert pane.page.isAncestorOf(window.focusWidget())
    editor.setFocus()
    for state in (RUNNING, ComputerState("lost", "computer_stopped"), RUNNING):
        pane.show_state(state)
        assert window.focusWidget() is editor
    for holder in ("agent", "user", "nobody"):
        pane.show_wheel(WheelChanged(holder, "s1", False))
        assert window.focusWidget() is editor


def test_who_is_at_the_wheel_is_said_in_words(pane: LivePane) -> None:
    shown = []
    for wheel in (
        WheelChanged("nobody", "", False),
        WheelChanged("agent", "s1", False),
        WheelChanged("agent", "s1", True),
        WheelChanged("agent", "s1", True, True),
        WheelChanged("user", "s1", True),
    ):
        pane.show_wheel(wheel)
        shown.append((pane.badge.text(), pane.wheel.words.text()))
    assert len(set(shown)) == 5
    assert [badge for badge, _words in shown] == [
        "Idle",
        "The agent works",
        "Paused",
        "One step…",
        "You are at the wheel",
    ]
    assert "leaves the picture" in shown[-1][1]


def test_the_buttons_fit_who_is_at_the_wheel(pane: LivePane, qtbot: QtBot) -> None:
    bar = pane.wheel
    pane.show_wheel(WheelChanged("agent", "s1", False))
    assert (bar.pause.isVisible(), bar.step.isVisible(), bar.back.isVisible()) == (True, False, False)
    with qtbot.waitSignal(bar.pause_requested):
        bar.pause.click()
    pane.show_wheel(WheelChanged("agent", "s1", True))
    with qtbot.waitSignals([bar.step_requested, bar.resume_requested]):
        bar.step.click()
        bar.resume.click()
    pane.show_wheel(WheelChanged("agent", "s1", True, True))
    assert not bar.step.isEnabled()
    pane.show_wheel(WheelChanged("user", "s1", True))
    bar.note.setText("  I logged in ")
    with qtbot.waitSignal(bar.handed_back) as told:
        QTest.keyClick(bar.note, Qt.Key.Key_Return)
    assert told.args == ["I logged in"]
    assert bar.note.text() == ""


def test_the_chord_leads_to_the_hand_back_and_on(pane: LivePane) -> None:
    pane.show_wheel(WheelChanged("user", "s1", True))
    pane.view.setFocus()
    ctrl, alt = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
    QTest.keyPress(pane.view, Qt.Key.Key_Control, ctrl)
    QTest.keyPress(pane.view, Qt.Key.Key_Alt, ctrl | alt)
    QTest.keyRelease(pane.view, Qt.Key.Key_Alt, ctrl)
    assert pane.wheel.back.hasFocus()
    pane.show_wheel(WheelChanged("agent", "s1", False))
    assert pane.wheel.pause.hasFocus()
    pane.show_wheel(WheelChanged("nobody", "", False))
    assert pane.zoom.hasFocus()


def test_the_summary_stays_until_the_wheel_is_taken_again(pane: LivePane) -> None:
    pane.show_wheel(WheelChanged("user", "s1", True))
    pane.wheel.show_summary("You changed notes.md.")
    pane.show_wheel(WheelChanged("agent", "s1", False))
    pane.on_action(action())
    assert pane.wheel.summary.isVisible()
    pane.show_wheel(WheelChanged("user", "s1", True))
    assert not pane.wheel.summary.isVisible()


def test_actions_open_the_list(pane: LivePane) -> None:
    assert not pane.log.isVisible()
    pane.on_action(action())
    assert pane.log.isVisible()
    assert pane.log.lines.rowCount() == 1


def test_changes_offer_a_review(pane: LivePane, qtbot: QtBot) -> None:
    assert not pane.changes.isVisible()
    pane.show_changes(3)
    assert pane.changed.text().startswith("3 ")
    with qtbot.waitSignal(pane.review_requested):
        pane.review.click()
    pane.show_changes(0)
    assert not pane.changes.isVisible()


def test_a_whole_run_is_undone_by_the_keyboard(pane: LivePane, qtbot: QtBot) -> None:
    pane.show_changes(3)
    assert not pane.undo_run.isVisible()
    pane.show_changes(3, "r9")
    assert pane.undo_run.isVisible()
    assert pane.undo_run.focusPolicy() & Qt.FocusPolicy.TabFocus
    assert "last run" in pane.undo_run.accessibleName()
    menu = pane.undo_run.menu()
    assert menu is not None
    menu.aboutToShow.emit()
    (action,) = menu.actions()
    with qtbot.waitSignal(pane.undo_requested) as asked:
        action.trigger()
    assert asked.args == ["r9"]
    assert "your folder" in action.text()


def test_it_watches_only_while_it_can_be_seen(pane: LivePane) -> None:
    watched: list[bool] = []
    pane.watching.connect(watched.append)
    pane.hide()
    pane.show()
    assert watched == [False, True]


def test_the_clipboard_is_carried_only_when_asked(pane: LivePane, qtbot: QtBot) -> None:
    menu = pane.clipboard.menu()
    menu.aboutToShow.emit()
    copy, put = menu.actions()
    with qtbot.waitSignal(pane.copy_requested):
        copy.trigger()
    with qtbot.waitSignal(pane.paste_requested):
        put.trigger()


def test_the_menu_offers_what_the_state_offers(pane: LivePane, qtbot: QtBot) -> None:
    menu = pane.more.menu()
    menu.aboutToShow.emit()
    assert [line.text() for line in menu.actions()] == ["Stop", "Restart", "Empty it and start over"]
    with qtbot.waitSignal(pane.asked) as asked:
        menu.actions()[1].trigger()
    assert asked.args == ["restart"]


def test_every_control_has_a_name(pane: LivePane) -> None:
    pane.show_wheel(WheelChanged("user", "s1", True))
    pane.on_action(action())
    pane.show_changes(2)
    for kind in (QAbstractButton, QLineEdit, QTreeView):
        for control in pane.findChildren(kind):
            if control.isVisibleTo(pane) and not control.objectName().startswith("qt_"):
                assert control.accessibleName() or getattr(control, "text", str)(), control
    assert pane.view.accessibleName()


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_it_fits_a_narrow_place(pane: LivePane, scale: float) -> None:
    pane.set_theme(DARK.scaled(scale))
    pane.show_wheel(WheelChanged("user", "s1", True))
    pane.on_action(action())
    pane.setMinimumWidth(0)
    pane.resize(440, 480)
    assert pane.wheel.back.mapTo(pane, pane.wheel.back.rect().bottomRight()).x() < 440
    assert pane.view.height() >= 100


def test_where_it_is_low_it_shows_less_but_nothing_squeezed(pane: LivePane, qtbot: QtBot) -> None:
    pane.show_wheel(WheelChanged("user", "s1", True))
    pane.on_action(action())
    pane.show_changes(2)
    parts = {"list": pane.log, "review": pane.changes, "picture": pane.view, "wheel": pane.wheel.back}
    gone: list[str] = []
    for height in range(700, 50, -10):
        pane.resize(620, height)
        gone += [name for name, part in parts.items() if not part.isVisible() and name not in gone]
    assert gone == ["list", "review", "picture", "wheel"]
    assert pane.badge.isVisible()
    pane.resize(620, 700)
    qtbot.waitUntil(lambda: all(part.isVisible() for part in parts.values()))
