"""The transcript as a screen reader sees it: a list, one item per row, answers announced as they come."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QRect, QSize
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAccessibleEvent,
    QAccessibleInterface,
    QWindow,
)
from PySide6.QtWidgets import QAccessibleWidget

from desktop.chat import wording
from desktop.chat.plain import visible
from desktop.chat.rows import ActivityRow, AnyRow, AssistantRow, NoticeRow, ToolRow
from resources.translation import _

if TYPE_CHECKING:
    from desktop.chat.canvas import Canvas

_MOST = 20_000
_SENTENCE = re.compile(r"[.!?…。！？](?=[\s\"'”»)])|\n")
_MARKS = re.compile(r"[*_`#>|~]+|!?\[([^\]]*)\]\([^)]*\)")


class RowInterface(QAccessibleInterface):
    """One row: name says who it is from, value and description what it says."""

    def __init__(self, canvas: Canvas, row: AnyRow) -> None:
        super().__init__()
        self._canvas, self._row = canvas, row

    def _index(self) -> int:
        return self._canvas.index_of(self._row)

    def isValid(self) -> bool:
        return self._index() >= 0

    def object(self) -> QObject:
        return None  # type: ignore[return-value]

    def window(self) -> QWindow:
        return self._canvas.window().windowHandle()

    def parent(self) -> QAccessibleInterface:
        return QAccessible.queryAccessibleInterface(self._canvas)

    def childCount(self) -> int:
        return len(self._canvas.hot.widgets(self._index()))

    def child(self, index: int) -> QAccessibleInterface:
        widgets = self._canvas.hot.widgets(self._index())
        inside = 0 <= index < len(widgets)
        return QAccessible.queryAccessibleInterface(widgets[index]) if inside else None  # type: ignore[return-value]

    def childAt(self, x: int, y: int) -> QAccessibleInterface:
        for index in range(self.childCount()):
            found = self.child(index)
            if found is not None and found.rect().contains(x, y):
                return found
        return None  # type: ignore[return-value]

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        wanted = child.object()
        widgets = self._canvas.hot.widgets(self._index())
        return next((n for n, widget in enumerate(widgets) if widget is wanted), -1)

    def rect(self) -> QRect:
        index = self._index()
        if index < 0:
            return QRect()
        box = self._canvas.rect_of(index)
        return QRect(self._canvas.viewport().mapToGlobal(box.topLeft()), box.size())

    def role(self) -> QAccessible.Role:
        return QAccessible.Role.ListItem

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """Rows are read-only."""

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        index = self._index()
        state.focusable = state.readOnly = state.multiLine = True
        state.focused = index == self._canvas.focused and self._canvas.hasFocus()
        state.offscreen = index not in self._canvas.seen()
        return state

    def text(self, kind: QAccessible.Text) -> str:
        if kind == QAccessible.Text.Name:
            return wording.speaker(self._row)
        if kind in (QAccessible.Text.Value, QAccessible.Text.Description):
            text = wording.whole_text(self._row)[:_MOST]
            return spoken(text) if isinstance(self._row, AssistantRow) else visible(text)
        return ""


class CanvasInterface(QAccessibleWidget):
    """The list of rows."""

    def __init__(self, canvas: Canvas) -> None:
        super().__init__(canvas, QAccessible.Role.List, _("Conversation"))
        self._canvas = canvas

    def childCount(self) -> int:
        return len(self._canvas.rows)

    def child(self, index: int) -> QAccessibleInterface:
        return self._canvas.interfaces.of(index)

    def childAt(self, x: int, y: int) -> QAccessibleInterface:
        point = self._canvas.viewport().mapFromGlobal(QPoint(x, y))
        inside = QRect(QPoint(), QSize(self._canvas.viewport().size())).contains(point)
        return self._canvas.interfaces.of(self._canvas.row_at(point.y()) if inside else -1)

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        return self._canvas.interfaces.index(child)

    def focusChild(self) -> QAccessibleInterface:
        return self._canvas.interfaces.of(self._canvas.focused)


class Interfaces:
    """The row interfaces that were asked for; Qt's cache points at them until `clear`."""

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas
        self._made: dict[int, tuple[int, RowInterface]] = {}

    def of(self, index: int) -> QAccessibleInterface:
        """The interface of a row; None outside the rows."""
        rows = self._canvas.rows
        if not 0 <= index < len(rows):
            return None  # type: ignore[return-value]
        row = rows[index]
        if row.key not in self._made:
            made = RowInterface(self._canvas, row)
            self._made[row.key] = (QAccessible.registerAccessibleInterface(made), made)
        return self._made[row.key][1]

    def index(self, child: QAccessibleInterface) -> int:
        """Which row an interface stands for, -1 for none."""
        for row_key, (_id, made) in self._made.items():
            if made is child:
                return self._canvas.column.index_of(row_key)
        return -1

    def clear(self) -> None:
        """Take every interface back from Qt."""
        for number, _made in self._made.values():
            QAccessible.deleteAccessibleInterface(number)
        self._made.clear()


_listening: list[CanvasInterface] = []


@cache
def install() -> None:
    """Let Qt ask here for the interface of a canvas; only the first call in a process does anything."""
    QAccessible.installFactory(_interface)


def _interface(_kind: str, widget: QObject) -> QAccessibleInterface | None:
    from desktop.chat.canvas import Canvas

    if not isinstance(widget, Canvas):
        return None
    made = CanvasInterface(widget)
    _listening.append(made)
    widget.destroyed.connect(lambda: _listening.remove(made) if made in _listening else None)
    return made


def announce_focus(canvas: Canvas, index: int) -> None:
    """Tell a screen reader that the keyboard is on another row."""
    if QAccessible.isActive() and index >= 0:
        event = QAccessibleEvent(canvas, QAccessible.Event.Focus)
        event.setChild(index)
        QAccessible.updateAccessibility(event)


class Announcer:
    """Speaks new text by whole sentences; `say` gets each portion."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._spoken: dict[int, int] = {}

    def take(self, rows: list[AnyRow]) -> None:
        """Say what is new in rows that changed."""
        for row in rows:
            if isinstance(row, AssistantRow):
                self._answer(row)
            elif isinstance(row, ToolRow | NoticeRow):
                mark = hash((row.status, row.undone) if isinstance(row, ToolRow) else row.code)
                if self._spoken.get(row.key) != mark:
                    self._spoken[row.key] = mark
                    self._say(wording.notice(row) if isinstance(row, NoticeRow) else wording.speaker(row))
            elif isinstance(row, ActivityRow):
                continue

    def _answer(self, row: AssistantRow) -> None:
        start = self._spoken.get(row.key, 0)
        ends = [match.end() for match in _SENTENCE.finditer(row.text, start)]
        end = len(row.text) if not row.live else ends[-1] if ends else start
        if end > start:
            self._spoken[row.key] = end
            words = spoken(row.text[start:end])
            if words:
                self._say(words)


def spoken(text: str) -> str:
    """Markdown without the marks that one would not say."""
    return visible(_MARKS.sub(lambda match: match[1] or "", text)).strip()


def announce(canvas: Canvas, text: str) -> None:
    """Have a screen reader say `text` when it is done with what it says now."""
    if QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(canvas, text))
