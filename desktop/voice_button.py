"""The microphone button: held to talk, and a picture of what the voice is doing."""

from __future__ import annotations

import math
import time
from typing import Literal

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QEnterEvent, QHideEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QWidget

from desktop.held_key import Hold
from desktop.icons import pixmap
from desktop.theme import Theme, mix
from resources.translation import _

Look = Literal["idle", "starting", "hearing", "thinking", "speaking", "unavailable"]
SIDE = 34
ICON = 20
_FRAME = 50
"""Milliseconds between two pictures while something moves."""
_KEYS = (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)


class VoiceButton(QAbstractButton):
    """`held` when it is pressed with the mouse or, in focus, with Space or Enter; `let_go` when that ends,
    however it ends. What they mean is up to others, who tell it how to look. `approached` when the pointer
    comes to it."""

    approached = Signal()
    held = Signal()
    let_go = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._down = False
        self._hold = Hold(self)
        self._hold.began.connect(self._begin)
        self._hold.ended.connect(self._end)
        self.clicked.connect(self._toggle)
        self._key = ""
        self._reason = ""
        self.look: Look = "idle"
        self.hands_free = False
        self.level = 0.0
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self._moving = QTimer(self)
        self._moving.setObjectName("voice button")
        self._moving.setInterval(_FRAME)
        self._moving.timeout.connect(self._on_frame)
        self.set_theme(theme)
        self._tell()

    # --- how it looks ---------------------------------------------------------------------------------

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.setFixedSize(self.sizeHint())
        self.update()

    def set_key(self, words: str) -> None:
        """The key that does the same, as the platform writes it; "" for none."""
        self._key = words
        self._tell()

    def set_hands_free(self, on: bool) -> None:
        """Whether it listens by itself."""
        self.hands_free = on
        self._tell()

    def set_level(self, level: float) -> None:
        """How loud it is, 0 to 1: it rises at once and falls softly."""
        self.level = max(level, 0.8 * self.level)
        if self.look == "hearing":
            self.update()

    def set_look(self, look: Look, reason: str = "") -> None:
        """What the voice does now; `reason` says in a sentence why it is unavailable."""
        self.look, self._reason = look, reason
        if look != "hearing":
            self.level = 0.0
        moves = look in ("starting", "thinking", "speaking")
        if moves != self._moving.isActive():
            self._moving.start() if moves and self.isVisible() else self._moving.stop()
        self._tell()

    def _tell(self) -> None:
        by_key = _("Hold to talk, here or with {key}").format(key=self._key)
        names = {
            "idle": by_key if self._key else _("Hold to talk"),
            "starting": _("Getting the microphone ready…"),
            "hearing": _("Listening: let go to send, Esc to throw away"),
            "thinking": _("It thinks about what you said; hold to say more"),
            "speaking": _("Speaking: a tap stops it, hold to talk"),
            "unavailable": self._reason or _("The microphone cannot be used now"),
        }
        name = names[self.look]
        if self.hands_free and self.look in ("idle", "hearing"):
            name = _("Hands-free: it listens and answers by itself. Speak, or hold to talk")
        self.setToolTip(name)
        self.setAccessibleName(name)
        self.update()

    def sizeHint(self) -> QSize:
        side = round(SIDE * self._theme.scale)
        return QSize(side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        theme = self._theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        side = float(min(self.width(), self.height()))
        disc = QRectF(0, 0, side * 0.8, side * 0.8)
        disc.moveCenter(QRectF(self.rect()).center())
        lit = self.look == "hearing"
        if lit:
            self._paint_level(painter, disc, side)
        elif self.underMouse() and self.look != "unavailable":
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(mix(theme.raised, theme.text, 0.13 if self._down else 0.07))
            painter.drawEllipse(disc)
        self._paint_ring(painter, disc)
        self._paint_icon(painter, theme.on_accent if lit else self._ink())
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.text if lit else theme.accent, 1.5))
            painter.drawEllipse(QRectF(self.rect()).adjusted(1, 1, -1, -1))

    def _paint_level(self, painter: QPainter, disc: QRectF, side: float) -> None:
        """A filled disc with a halo as wide as it is loud."""
        reach = (side - disc.width()) / 2 * min(1.0, 0.2 + 0.8 * self.level)
        halo = QColor(self._theme.accent)
        halo.setAlphaF(0.32)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(halo)
        painter.drawEllipse(disc.adjusted(-reach, -reach, reach, reach))
        painter.setBrush(self._theme.accent)
        small = 0.06 * side * (1 - min(1.0, self.level))
        painter.drawEllipse(disc.adjusted(small, small, -small, -small))

    def _paint_ring(self, painter: QPainter, disc: QRectF) -> None:
        """A turning arc while it gets ready or thinks, a whole ring while it listens by itself."""
        painter.setBrush(Qt.BrushStyle.NoBrush)
        width = 1.8 * self._theme.scale
        if self.look in ("starting", "thinking"):
            painter.setPen(QPen(mix(self._theme.raised, self._theme.accent, 0.25), width))
            painter.drawEllipse(disc)
            arc = QPen(self._theme.accent, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
            painter.setPen(arc)
            painter.drawArc(disc, round(-time.monotonic() / 1.2 % 1.0 * 5760), 1500)
        elif self.look == "speaking" or (self.hands_free and self.look == "idle"):
            painter.setPen(QPen(self._theme.accent, width))
            painter.drawEllipse(disc)

    def _paint_icon(self, painter: QPainter, ink: QColor) -> None:
        size = round(ICON * self._theme.scale * 0.92)
        left, top = (self.width() - size) / 2, (self.height() - size) / 2
        if self.look == "speaking":
            self._paint_waves(painter, QRectF(left, top, size, size))
            return
        name = "microphone-off" if self.look == "unavailable" else "microphone"
        shown = pixmap(name, ink, size, self.devicePixelRatioF())
        painter.drawPixmap(round(left), round(top), shown)

    def _paint_waves(self, painter: QPainter, box: QRectF) -> None:
        """Five bars that swell in turn."""
        width = 1.9 * self._theme.scale
        painter.setPen(QPen(self._theme.accent, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        phase = time.monotonic() * 2 * math.pi / 0.9
        for bar in range(5):
            strength = 0.24 + 0.26 * abs(math.sin(phase / 2 + bar * 1.1))
            x = box.left() + box.width() * (0.16 + 0.17 * bar)
            reach = box.height() * strength * (1.0 if bar == 2 else 0.8)
            middle = box.center().y()
            painter.drawLine(round(x), round(middle - reach), round(x), round(middle + reach))

    def _ink(self) -> QColor:
        if self.look in ("thinking", "starting") or self.hands_free:
            return self._theme.accent
        return self._theme.muted

    def _on_frame(self) -> None:
        self.update()

    # --- what the user does ---------------------------------------------------------------------------

    def _begin(self) -> None:
        if not self._down:
            self._down = True
            self.held.emit()
            self.update()

    def _end(self) -> None:
        if self._down:
            self._down = False
            self.let_go.emit()
            self.update()

    def _toggle(self) -> None:
        """A screen reader cannot hold: it presses once to begin and once to end."""
        self._end() if self._down else self._begin()

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.approached.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._begin()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() not in _KEYS:
            super().keyPressEvent(event)
        elif not event.isAutoRepeat():
            self._hold.press()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() not in _KEYS:
            super().keyReleaseEvent(event)
        elif not event.isAutoRepeat():
            self._hold.release()

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.WindowDeactivate, QEvent.Type.FocusOut):
            self._hold.end()
            self._end()
        elif event.type() == QEvent.Type.Show:
            self.set_look(self.look, self._reason)
        return super().event(event)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._moving.stop()
        self._hold.end()
        self._end()
