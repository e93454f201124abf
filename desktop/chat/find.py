"""Find in chat: a bar to type into, and the search through all rows that it drives."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QToolButton, QWidget

from desktop.chat import wording
from desktop.chat.rows import AnyRow, ThinkingRow, ToolRow, UserRow
from desktop.chat.selection import Spot
from desktop.theme import Theme
from resources.translation import _

if TYPE_CHECKING:
    from desktop.chat.canvas import Canvas

_MARKS = re.compile(r"[*_`~\\]")


class Finder:
    """Searches the rows of a canvas and selects what it finds."""

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas

    def count(self, text: str) -> int:
        """How often `text` occurs, as far as stored text tells."""
        return sum(_plain(row).count(_bare(text)) for row in self._canvas.rows) if _bare(text) else 0

    def find(self, text: str, *, forward: bool = True, stay: bool = False) -> bool:
        """Select the next occurrence (with `stay`, the one at the selection if any); wraps around."""
        rows, wanted = self._canvas.rows, _bare(text)
        if not wanted or not rows:
            return False
        first, last = self._canvas.selection.ends
        here = Spot(len(rows), 0, 0) if self._canvas.selection.empty and not forward else first
        if not self._canvas.selection.empty:
            here = first if stay or not forward else last
        here = min(here, Spot(len(rows) - 1, 1 << 30, 0))
        step = 1 if forward else -1
        for distance in range(len(rows) + 1):
            index = (here.row + step * distance) % len(rows)
            if wanted not in _plain(rows[index]):
                continue
            spots = self._spots(index, text)
            if distance == 0:
                spots = [one for one in spots if (one[0] >= here if forward else one[0] < here)]
            if spots:
                self._select(*(spots[0] if forward else spots[-1]))
                return True
        return False

    def _spots(self, index: int, text: str) -> list[tuple[Spot, Spot]]:
        row = self._canvas.rows[index]
        found = self._matches(index, text)
        if not found and isinstance(row, ToolRow | ThinkingRow | UserRow) and not row.open:
            row.open = True
            self._canvas.touch(row)
            found = self._matches(index, text)
            if not found:
                row.open = False
                self._canvas.touch(row)
        return found

    def _matches(self, index: int, text: str) -> list[tuple[Spot, Spot]]:
        found = []
        for number, piece in enumerate(self._canvas.layout_of(index).pieces):
            if _bare(text) not in _MARKS.sub("", piece.spec.text).casefold():
                continue
            document = piece.ready()
            cursor = document.find(text, 0)
            while not cursor.isNull():
                start, end = cursor.selectionStart(), cursor.selectionEnd()
                found.append((Spot(index, number, start), Spot(index, number, end)))
                cursor = document.find(text, QTextCursor(cursor))
        return found

    def _select(self, start: Spot, end: Spot) -> None:
        canvas = self._canvas
        canvas.selection.anchor, canvas.selection.head = start, end
        canvas.focus_row(start.row, ring=False, scroll=False)
        for _round in range(3):
            piece = canvas.layout_of(start.row).pieces[start.piece]
            piece.measure()
            spot = piece.caret(start.position).toRect()
            canvas.reveal(start.row, QRect(0, spot.top(), 1, max(1, spot.height())))
        canvas.viewport().update()


def _bare(text: str) -> str:
    return _MARKS.sub("", text).casefold()


def _plain(row: AnyRow) -> str:
    return _bare(wording.whole_text(row))


class FindBar(QWidget):
    """The bar itself: `searched` (text, forward, stay) on every wish, `closed` when it is put away."""

    searched = Signal(object, bool, bool)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("find_bar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.field = QLineEdit()
        self.field.setPlaceholderText(_("Find in this chat"))
        self.field.setAccessibleName(_("Find in this chat"))
        self.field.setClearButtonEnabled(True)
        self.told = QLabel()
        self.back = self._button("↑", _("Previous match"))
        self.on = self._button("↓", _("Next match"))
        self.shut = self._button("✕", _("Close find"))
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 6, 8, 6)
        row.setSpacing(4)
        for widget in (self.field, self.told, self.back, self.on, self.shut):
            row.addWidget(widget)
        self.field.textChanged.connect(lambda text: self.searched.emit(text, True, True))
        self.back.clicked.connect(lambda: self.searched.emit(self.field.text(), False, False))
        self.on.clicked.connect(lambda: self.searched.emit(self.field.text(), True, False))
        self.shut.clicked.connect(self.closed)

    def _button(self, sign: str, name: str) -> QToolButton:
        made = QToolButton()
        made.setText(sign)
        made.setToolTip(name)
        made.setAccessibleName(name)
        made.setAutoRaise(True)
        made.setCursor(Qt.CursorShape.PointingHandCursor)
        return made

    def tell(self, count: int, *, found: bool) -> None:
        """Show how many matches there are."""
        if not self.field.text():
            words = ""
        elif not found:
            words = _("No match")
        else:
            words = _("1 match") if count == 1 else _("{count} matches").format(count=f"{count:,}")
        self.told.setText(words)

    def restyle(self, theme: Theme) -> None:
        """Wear the theme."""
        self.setStyleSheet(
            f"#find_bar {{ background: {theme.raised.name()}; border: 1px solid {theme.border.name()};"
            " border-radius: 10px; }"
            f"#find_bar QLabel {{ color: {theme.muted.name()}; background: transparent; }}"
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self.searched.emit(self.field.text(), not back, False)
        else:
            super().keyPressEvent(event)
