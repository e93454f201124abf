"""The scrolled transcript: paints rows, keeps its place while they grow, and carries focus and selection."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from desktop.chat import accessible
from desktop.chat.column import Column
from desktop.chat.draw import ring
from desktop.chat.highlight import Highlighter
from desktop.chat.hot import HotRows
from desktop.chat.keyboard import press
from desktop.chat.layout import RowLayout
from desktop.chat.markdown import allowed
from desktop.chat.pieces import Documents
from desktop.chat.pointer import Pointer
from desktop.chat.rows import AnyRow
from desktop.chat.selection import Selection
from desktop.chat.style import COLUMN, Style
from desktop.chat.transcript import Transcript
from desktop.theme import Theme
from runtime.events import Event

FRAME = 33
"""Least time between two drawings of a growing row, in milliseconds."""

_PULSE = 60


class Canvas(QAbstractScrollArea):
    """Draws a transcript. All methods on the main thread.

    Signals: `bottom_left` whether the end is out of sight; `acted` (row, action, data) for the user's
    choice on a row; `announced` each portion of text a screen reader is given.
    """

    bottom_left = Signal(bool)
    acted = Signal(int, str, object)
    link_activated = Signal(object)
    announced = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.transcript = Transcript()
        self.selection = Selection()
        self.style_ = Style(theme)
        self.highlighter = Highlighter(self)
        self.documents = Documents(self.highlighter)
        self.column = Column(self.transcript, self.style_, self.documents)
        self.interfaces = accessible.Interfaces(self)
        self.focused = -1
        self.pointed = -1
        self.ring = False
        self._pointer = Pointer(self)
        self.hot = HotRows(self)
        self._dirty: dict[int, AnyRow] = {}
        self._at_end = True
        self._busy = False
        self._announcer = accessible.Announcer(self._announce)
        self._flushing = self._timer(0, self.flush, single=True)
        self._pulse = self._timer(_PULSE, self._on_pulse)
        self.highlighter.coloured.connect(lambda _document: self.viewport().update())
        self.destroyed.connect(self.interfaces.clear)
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)

    # --- content

    @property
    def rows(self) -> list[AnyRow]:
        """The rows shown."""
        return self.transcript.rows

    def show_rows(self, rows: Iterable[dict[str, Any]]) -> None:
        """Show stored rows from their end."""
        self.transcript.show(rows)
        self._announcer = accessible.Announcer(self._announce)
        self.rebuild()
        self.to_end()

    def rebuild(self) -> None:
        """Forget every layout and start from the rows as they are."""
        self.hot.close()
        self.interfaces.clear()
        self._dirty.clear()
        self.selection = Selection()
        self.focused = self.pointed = -1
        self.column.reset(self.style_, self.column_rect().width())
        self._set_range()
        self.viewport().update()

    def restyle(self, theme: Theme) -> None:
        """Draw everything in another theme, at the same place."""
        place, focused, selection = self._place(), self.focused, self.selection
        self.style_ = Style(theme)
        self.rebuild()
        self.focused, self.selection = focused, selection
        self._return_to(place)

    def on_event(self, event: Event) -> None:
        """Take one live event; drawing follows within `FRAME`."""
        for row in self.transcript.apply(event):
            self._dirty[row.key] = row
        self.column.follow()
        if self.focused >= len(self.rows):
            self.focused = len(self.rows) - 1
        if not self._flushing.isActive():
            self._flushing.start()

    def touch(self, row: AnyRow) -> None:
        """Draw `row` anew, because its look was changed here."""
        row.version += 1
        self.column.refresh({row.key: row})
        self.settle()
        self.viewport().update()

    def flush(self) -> None:
        """Take over all changed rows now."""
        began = time.perf_counter()
        changed, self._dirty = self._dirty, {}
        self.column.refresh(changed)
        self.settle()
        self.viewport().update()
        self._announcer.take([row for row in changed.values() if self.column.index_of(row.key) >= 0])
        spent = (time.perf_counter() - began) * 1000
        self._flushing.setInterval(round(max(FRAME, 3 * spent)))

    def layout_of(self, index: int) -> RowLayout:
        """The layout of a row."""
        return self.column.layout_of(index)

    def select_all(self) -> None:
        """Select every row."""
        self.selection.everything(len(self.rows))
        self.viewport().update()

    def selected_text(self) -> str:
        """What is selected, as text."""
        return self.selection.text(self.rows, self.layout_of)

    def index_of(self, row: AnyRow) -> int:
        """Where a row stands, -1 when it is not shown."""
        return self.column.index_of(row.key)

    # --- geometry

    def column_rect(self) -> QRect:
        """The reading column: left end and width in the viewport."""
        room = self.viewport().width() - 2 * self.style_.space(6)
        width = max(120, min(round(COLUMN * self.style_.scale), room))
        return QRect((self.viewport().width() - width) // 2, 0, width, 1)

    @property
    def offset(self) -> int:
        """What lies at the top of the viewport, in pixels from the top of the first row."""
        return self.verticalScrollBar().value() - self.style_.space(4)

    def top_of(self, index: int) -> int:
        """Where a row begins in the viewport."""
        return self.column.heights.top(index) - self.offset

    def row_at(self, y: int) -> int:
        """The row at a height in the viewport, the nearest one; -1 without rows."""
        return self.column.heights.at(y + self.offset) if len(self.column) else -1

    def rect_of(self, index: int) -> QRect:
        """A row's rectangle in the viewport."""
        place = self.column_rect()
        return QRect(place.left(), self.top_of(index), place.width(), self.column.heights[index])

    def map_row(self, index: int, point: QPoint) -> QPoint:
        """A point of the viewport in row coordinates."""
        return point - QPoint(self.column_rect().left(), self.top_of(index))

    def seen(self) -> range:
        """The rows that are in the viewport."""
        if not len(self.column):
            return range(0)
        return range(self.row_at(0), self.row_at(self.viewport().height()) + 1)

    def content_height(self) -> int:
        """Height of all rows with the space around them, as far as it is known."""
        return self.column.heights.total + self.style_.space(12)

    def _set_range(self) -> None:
        bar, height = self.verticalScrollBar(), self.viewport().height()
        bar.setPageStep(max(1, height - self.style_.space(10)))
        bar.setSingleStep(self.style_.space(10))
        bar.setRange(0, max(0, self.content_height() - height))

    def settle(self) -> None:
        """Measure what is seen until nothing moves; keeps the place, or the end while the end is in sight."""
        if self._busy or not len(self.column) or not self.viewport().height():
            return
        self._busy = True
        bar = self.verticalScrollBar()
        self._set_range()
        for _round in range(12):
            if self._at_end:
                bar.setValue(bar.maximum())
            shift, changed = self.column.measure(self.offset, self.viewport().height())
            wanted = bar.value() + shift
            self._set_range()
            if not self._at_end:
                bar.setValue(wanted)
            if not changed:
                break
        if self._at_end:
            bar.setValue(bar.maximum())
        self._busy = False
        self.bottom_left.emit(not self._at_end)
        self.sync_hot()
        moving = self.isVisible() and any(self.layout_of(index).animated() for index in self.seen())
        if moving != self._pulse.isActive():
            self._pulse.start() if moving else self._pulse.stop()

    def _on_scrolled(self, value: int) -> None:
        if not self._busy:
            self._at_end = value >= self.verticalScrollBar().maximum() - 2
            self.settle()
        self.viewport().update()

    def to_end(self) -> None:
        """Scroll to the newest row and stay there."""
        self._at_end = True
        self.settle()
        self.viewport().update()

    def reveal(self, index: int, rect: QRect | None = None) -> None:
        """Scroll so that a row, or `rect` of it (in row coordinates), is seen."""
        bar, margin = self.verticalScrollBar(), self.style_.space(6)
        for _round in range(4):
            height = self.viewport().height()
            inner = rect or QRect(0, 0, 1, self.column.heights[index])
            top = self.top_of(index) + inner.top()
            if top < margin or inner.height() > height - 2 * margin:
                move = top - margin
            else:
                move = max(0, top + inner.height() + margin - height)
            before = bar.value()
            bar.setValue(before + move)
            if bar.value() == before:
                return

    def _place(self) -> tuple[int, float] | None:
        if self._at_end or not len(self.column):
            return None
        index = self.row_at(0)
        return index, -self.top_of(index) / max(1, self.column.heights[index])

    def _return_to(self, place: tuple[int, float] | None) -> None:
        self._at_end = place is None
        self._set_range()
        if place is not None:
            index, share = place
            top = self.column.heights.top(index) + round(share * self.column.heights[index])
            self._busy = True
            self.verticalScrollBar().setValue(top + self.style_.space(4))
            self._busy = False
        self.settle()

    # --- rows in use

    def focus_row(self, index: int, *, ring: bool = True, scroll: bool = True) -> None:
        """Put the keyboard on a row and bring it into view; -1 takes it off."""
        self.ring = ring
        index = min(index, len(self.rows) - 1)
        moved = index != self.focused
        self.focused = index
        if index >= 0 and scroll:
            self.reveal(index)
        self.sync_hot()
        self.viewport().update()
        if moved and self.hasFocus():
            accessible.announce_focus(self, index)

    def set_pointed(self, index: int) -> None:
        """Note the row under the pointer; -1 for none."""
        if index != self.pointed:
            self.pointed = index
            self.sync_hot()
            self.viewport().update()

    def sync_hot(self) -> None:
        """Have widgets for exactly the rows in use that are seen."""
        seen = self.seen()
        self.column.kept = {index for index in (self.focused, self.pointed) if index in seen}
        self.hot.sync(self.column.kept, reading=self.focused if self.ring else -1)

    def follow(self, target: str) -> None:
        """Ask for a link to be opened, if it is of an allowed kind."""
        if allowed(target):
            self.link_activated.emit(target)

    def _announce(self, text: str) -> None:
        self.announced.emit(text)
        accessible.announce(self, text)

    # --- Qt

    def resizeEvent(self, event: QResizeEvent) -> None:
        place = self._place()
        self.column.resize(self.column_rect().width())
        self._return_to(place)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.settle()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._pulse.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self.viewport()) as painter:
            painter.fillRect(event.rect(), self.style_.theme.background)
            if len(self.column):
                self._paint_rows(painter, event.rect())

    def _paint_rows(self, painter: QPainter, area: QRect) -> None:
        phase, left = time.monotonic() / 1.2 % 1.0, self.column_rect().left()
        for index in range(self.row_at(area.top()), self.row_at(area.bottom()) + 1):
            layout, top = self.layout_of(index), self.top_of(index)
            painter.save()
            painter.translate(left, top)
            clip = QRectF(area.translated(-left, -top))
            ranges = self.selection.ranges(index, len(layout.pieces))
            layout.paint(painter, clip, ranges, hot=index in self.hot, phase=phase)
            if index == self.focused and self.ring and self.hasFocus():
                ring(painter, layout.frame, self.style_)
            painter.restore()

    def viewportEvent(self, event: QEvent) -> bool:
        return self._pointer.special(event) or super().viewportEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pointer.press(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._pointer.double(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._pointer.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._pointer.release(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not press(self, event):
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        keys = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
        if event.reason() in keys and self.rows:
            self.focus_row(self.focused if self.focused >= 0 else len(self.rows) - 1)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def sizeHint(self) -> QSize:
        return QSize(self.style_.space(190), self.style_.space(150))

    def _on_pulse(self) -> None:
        if not self.isVisible():
            self._pulse.stop()
            return
        for index in self.seen():
            if self.layout_of(index).animated():
                self.viewport().update(self.rect_of(index).adjusted(-8, 0, 8, 0))

    def _timer(self, interval: int, slot: Any, *, single: bool = False) -> QTimer:
        timer = QTimer(self)
        timer.setInterval(interval)
        timer.setSingleShot(single)
        timer.timeout.connect(slot)
        return timer
