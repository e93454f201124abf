"""A person at the window's voice: what they hold and let go, and what the voice says meanwhile."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QTextLayout
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from runtime.conversation_events import ConversationEvent
from tests.desktop.stage import Stage

LEFT = Qt.MouseButton.LeftButton


def say(stage: Stage, *events: ConversationEvent) -> None:
    for event in events:
        stage.bridge.spoke.emit(event)


def spoken_text(stage: Stage) -> str:
    """The words in the composer that are not part of the message."""
    layout: QTextLayout = stage.window.composer.editor.textCursor().block().layout()
    return layout.preeditAreaText()


def look(stage: Stage) -> str:
    return stage.window.composer.voice.look


def hold(stage: Stage) -> None:
    QTest.mousePress(stage.window.composer.voice, LEFT)


def let_go(stage: Stage) -> None:
    QTest.mouseRelease(stage.window.composer.voice, LEFT)


def space(stage: Stage, kind: QEvent.Type) -> None:
    event = QKeyEvent(kind, Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier, " ")
    QApplication.sendEvent(stage.window.windowHandle(), event)
