"""The picture is drawn exactly, and a hand on it arrives at the pixel it points to."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QColor, QImage, QInputMethodEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from desktop.live.frames import FrameBox
from desktop.live.screen_view import ScreenView
from desktop.theme import LIGHT
from tests.desktop.live.sandbox_double import action, desktop_picture, frame_of

LEFT = Qt.MouseButton.LeftButton


class Scene:
    """A view with a picture in it, beside a field that can have the keyboard."""

    def __init__(self, qtbot: QtBot, size: tuple[int, int] = (640, 400)) -> None:
        self.frames = FrameBox()
        self.view = ScreenView(LIGHT, self.frames)
        self.field = QLineEdit()
        self.window = QWidget()
        row = QHBoxLayout(self.window)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.view)
        row.addWidget(self.field)
        self.view.setFixedSize(*size)
        self.field.setFixedWidth(60)
        qtbot.addWidget(self.window)
        self.window.show()
        qtbot.waitActive(self.window)
        self.field.setFocus()
        self.steps: list[dict[str, Any]] = []
        self.view.steered.connect(lambda steps: self.steps.extend(steps))
        self.picture = desktop_picture()
        self.frames.open(1280, 800)
        self.draw()
        qtbot.waitUntil(lambda: self.view.fit is not None)

    def draw(self, *rects: QRect) -> None:
        if self.frames.put(frame_of(self.picture, *rects)):
            self.view.on_pictured()

    def at(self, x: int, y: int) -> QPoint:
        fit = self.view.fit
        assert fit is not None
        point = fit.to_view(x, y)
        return QPoint(int(point.x()), int(point.y()))

    def taken(self) -> list[dict[str, Any]]:
        found = list(self.steps)
        self.steps.clear()
        return found


@pytest.fixture
def scene(qtbot: QtBot) -> Scene:
    return Scene(qtbot)


def test_where_it_fits_every_pixel_is_that_of_the_screen(qtbot: QtBot) -> None:
    scene = Scene(qtbot, (1300, 840))
    shown = scene.view.viewport().grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    assert shown.copy(QRect(60, 70, 1200, 700)) == scene.picture.copy(QRect(50, 50, 1200, 700))


def test_only_what_changed_is_painted(scene: Scene, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not scene.view._motion.isActive())
    painted: list[QRect] = []

    class Watcher(QWidget):
        def eventFilter(self, _watched: Any, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Paint:
                painted.append(event.rect())  # type: ignore[attr-defined]
            return False

    watcher = Watcher(scene.window)
    scene.view.viewport().installEventFilter(watcher)
    scene.picture.setPixelColor(900, 600, QColor("red"))
    scene.draw(QRect(890, 590, 20, 20))
    qtbot.waitUntil(lambda: any(rect.contains(scene.at(900, 600)) for rect in painted))
    assert all(rect.width() < 120 for rect in painted), painted


def test_the_newest_picture_wins_and_is_not_drawn_more_often_than_seen(scene: Scene, qtbot: QtBot) -> None:
    for n in range(50):
        scene.picture.fill(QColor(n, 0, 0))
        scene.draw()
    qtbot.waitUntil(lambda: scene.view.image.pixelColor(9, 9) == QColor(49, 0, 0))


def test_a_click_takes_the_wheel_and_is_passed_on(scene: Scene) -> None:
    scene.view.set_holder("agent")
    QTest.mouseMove(scene.view.viewport(), scene.at(10, 10))
    assert scene.taken() == []
    QTest.mouseClick(scene.view.viewport(), LEFT, pos=scene.at(640, 400))
    move = {"do": "move", "x": 640, "y": 400}
    assert scene.taken() == [
        move,
        {"do": "button", "button": "left", "down": True},
        move,
        {"do": "button", "button": "left", "down": False},
    ]
    assert scene.view.hasFocus()


def test_a_click_beside_the_picture_is_nothing(qtbot: QtBot) -> None:
    scene = Scene(qtbot, (640, 600))
    QTest.mouseClick(scene.view.viewport(), LEFT, pos=QPoint(20, 20))
    assert scene.taken() == []


def test_a_drag_ends_inside_and_its_button_is_never_left_down(scene: Scene) -> None:
    port = scene.view.viewport()
    QTest.mousePress(port, LEFT, pos=scene.at(100, 100))
    QTest.mouseMove(port, scene.at(200, 100))
    QTest.mouseMove(port, QPoint(9000, 100))
    assert scene.taken()[-1] == {"do": "move", "x": 1279, "y": 200}
    scene.field.setFocus()
    assert scene.taken()[-1] == {"do": "button", "button": "left", "down": False}
    QTest.mouseRelease(port, LEFT, pos=scene.at(100, 100))
    assert scene.taken() == []


def test_modifiers_double_clicks_and_the_wheel(scene: Scene) -> None:
    scene.view.set_holder("user")
    port, spot = scene.view.viewport(), scene.at(300, 200)
    QTest.mousePress(port, LEFT, Qt.KeyboardModifier.ControlModifier, spot)
    held = scene.taken()
    assert (held[0], held[-1]) == ({"do": "press", "key": "ctrl"}, {"do": "release"})
    QTest.mouseRelease(port, LEFT, pos=spot)
    scene.taken()
    QTest.mouseDClick(port, LEFT, pos=spot)
    QTest.mouseRelease(port, LEFT, pos=spot)
    assert [step["down"] for step in scene.taken() if step["do"] == "button"] == [True, False]
    for turned in (60, 60, -240):
        where = QPointF(spot)
        QApplication.sendEvent(
            port,
            QWheelEvent(
                where,
                where,
                QPoint(),
                QPoint(0, turned),
                Qt.MouseButton.NoButton,
                Qt.KeyboardModifier.NoModifier,
                Qt.ScrollPhase.NoScrollPhase,
                False,
            ),
        )
    assert [(step["dx"], step["dy"]) for step in scene.taken() if step["do"] == "scroll"] == [(0, -1), (0, 2)]


def test_keys_go_to_the_sandbox_only_from_the_picture(scene: Scene) -> None:
    scene.view.set_holder("agent")
    scene.view.setFocus()
    QTest.keyClick(scene.view, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(scene.view, Qt.Key.Key_Escape)
    assert scene.taken() == []
    QTest.keyClicks(scene.view, "Ab")
    assert scene.taken() == [{"do": "type", "text": "A"}, {"do": "type", "text": "b"}]
    QTest.keyClick(scene.view, Qt.Key.Key_Tab)
    assert not scene.view.hasFocus()


def test_at_the_wheel_every_key_but_the_chord_is_taken(scene: Scene, qtbot: QtBot) -> None:
    scene.view.set_holder("user")
    scene.view.setFocus()
    QTest.keyClick(scene.view, Qt.Key.Key_Tab)
    QTest.keyClick(scene.view, Qt.Key.Key_Escape)
    QTest.keyClick(scene.view, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    assert [step["key"] for step in scene.taken()] == ["Tab", "Escape", "ctrl+k"]
    assert scene.view.hasFocus()
    ctrl, alt = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
    with qtbot.assertNotEmitted(scene.view.left):
        QTest.keyPress(scene.view, Qt.Key.Key_Control, ctrl)
        QTest.keyPress(scene.view, Qt.Key.Key_Alt, ctrl | alt)
        QTest.keyClick(scene.view, Qt.Key.Key_T, ctrl | alt)
        QTest.keyRelease(scene.view, Qt.Key.Key_Alt, ctrl)
        QTest.keyRelease(scene.view, Qt.Key.Key_Control)
    assert scene.taken() == [{"do": "key", "key": "ctrl+alt+t"}]
    with qtbot.waitSignal(scene.view.left):
        QTest.keyPress(scene.view, Qt.Key.Key_Control, ctrl)
        QTest.keyPress(scene.view, Qt.Key.Key_Alt, ctrl | alt)
        QTest.keyRelease(scene.view, Qt.Key.Key_Alt, ctrl)
    assert scene.taken() == []


def test_committed_text_is_typed(scene: Scene) -> None:
    scene.view.setFocus()
    event = QInputMethodEvent()
    event.setCommitString("世界 🎉")
    QApplication.sendEvent(scene.view, event)
    assert scene.taken() == [{"do": "type", "text": "世界 🎉"}]


def test_while_no_agent_works_the_user_enters_and_leaves(scene: Scene) -> None:
    entered: list[bool] = []
    scene.view.entered.connect(entered.append)
    QTest.mouseClick(scene.view.viewport(), LEFT, pos=scene.at(640, 400))
    scene.field.setFocus()
    assert (entered, scene.view.mine) == ([True, False], False)


def test_actual_size_has_bars_and_hits_the_same_pixels(scene: Scene) -> None:
    scene.view.set_actual_size(True)
    assert scene.view.horizontalScrollBar().maximum() > 500
    scene.view.horizontalScrollBar().setValue(300)
    scene.view.verticalScrollBar().setValue(200)
    QTest.mouseClick(scene.view.viewport(), LEFT, pos=QPoint(10, 20))
    assert scene.taken()[0] == {"do": "move", "x": 310, "y": 220}
    scene.view.set_actual_size(False)
    assert scene.view.horizontalScrollBar().maximum() == 0


def test_marks_come_and_go(scene: Scene, qtbot: QtBot) -> None:
    later = [0.0]
    scene.view._clock = lambda: time.monotonic() + later[0]
    scene.view.set_holder("agent")
    before = scene.view.viewport().grab().toImage()
    scene.view.on_action(action(1, "begun", (900, 600)))
    scene.view.on_action(action(1, "ended", (900, 600), "confirmed"))
    assert scene.view.viewport().grab().toImage() != before
    later[0] = 60.0
    qtbot.waitUntil(lambda: not scene.view._motion.isActive())
    scene.view.marks.clear()
    cleared = scene.view.viewport().grab().toImage()
    scene.view.set_holder("user")
    assert cleared.pixelColor(scene.at(905, 610)) == before.pixelColor(scene.at(905, 610))


@pytest.mark.parametrize("ratio", ["1.25", "2"])
def test_other_screens(ratio: str) -> None:
    """A screen of another density needs a program of its own."""
    found = subprocess.run(
        [sys.executable, "-m", "tests.desktop.live.dense_screen", ratio],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (found.stdout, found.returncode) == ("exact\n", 0), found.stderr
