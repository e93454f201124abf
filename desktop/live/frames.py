"""Frames on their way from the runtime's thread to the window's: the newest picture wins, nothing queues."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QImage, QPainter

if TYPE_CHECKING:
    from sandbox.screen import Frame

MANY = 48
"""More changed places than this are taken together as their bounding rectangle."""


@dataclass(frozen=True, slots=True)
class Picture:
    """The screen as it is now: `changed` since the last picture taken; `time` when the newest change was
    seen, in the frames' own seconds; `pointer` in pixels of the screen."""

    image: QImage
    changed: tuple[QRect, ...]
    pointer: tuple[int, int]
    time: float


class FrameBox:
    """Holds one screen, to which frames are written by one thread and which another takes. Never larger than
    the screen itself and MANY rectangles."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._image = QImage()
        self._changed: list[QRect] = []
        self._pointer = (0, 0)
        self._time = 0.0
        self._told = False

    def open(self, width: int, height: int) -> None:
        """Begin with a screen of this size; what was there before is forgotten."""
        with self._lock:
            self._image = QImage(width, height, QImage.Format.Format_RGB32)
            self._image.fill(0)
            self._changed = []
            self._told = False

    def put(self, frame: Frame) -> bool:
        """Draw a frame; whether the taker has to be told, which is once for everything it has not taken."""
        with self._lock:
            if self._image.isNull():
                return False
            painter = QPainter(self._image)
            painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
            for rect, pixels in zip(frame.rects, frame.pixels, strict=True):
                part = QImage(pixels, rect.width, rect.height, rect.width * 4, QImage.Format.Format_RGB32)
                painter.drawImage(QPoint(rect.x, rect.y), part)
                self._add(QRect(rect.x, rect.y, rect.width, rect.height))
            painter.end()
            self._pointer, self._time = frame.pointer, frame.time
            told, self._told = self._told, True
            return not told

    def take(self) -> Picture | None:
        """What there is now; None when nothing came since the last time. The image is shared until the next
        frame is drawn, which then draws on a copy."""
        with self._lock:
            if not self._told:
                return None
            changed, self._changed = tuple(self._changed), []
            self._told = False
            return Picture(QImage(self._image), changed, self._pointer, self._time)

    def _add(self, rect: QRect) -> None:
        if any(there.contains(rect) for there in self._changed):
            return
        self._changed = [there for there in self._changed if not rect.contains(there)]
        self._changed.append(rect)
        if len(self._changed) > MANY:
            whole = QRect()
            for there in self._changed:
                whole = whole.united(there)
            self._changed = [whole]
