"""Which keys may be held, and that a window notices each hold exactly once."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QPlainTextEdit
from pytestqt.qtbot import QtBot

from desktop.held_key import WindowKey, held_key

CONTROL, NONE = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.NoModifier
DOWN, UP = QEvent.Type.KeyPress, QEvent.Type.KeyRelease


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ctrl+Space", "Ctrl+Space"),
        ("ctrl+space", "Ctrl+Space"),
        ("F8", "F8"),
        ("Shift+F9", "Shift+F9"),
        ("Alt+A", "Alt+A"),
        ("Meta+V", "Meta+V"),
        ("Pause", "Pause"),
        ("", None),
        ("nonsense", None),
        ("A", None),
        ("Shift+A", None),
        ("Space", None),
        ("Return", None),
        ("Ctrl+Esc", None),
        ("Ctrl", None),
        ("Ctrl+K, Ctrl+C", None),
        ("Up", None),
    ],
)
def test_a_key_that_is_needed_for_writing_is_no_key_to_hold(text: str, name: str | None) -> None:
    found = held_key(text)
    assert (found.name if found else None) == name


class Watched:
    """A field in a window that is watched for Ctrl+Space, and what was noticed."""

    def __init__(self, qtbot: QtBot) -> None:
        self.field = QPlainTextEdit()
        qtbot.addWidget(self.field)
        self.key = WindowKey(self.field)
        self.key.set_key(held_key("Ctrl+Space"))
        self.field.show()
        self.seen: list[str] = []
        self.key.pressed.connect(lambda: self.seen.append("down"))
        self.key.released.connect(lambda: self.seen.append("up"))

    def send(
        self,
        kind: QEvent.Type,
        key: Qt.Key,
        held: Qt.KeyboardModifier,
        text: str = "",
        *,
        repeat: bool = False,
    ) -> None:
        QApplication.sendEvent(self.field.windowHandle(), QKeyEvent(kind, key, held, text, repeat))


@pytest.fixture
def watched(qtbot: QtBot) -> Watched:
    return Watched(qtbot)


def test_a_hold_is_noticed_once_however_often_it_repeats(qtbot: QtBot, watched: Watched) -> None:
    watched.send(DOWN, Qt.Key.Key_Control, CONTROL)
    watched.send(DOWN, Qt.Key.Key_Space, CONTROL, " ")
    for _ in range(3):
        watched.send(UP, Qt.Key.Key_Space, CONTROL, " ", repeat=True)
        watched.send(DOWN, Qt.Key.Key_Space, CONTROL, " ", repeat=True)
        watched.send(UP, Qt.Key.Key_Space, CONTROL, " ")
        watched.send(DOWN, Qt.Key.Key_Space, CONTROL, " ")
    assert watched.seen == ["down"]
    watched.send(UP, Qt.Key.Key_Space, CONTROL, " ")
    qtbot.waitUntil(lambda: watched.seen == ["down", "up"])
    assert watched.field.toPlainText() == ""


def test_letting_the_modifier_go_ends_it_and_what_repeats_is_not_written(
    qtbot: QtBot, watched: Watched
) -> None:
    watched.send(DOWN, Qt.Key.Key_Space, CONTROL, " ")
    watched.send(UP, Qt.Key.Key_Control, NONE)
    assert watched.seen == ["down", "up"]
    for _ in range(3):
        watched.send(UP, Qt.Key.Key_Space, NONE, " ")
        watched.send(DOWN, Qt.Key.Key_Space, NONE, " ")
    watched.send(UP, Qt.Key.Key_Space, NONE, " ")
    assert watched.field.toPlainText() == ""
    qtbot.waitUntil(lambda: not watched.key._hold.down)
    watched.send(DOWN, Qt.Key.Key_Space, NONE, " ")
    assert watched.field.toPlainText() == " "
    assert watched.seen == ["down", "up"]


def test_a_window_that_loses_the_keyboard_lets_go(watched: Watched) -> None:
    watched.send(DOWN, Qt.Key.Key_Space, CONTROL, " ")
    QApplication.sendEvent(watched.field.windowHandle(), QFocusEvent(QEvent.Type.FocusOut))
    assert watched.seen == ["down", "up"]


def test_other_keys_are_written(watched: Watched) -> None:
    watched.send(DOWN, Qt.Key.Key_A, NONE, "a")
    watched.send(DOWN, Qt.Key.Key_Space, NONE, " ")
    watched.send(UP, Qt.Key.Key_Space, NONE, " ")
    assert watched.field.toPlainText() == "a "
    assert watched.seen == []


def test_no_key_is_watched_after_it_was_taken_away(watched: Watched) -> None:
    watched.send(DOWN, Qt.Key.Key_Space, CONTROL, " ")
    watched.key.set_key(None)
    assert watched.seen == ["down", "up"]
    watched.send(DOWN, Qt.Key.Key_Space, CONTROL, " ")
    assert watched.seen == ["down", "up"]
