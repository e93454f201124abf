"""The list of what the agent did on its computer: a line an action, with how it went."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    QTimer,
)
from PySide6.QtGui import QColor, QFont, QPainter, QResizeEvent
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTreeView, QWidget

from desktop.live.wording import verdict_sign, verdict_words
from desktop.parts import plain_tip
from desktop.theme import Theme, mix
from resources.translation import _
from runtime.computer_events import ActionSeen

Index = QModelIndex | QPersistentModelIndex
ROW = int(Qt.ItemDataRole.UserRole)
MOST, DROPPED = 10_000, 1_000
"""The oldest lines go, so many at once, when there are more than these; the audit log keeps all."""


@dataclass(slots=True)
class Line:
    """One action: what, when it began (seconds since the epoch), how long it took and how it went."""

    summary: str
    time: float
    seconds: float = 0.0
    verdict: str = ""
    running: bool = True


class ActionModel(QAbstractListModel):
    """Actions in the order in which they began."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines: list[Line] = []
        self._open: dict[int, Line] = {}

    def see(self, seen: ActionSeen) -> None:
        """An action begins, or one that began has ended."""
        line = self._open.get(seen.id)
        words = seen.summary or seen.action
        if line is None:
            line = Line(" ".join(words.split()), seen.time)
            self._append(line)
            self._open[seen.id] = line
        if seen.phase == "ended":
            self._open.pop(seen.id, None)
            line.running, line.seconds, line.verdict = False, seen.seconds, seen.verdict
            row = next(row for row in range(len(self._lines) - 1, -1, -1) if self._lines[row] is line)
            self.dataChanged.emit(self.index(row), self.index(row))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        return 0 if parent.isValid() else len(self._lines)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        if not index.isValid():
            return None
        line = self._lines[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return line.summary
            case Qt.ItemDataRole.ToolTipRole:
                return plain_tip(line.summary)
            case Qt.ItemDataRole.AccessibleTextRole:
                return spoken(line)
        return line if role == ROW else None

    def _append(self, line: Line) -> None:
        if len(self._lines) >= MOST:
            self.beginRemoveRows(QModelIndex(), 0, DROPPED - 1)
            gone = {id(old) for old in self._lines[:DROPPED]}
            del self._lines[:DROPPED]
            self._open = {number: kept for number, kept in self._open.items() if id(kept) not in gone}
            self.endRemoveRows()
        row = len(self._lines)
        self.beginInsertRows(QModelIndex(), row, row)
        self._lines.append(line)
        self.endInsertRows()


def spoken(line: Line) -> str:
    """A line as a screen reader says it."""
    how = _("being done") if line.running else verdict_words(line.verdict)
    took = "" if line.running else _("{n} seconds").format(n=f"{line.seconds:.1f}")
    return ", ".join(part for part in (line.summary, how, took, clock(line.time)) if part)


def clock(moment: float) -> str:
    """The time of day of `moment`, to the second."""
    return time.strftime("%H:%M:%S", time.localtime(moment))


class ActionDelegate(QStyledItemDelegate):
    """Paints time, verdict as sign and word, and what was done."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        del index
        return QSize(120, option.fontMetrics.height() + 8)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line, theme = index.data(ROW), self.theme
        painter.save()
        self._ground(painter, option)
        middle = Qt.AlignmentFlag.AlignVCenter
        area = option.rect.adjusted(10, 0, -10, 0)
        small = QFont(option.font)
        small.setPointSizeF(option.font.pointSizeF() * 0.88)
        painter.setFont(small)
        measure = painter.fontMetrics()
        when = clock(line.time)
        wide = measure.horizontalAdvance("00:00:00") + 10
        painter.setPen(theme.muted)
        painter.drawText(QRect(area.left(), area.top(), wide, area.height()), middle, when)
        words = _outcome(line)
        tail = measure.horizontalAdvance(words)
        painter.setPen(tone(theme, line.verdict, theme.muted))
        painter.drawText(area, middle | Qt.AlignmentFlag.AlignRight, words)
        painter.setFont(option.font)
        painter.setPen(theme.text)
        room = area.adjusted(wide, 0, -tail - 10, 0)
        shown = option.fontMetrics.elidedText(line.summary[:300], Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, middle | Qt.AlignmentFlag.AlignLeft, shown)
        painter.restore()

    def _ground(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        focused = bool(option.state & QStyle.StateFlag.State_HasFocus)
        if selected or focused:
            painter.setPen(self.theme.accent if focused else Qt.PenStyle.NoPen)
            painter.setBrush(mix(self.theme.surface, self.theme.text, 0.09 if selected else 0.0))
            painter.drawRoundedRect(option.rect.adjusted(2, 1, -3, -2), 6, 6)


def tone(theme: Theme, verdict: str, plain: QColor) -> QColor:
    """The colour of a verdict; `plain` where there is none."""
    tones = {"confirmed": theme.success, "unclear": theme.warning}
    return tones.get(verdict, theme.danger if verdict else plain)


def _outcome(line: Line) -> str:
    if line.running:
        return "…"
    return "  ".join(part for part in (verdict_sign(line.verdict), f"{line.seconds:.1f} s") if part)


class ActionLog(QTreeView):
    """Follows the newest action while its end is in sight. A tree without branches: unlike a list it does
    not lay all lines out anew for each that comes."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.lines = ActionModel(self)
        self._follows = True
        self._soon = QTimer(self)
        self._soon.setObjectName("live actions")
        self._soon.setSingleShot(True)
        self._soon.setInterval(0)
        self._soon.timeout.connect(self.scrollToBottom)
        self._delegate = ActionDelegate(theme, self)
        self.setModel(self.lines)
        self.setItemDelegate(self._delegate)
        self.setUniformRowHeights(True)
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setIndentation(0)
        self.setAccessibleName(_("What the agent did on its computer"))
        self.setVerticalScrollMode(QTreeView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumHeight(2 * (self.fontMetrics().height() + 8))

    def see(self, seen: ActionSeen) -> None:
        """An action begins or has ended."""
        bar = self.verticalScrollBar()
        self._follows = self._soon.isActive() or bar.value() >= bar.maximum() - 4
        self.lines.see(seen)
        if self._follows:
            self._soon.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._follows:
            self.scrollToBottom()

    def set_theme(self, theme: Theme) -> None:
        self._delegate.theme = theme
        self.viewport().update()
