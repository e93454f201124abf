"""Keys become text or X11 names."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent

from desktop.live.keys import keysym, step_of

NONE = Qt.KeyboardModifier.NoModifier
CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier
META = Qt.KeyboardModifier.MetaModifier


def pressed(key: int, held: Qt.KeyboardModifier = NONE, text: str = "") -> QKeyEvent:
    return QKeyEvent(QEvent.Type.KeyPress, key, held, text)


@pytest.mark.parametrize(
    ("key", "held", "text", "step"),
    [
        (Qt.Key.Key_A, NONE, "a", {"do": "type", "text": "a"}),
        (Qt.Key.Key_A, SHIFT, "A", {"do": "type", "text": "A"}),
        (Qt.Key.Key_Space, NONE, " ", {"do": "type", "text": " "}),
        (Qt.Key.Key_Adiaeresis, NONE, "ä", {"do": "type", "text": "ä"}),
        (Qt.Key.Key_At, Qt.KeyboardModifier.GroupSwitchModifier, "@", {"do": "type", "text": "@"}),
        (Qt.Key.Key_Return, NONE, "\r", {"do": "key", "key": "Return"}),
        (Qt.Key.Key_Escape, NONE, "\x1b", {"do": "key", "key": "Escape"}),
        (Qt.Key.Key_Tab, NONE, "\t", {"do": "key", "key": "Tab"}),
        (Qt.Key.Key_Backtab, SHIFT, "", {"do": "key", "key": "shift+Tab"}),
        (Qt.Key.Key_S, CTRL, "\x13", {"do": "key", "key": "ctrl+s"}),
        (Qt.Key.Key_Z, CTRL | SHIFT, "\x1a", {"do": "key", "key": "ctrl+shift+z"}),
        (Qt.Key.Key_Plus, CTRL, "+", {"do": "key", "key": "ctrl+plus"}),
        (Qt.Key.Key_F4, ALT, "", {"do": "key", "key": "alt+F4"}),
        (Qt.Key.Key_Left, CTRL | SHIFT, "", {"do": "key", "key": "ctrl+shift+Left"}),
        (Qt.Key.Key_L, META, "l", {"do": "key", "key": "super+l"}),
        (0x444, CTRL, "", {"do": "key", "key": "ctrl+U0444"}),
        (Qt.Key.Key_Control, CTRL, "", None),
        (Qt.Key.Key_unknown, NONE, "", None),
    ],
)
def test_what_a_key_means(
    key: int, held: Qt.KeyboardModifier, text: str, step: dict[str, str] | None
) -> None:
    assert step_of(pressed(int(key), held, text)) == step


def test_every_printable_sign_has_a_name() -> None:
    for number in range(0x20, 0x7F):
        name = keysym(chr(number))
        assert name
        assert name.isascii()
        assert name.replace("_", "").isalnum()
    assert keysym("ab") is None
