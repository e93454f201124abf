"""A bar for each stretch of time, to be looked at, pointed at, walked along with keys, and listened to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QEnterEvent, QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QWidget

from desktop.notices import announce
from desktop.theme import Theme, mix, spacing

HEIGHT = 150
WIDEST = 46
GAP = 0.28
"""The part of a bar's place that stays free."""


@dataclass(frozen=True, slots=True)
class Value:
    """One bar: how high it is, what stands under it, and everything it says in words."""

    amount: float
    label: str
    words: str


class Bar(QWidget):
    """The place of one value, from the ground line to the top."""

    pointed = Signal(object)
    walked = Signal(object, int)

    def __init__(self, value: Value, share: float, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.value = value
        self._share = share
        self._theme = theme
        self.setAccessibleName(value.words)
        self.setToolTip(value.words)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        theme = self._theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        wide = min(float(WIDEST), self.width() * (1 - GAP))
        left = (self.width() - wide) / 2
        if self.underMouse() or self.hasFocus():
            painter.fillRect(self.rect(), mix(theme.background, theme.text, 0.05))
        painter.setPen(Qt.PenStyle.NoPen)
        if self._share > 0:
            high = max(2.0, self._share * (self.height() - 2))
            lit = self.underMouse() or self.hasFocus()
            painter.setBrush(mix(theme.accent, theme.text, 0.16) if lit else theme.accent)
            corner = min(3.0, wide / 3)
            painter.setClipRect(self.rect())
            painter.drawRoundedRect(QRectF(left, self.height() - high, wide, high + corner), corner, corner)
        if self.hasFocus():
            painter.setClipping(False)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(theme.accent)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.pointed.emit(self.value)
        self.update()

    def leaveEvent(self, event: object) -> None:
        del event
        self.pointed.emit(None)
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.pointed.emit(self.value)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.pointed.emit(None)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Home: -10_000, Qt.Key.Key_End: 10_000}
        step = steps.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
        else:
            self.walked.emit(self, step)


class BarChart(QFrame):
    """Bars from left to right under the amount of the highest. `pointed` carries the words of the bar that
    the pointer or the keyboard is on, and nothing when it left. The keyboard stops at one bar of it; the
    arrows, Home and End walk."""

    pointed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._top = ""
        self.bars: list[Bar] = []
        self.setObjectName("bars")

    def show_values(self, values: Sequence[Value], top: str) -> None:
        """Draw `values`; `top` is the highest amount in words."""
        for bar in self.bars:
            bar.setParent(None)
            bar.deleteLater()
        highest = max((value.amount for value in values), default=0.0)
        self._top = top if highest else ""
        self.bars = [
            Bar(value, value.amount / highest if highest else 0.0, self._theme, self) for value in values
        ]
        for before, bar in zip([None, *self.bars], self.bars, strict=False):
            if before is not None:
                QWidget.setTabOrder(before, bar)
            bar.pointed.connect(self._on_pointed)
            bar.walked.connect(self._on_walked)
            bar.show()
        if self.bars:
            self._stop_at(self.bars[-1])
        self._place()
        self.update()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        for bar in self.bars:
            bar.set_theme(theme)
        self._place()
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(spacing(80), round(HEIGHT * self._theme.scale) + 2 * self.fontMetrics().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(spacing(60), self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        theme, line = self._theme, self.fontMetrics().height()
        ground = self.height() - line - spacing(1)
        painter = QPainter(self)
        painter.setPen(theme.border)
        for level in (line, (line + ground) // 2):
            painter.drawLine(0, level, self.width(), level)
        painter.setPen(theme.muted)
        painter.drawLine(0, ground, self.width(), ground)
        painter.drawText(QPoint(0, self.fontMetrics().ascent() - 1), self._top)
        for left, text in self.labels():
            painter.drawText(QPoint(left, self.height() - self.fontMetrics().descent()), text)

    def labels(self) -> list[tuple[int, str]]:
        """Where a label begins and what it says, from the last bar to the first: every n-th has one, so
        that they keep clear of one another."""
        metrics, found = self.fontMetrics(), list[tuple[int, str]]()
        if not self.bars:
            return found
        widest = max(metrics.horizontalAdvance(bar.value.label) for bar in self.bars) + spacing(3)
        every = max(1, -(-widest * len(self.bars) // max(1, self.width())))
        free = self.width() + spacing(3)
        for bar in self.bars[::-1][::every]:
            wide = metrics.horizontalAdvance(bar.value.label)
            left = max(0, min(self.width() - wide, bar.x() + (bar.width() - wide) // 2))
            if left + wide + spacing(3) <= free:
                found.append((left, bar.value.label))
                free = left
        return found

    def _place(self) -> None:
        line = self.fontMetrics().height()
        high = self.height() - 2 * line - spacing(1)
        count = len(self.bars)
        for number, bar in enumerate(self.bars):
            left, right = self.width() * number // count, self.width() * (number + 1) // count
            bar.setGeometry(left, line, right - left, max(0, high))

    def _stop_at(self, stop: Bar) -> None:
        """Let Tab stop at this bar only."""
        for bar in self.bars:
            bar.setFocusPolicy(Qt.FocusPolicy.StrongFocus if bar is stop else Qt.FocusPolicy.ClickFocus)

    def _on_pointed(self, value: Value | None) -> None:
        self.pointed.emit(value.words if value else "")

    def _on_walked(self, bar: Bar, step: int) -> None:
        place = max(0, min(len(self.bars) - 1, self.bars.index(bar) + step))
        reached = self.bars[place]
        self._stop_at(reached)
        reached.setFocus(Qt.FocusReason.OtherFocusReason)
        announce(reached, reached.value.words)
