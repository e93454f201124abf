"""The list of sessions as a model, and how one line of it is painted."""

from __future__ import annotations

import time
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFont, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from desktop.theme import Theme, mix
from resources.translation import _, ngettext

Index = QModelIndex | QPersistentModelIndex
ID = int(Qt.ItemDataRole.UserRole)
ITEM = ID + 1


def relative_time(then: float, now: float) -> str:
    """How long ago `then` was, in a word or two; both are seconds since the epoch."""
    minutes = int((now - then) // 60)
    if minutes < 1:
        return _("now")
    if minutes < 60:
        return ngettext("{n} min", "{n} min", minutes).format(n=minutes)
    if minutes < 60 * 24:
        return ngettext("{n} h", "{n} h", minutes // 60).format(n=minutes // 60)
    days = minutes // (60 * 24)
    if days < 7:
        return ngettext("{n} day", "{n} days", days).format(n=days)
    return time.strftime("%x", time.localtime(then))


class SessionModel(QAbstractListModel):
    """Rows are the dicts of the session store. `renamed` fires when a title was edited in place."""

    renamed = Signal(str, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._items: list[dict[str, Any]] = []
        self._marks: dict[str, str] = {}

    def set_items(self, items: list[dict[str, Any]]) -> None:
        self.beginResetModel()
        self._items = items
        self.endResetModel()

    def set_mark(self, session: str, mark: str) -> None:
        """Mark a session as "working", "waiting" (for the user) or "" for neither."""
        if self._marks.get(session, "") != mark:
            self._marks[session] = mark
            row = self.row_of(session)
            if row >= 0:
                self.dataChanged.emit(self.index(row), self.index(row))

    def row_of(self, session: str) -> int:
        return next((row for row, item in enumerate(self._items) if item["id"] == session), -1)

    def items(self) -> list[dict[str, Any]]:
        return self._items

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        return 0 if parent.isValid() else len(self._items)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        if not index.isValid():
            return None
        item = self._items[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.EditRole:
                return title_of(item)
            case Qt.ItemDataRole.AccessibleTextRole:
                return ", ".join(part for part in self._spoken(item) if part)
            case Qt.ItemDataRole.ToolTipRole:
                return item.get("snippet") or item.get("preview") or title_of(item)
        if role == ID:
            return item["id"]
        return item | {"mark": self._marks.get(item["id"], "")} if role == ITEM else None

    def setData(self, index: Index, value: Any, role: int = int(Qt.ItemDataRole.EditRole)) -> bool:
        title = str(value).strip()
        if not title or title == self.data(index):
            return False
        self.renamed.emit(self._items[index.row()]["id"], title)
        self._items[index.row()]["title"] = title
        self.dataChanged.emit(index, index, [role])
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.isValid() else flags

    def _spoken(self, item: dict[str, Any]) -> list[str]:
        marks = {"working": _("working"), "waiting": _("waits for your decision")}
        ago = relative_time(item["updated"], time.time())
        return [
            title_of(item),
            ago,
            marks.get(self._marks.get(item["id"], ""), ""),
            _("interrupted") if item.get("interrupted") else "",
        ]


def title_of(item: dict[str, Any]) -> str:
    """The title to show for a session of the store."""
    return str(item.get("title") or _("New chat"))


class SessionDelegate(QStyledItemDelegate):
    """Paints title and time over a line of preview."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        del index
        return QSize(120, 2 * option.fontMetrics.height() + 18)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        item, theme = index.data(ITEM), self.theme
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = option.rect.adjusted(4, 1, -4, -1)
        self._ground(painter, option, area)
        inner = area.adjusted(10, 7, -10, -7)
        line = option.fontMetrics.height()
        small = QFont(option.font)
        small.setPointSizeF(option.font.pointSizeF() * 0.86)

        painter.setFont(small)
        when = self._when(item)
        width = painter.fontMetrics().horizontalAdvance(when)
        painter.setPen(theme.accent if item["mark"] else theme.muted)
        top = QRect(inner.left(), inner.top(), inner.width(), line)
        painter.drawText(top, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, when)
        below = QRect(inner.left(), inner.top() + line + 4, inner.width(), line)
        painter.setPen(theme.muted)
        preview = " ".join(str(item.get("snippet") or item.get("preview") or "").split())
        self._text(painter, below, preview)

        title = QFont(option.font)
        title.setWeight(QFont.Weight.Medium)
        painter.setFont(title)
        painter.setPen(theme.text)
        self._text(painter, top.adjusted(0, 0, -width - 10, 0), title_of(item))
        painter.restore()

    def _ground(self, painter: QPainter, option: QStyleOptionViewItem, area: QRect) -> None:
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        if selected or hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(mix(self.theme.surface, self.theme.text, 0.09 if selected else 0.05))
            painter.drawRoundedRect(area, 8, 8)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(self.theme.accent)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(area, 8, 8)

    def _when(self, item: dict[str, Any]) -> str:
        marks = {"working": _("working"), "waiting": _("asks you")}
        return marks.get(item["mark"]) or relative_time(item["updated"], time.time())

    @staticmethod
    def _text(painter: QPainter, area: QRect, text: str) -> None:
        shown = painter.fontMetrics().elidedText(text[:300], Qt.TextElideMode.ElideRight, area.width())
        painter.drawText(area, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
