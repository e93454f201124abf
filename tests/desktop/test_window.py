"""The window lays out its parts, small and large, and remembers."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QLineEdit, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from desktop.pages import pages
from desktop.theme import DARK, LIGHT
from desktop.window import MainWindow, window_title
from desktop.window_state import WindowState
from tests.desktop.doubles import asked, card, listed, overview


@pytest.fixture
def window(qtbot: QtBot) -> MainWindow:
    made = MainWindow(LIGHT, pages(), WindowState())
    qtbot.addWidget(made)
    found = overview()
    made.header.set_choices(found["profiles"], found["models"])
    made.header.show_card(card(title="A rather long title of a chat about the budget"))
    made.sidebar.set_sessions([listed(f"s{n}", f"Chat {n}") for n in range(30)])
    made.show()
    return made


def overlaps(one: QWidget, other: QWidget, window: MainWindow) -> bool:
    first = one.rect().translated(one.mapTo(window, one.rect().topLeft()))
    second = other.rect().translated(other.mapTo(window, other.rect().topLeft()))
    return first.intersects(second)


def test_the_smallest_window_shows_everything_that_is_needed(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(720, 480)
    window.approval.set_pending([asked()])
    window.approval.fit(480)
    qtbot.waitUntil(lambda: window.approval.approve.isVisible() and window.approval.isVisible())
    qtbot.waitUntil(lambda: not overlaps(window.approval, window.composer, window))
    for part in (window.approval.approve, window.approval.deny, window.composer.action, window.header.where):
        corner = part.mapTo(window, part.rect().bottomRight())
        assert window.rect().contains(corner), part
        assert part.height() >= part.minimumSizeHint().height(), part
    assert window.chats.height() >= 40


def test_the_sidebar_hides_and_is_remembered(window: MainWindow) -> None:
    assert window.header.sidebar_button.isHidden()
    window.toggle_sidebar()
    assert window.sidebar.isHidden()
    assert not window.header.sidebar_button.isHidden()
    assert not window.remember().sidebar
    window.header.sidebar_button.click()
    assert not window.sidebar.isHidden()


def test_geometry_survives(qtbot: QtBot, window: MainWindow) -> None:
    window.resize(760, 520)
    state = window.remember()
    again = MainWindow(LIGHT, pages(), state)
    qtbot.addWidget(again)
    assert (again.width(), again.height()) == (760, 520)


def test_broken_geometry_means_the_usual_size(qtbot: QtBot) -> None:
    made = MainWindow(LIGHT, pages(), WindowState(geometry="bm90IGdlb21ldHJ5"))
    qtbot.addWidget(made)
    assert (made.width(), made.height()) == (1120, 760)


def test_every_control_has_a_name(window: MainWindow) -> None:
    nameless = []
    for kind in (QAbstractButton, QLineEdit, QPlainTextEdit, QAbstractItemView):
        for control in window.findChildren(kind):
            inside_editor = control.objectName().startswith("qt_")
            named = control.accessibleName() or getattr(control, "text", str)()
            if not named and not inside_editor and control.isVisibleTo(window):
                nameless.append(repr(control))
    assert nameless == []


def test_the_keyboard_reaches_everything(window: MainWindow) -> None:
    reached: set[QWidget] = set()
    at: QWidget = window.composer.editor
    for _step in range(400):
        following = at.nextInFocusChain()
        assert following is not None
        at = following
        if at.focusPolicy() & Qt.FocusPolicy.TabFocus and at.isVisibleTo(window):
            reached.add(at)
    for part in (
        window.sidebar.new_button,
        window.sidebar.private_button,
        window.sidebar.search,
        window.sidebar.list,
        window.header.profile,
        window.header.model,
        window.composer.editor,
        window.composer.attach,
        window.composer.action,
    ):
        assert part in reached, part.accessibleName()


def test_one_key_goes_round_the_parts(window: MainWindow, qtbot: QtBot) -> None:
    rows = [{"kind": "user", "id": "r1", "text": "hello", "time": 0.0, "source": "window"}]
    window.chats.show_session(card("s1", rows=rows))
    window.show_chat()
    qtbot.waitUntil(window.composer.editor.hasFocus)
    order = []
    for _step in range(3):
        window.focus_next_part()
        order.append(window.focusWidget())
    assert order == [window.sidebar.list, window.chats.transcript, window.composer.editor]
    window.approval.set_pending([asked()])
    window.chats.setFocus()
    window.approval.detail.setFocus()
    window.focus_next_part()
    assert window.focusWidget() is window.composer.editor


def test_the_theme_changes_while_it_runs(window: MainWindow) -> None:
    before = window.sidebar.private_button.icon().cacheKey()
    window.set_theme(DARK)
    assert window.sidebar.private_button.icon().cacheKey() != before


def test_titles_of_the_window() -> None:
    assert window_title(card(title="Budget")) == "Budget – Orion"
    assert window_title(card()) == "New chat – Orion"


def test_a_letter_that_no_part_takes_is_meant_for_the_message(qtbot: QtBot, window: MainWindow) -> None:
    window.show()
    window.composer.set_ready(True)
    window.status.context.setFocus()
    QTest.keyClick(window.status.context, Qt.Key.Key_H)
    QTest.keyClick(window.status.context, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert window.composer.text() == "h"
    window.chats.show_session(card(rows=[{"kind": "user", "id": "m", "text": "hi", "time": 0.0}]))
    transcript = window.chats.transcript
    assert transcript is not None
    transcript.setFocus()
    QTest.keyClick(transcript, Qt.Key.Key_U)
    assert window.composer.text() == "h"


def test_what_is_typed_first_is_the_message(window: MainWindow) -> None:
    window.show()
    assert window.focusWidget() is window.composer.editor
