"""Icons drawn from resources/icons in whatever colour the theme asks for."""

from __future__ import annotations

from functools import cache, lru_cache
from math import ceil

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

import resources


@lru_cache(maxsize=256)
def icon(name: str, colour: str, disabled: str, side: int) -> QIcon:
    """The icon `name`, `side` pixels high, with its strokes in `colour` ("#rrggbb"); sharp on every
    screen that is there."""
    made = QIcon()
    for ratio in {1, *(ceil(screen.devicePixelRatio()) for screen in QGuiApplication.screens())}:
        made.addPixmap(pixmap(name, QColor(colour), side, ratio))
        made.addPixmap(pixmap(name, QColor(disabled), side, ratio), QIcon.Mode.Disabled)
    return made


def pixmap(name: str, colour: QColor, size: int, ratio: float = 1.0) -> QPixmap:
    """The icon as a picture of `size` device-independent pixels."""
    drawing = resources.text(f"icons/{name}.svg").replace("currentColor", colour.name())
    picture = QPixmap(round(size * ratio), round(size * ratio))
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    QSvgRenderer(QByteArray(drawing.encode())).render(painter, QRectF(0, 0, size * ratio, size * ratio))
    painter.end()
    picture.setDevicePixelRatio(ratio)
    return picture


@cache
def program_icon() -> QIcon:
    """The program's own icon, for windows and the tray."""
    made = QIcon()
    for size in (16, 32, 48, 64, 128, 256):
        made.addPixmap(pixmap("orion", QColor(), size))
    return made
