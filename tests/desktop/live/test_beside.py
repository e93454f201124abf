"""Chat and pane share the width, or take turns where it is short; what is asked stays in sight."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from desktop.live.beside import CHAT_LEAST, PANE_LEAST, Beside


class Parts:
    """A chat, a foot, and a pane with a field in it."""

    def __init__(self, qtbot: QtBot) -> None:
        self.chats, self.foot, self.pane = QWidget(), QWidget(), QWidget()
        self.foot.setFixedHeight(50)
        self.field = QLineEdit(self.pane)
        self.beside = Beside(self.chats, self.foot)
        qtbot.addWidget(self.beside)
        self.beside.resize(1000, 600)
        self.beside.show()
        self.beside.set_pane(self.pane)
        qtbot.waitActive(self.beside)


@pytest.fixture
def parts(qtbot: QtBot) -> Parts:
    return Parts(qtbot)


def test_both_are_seen_where_both_fit(parts: Parts, qtbot: QtBot) -> None:
    assert not parts.beside.open
    qtbot.waitUntil(lambda: parts.chats.width() == 1000)
    parts.beside.show_pane(True)
    assert parts.chats.isVisible()
    assert parts.pane.width() == pytest.approx(550, abs=3)
    assert parts.chats.width() >= CHAT_LEAST
    parts.beside.show_pane(False)
    qtbot.waitUntil(lambda: parts.chats.width() == 1000)


def test_where_it_is_narrow_they_take_turns_over_the_same_foot(parts: Parts) -> None:
    parts.beside.resize(CHAT_LEAST + PANE_LEAST - 10, 600)
    parts.beside.show_pane(True)
    assert parts.beside.narrow
    assert not parts.chats.isVisible()
    assert parts.pane.isVisible()
    assert parts.foot.isVisible()
    assert parts.pane.width() == parts.beside.width()
    parts.beside.show_pane(False)
    assert parts.chats.isVisible()
    assert not parts.pane.isVisible()


def test_the_keyboard_stays_where_it_is(parts: Parts) -> None:
    parts.beside.show_pane(True)
    parts.field.setFocus()
    parts.beside.resize(600, 600)
    assert parts.field.hasFocus()
    parts.beside.resize(1200, 600)
    assert parts.field.hasFocus()
    assert parts.chats.isVisible()


def test_larger_type_needs_more_room(parts: Parts) -> None:
    parts.beside.show_pane(True)
    assert not parts.beside.narrow
    parts.beside.set_scale(2.0)
    assert parts.beside.narrow


def test_the_share_is_remembered(qtbot: QtBot, parts: Parts) -> None:
    parts.beside.show_pane(True)
    parts.beside.setSizes([500, 500])
    parts.beside.splitterMoved.emit(500, 1)
    assert parts.beside.share == pytest.approx(0.5, abs=0.01)
    again = Beside(QWidget(), QWidget(), parts.beside.share)
    qtbot.addWidget(again)
    assert again.share == parts.beside.share
    broken = Beside(QWidget(), QWidget(), 7.5)
    qtbot.addWidget(broken)
    assert 0 < broken.share < 1
