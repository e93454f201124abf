"""Holding the microphone button, with the mouse and with keys, and how it looks meanwhile."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QImage, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.theme import DARK, LIGHT
from desktop.voice_button import Look, VoiceButton

LEFT = Qt.MouseButton.LeftButton


class Held:
    """A shown button and what it said."""

    def __init__(self, qtbot: QtBot) -> None:
        self.button = VoiceButton(LIGHT)
        qtbot.addWidget(self.button)
        self.button.show()
        self.seen: list[str] = []
        self.button.held.connect(lambda: self.seen.append("held"))
        self.button.let_go.connect(lambda: self.seen.append("let go"))


@pytest.fixture
def held(qtbot: QtBot) -> Held:
    return Held(qtbot)


def test_it_is_held_with_the_mouse_even_when_the_mouse_slips_off(held: Held) -> None:
    QTest.mousePress(held.button, LEFT)
    assert held.seen == ["held"]
    QTest.mouseMove(held.button, QPoint(200, 200))
    QTest.mouseRelease(held.button, LEFT, pos=QPoint(200, 200))
    assert held.seen == ["held", "let go"]
    QTest.mousePress(held.button, Qt.MouseButton.RightButton)
    assert held.seen == ["held", "let go"]


def test_it_is_held_with_the_keys_of_a_button(qtbot: QtBot, held: Held) -> None:
    for key in (Qt.Key.Key_Space, Qt.Key.Key_Return):
        held.seen.clear()
        QTest.keyPress(held.button, key)
        for kind in (QEvent.Type.KeyRelease, QEvent.Type.KeyPress):
            event = QKeyEvent(kind, key, Qt.KeyboardModifier.NoModifier, "", True)
            QApplication.sendEvent(held.button, event)
        assert held.seen == ["held"]
        QTest.keyRelease(held.button, key)
        QTest.keyPress(held.button, key)
        QTest.keyRelease(held.button, key)
        qtbot.waitUntil(lambda: held.seen == ["held", "let go"])


def test_it_is_let_go_when_it_goes_out_of_sight_or_loses_the_keyboard(held: Held) -> None:
    QTest.mousePress(held.button, LEFT)
    held.button.hide()
    assert held.seen == ["held", "let go"]
    held.button.show()
    QTest.keyPress(held.button, Qt.Key.Key_Space)
    QApplication.sendEvent(held.button, QEvent(QEvent.Type.WindowDeactivate))
    assert held.seen == ["held", "let go"] * 2


def test_a_screen_reader_presses_it_twice(held: Held) -> None:
    held.button.click()
    assert held.seen == ["held"]
    held.button.click()
    assert held.seen == ["held", "let go"]


def picture(button: VoiceButton) -> QImage:
    return button.grab().toImage()


def test_each_state_looks_and_is_called_differently(held: Held) -> None:
    looks: tuple[Look, ...] = ("idle", "starting", "hearing", "thinking", "speaking", "unavailable")
    names, pictures = set(), []
    for look in looks:
        held.button.set_look(look)
        names.add(held.button.accessibleName())
        assert held.button.toolTip() == held.button.accessibleName()
        pictures.append(picture(held.button))
    assert len(names) == len(looks)
    assert all(one != other for n, one in enumerate(pictures) for other in pictures[:n])
    held.button.set_look("unavailable", "There is no microphone.")
    assert held.button.accessibleName() == "There is no microphone."
    held.button.set_look("idle")


def test_it_names_its_key_and_that_it_listens_by_itself(held: Held) -> None:
    held.button.set_key("Ctrl+Space")
    assert held.button.accessibleName() == "Hold to talk, here or with Ctrl+Space"
    held.button.set_hands_free(True)
    assert held.button.accessibleName().startswith("Hands-free")


def test_loudness_is_seen_and_falls_softly(held: Held) -> None:
    held.button.set_look("hearing")
    quiet = picture(held.button)
    held.button.set_level(0.9)
    assert picture(held.button) != quiet
    held.button.set_level(0.0)
    assert 0 < held.button.level < 0.9
    held.button.set_look("idle")
    assert held.button.level == 0.0


def test_it_grows_with_the_text(held: Held) -> None:
    small = held.button.width()
    held.button.set_theme(DARK.scaled(2.0))
    assert held.button.width() == 2 * small
