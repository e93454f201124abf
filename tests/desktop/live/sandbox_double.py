"""A screen of a sandbox that is only drawn, and the events of an agent that is only told of."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QFont, QImage, QPainter

from runtime.computer_events import ActionSeen


@dataclass(frozen=True, slots=True)
class Rect:
    """As the sandbox's screen has it."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Frame:
    """As the sandbox's screen has it."""

    seq: int
    time: float
    rects: tuple[Rect, ...]
    pointer: tuple[int, int]
    pixels: tuple[bytes, ...]


def desktop_picture(width: int = 1280, height: int = 800) -> QImage:
    """A desktop with a window full of text."""
    made = QImage(width, height, QImage.Format.Format_RGB32)
    made.fill(QColor("#35506b"))
    painter = QPainter(made)
    painter.fillRect(width // 10, height // 10, width * 7 // 10, height * 7 // 10, QColor("white"))
    font = QFont("DejaVu Sans")
    font.setPixelSize(16)
    painter.setFont(font)
    for line in range(height * 7 // 200):
        painter.drawText(width // 9, height // 7 + 19 * line, f"Line {line} of a letter 0123456789")
    painter.end()
    return made


def frame_of(
    picture: QImage, *rects: QRect, pointer: tuple[int, int] = (0, 0), moment: float | None = None
) -> Any:
    """A frame with the parts `rects` of `picture`, or all of it."""
    parts = rects or (picture.rect(),)
    pixels = []
    for rect in parts:
        part = picture.copy(rect)
        pixels.append(bytes(part.constBits())[: rect.width() * rect.height() * 4])
    places = tuple(Rect(rect.x(), rect.y(), rect.width(), rect.height()) for rect in parts)
    return Frame(1, time.time() if moment is None else moment, places, pointer, tuple(pixels))


def action(
    number: int = 1,
    phase: Literal["begun", "ended"] = "begun",
    point: tuple[int, int] | None = (100, 100),
    verdict: str = "",
    **changes: Any,
) -> ActionSeen:
    """Something the agent does."""
    made: dict[str, Any] = {"action": "left_click", "summary": "Click at 100, 100", "seconds": 0.2}
    made |= changes
    return ActionSeen("s1", number, phase, point=point, verdict=verdict, time=0.0, **made)
