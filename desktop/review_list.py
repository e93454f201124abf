"""The files that wait in the review, each with a box that chooses it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QListWidget, QListWidgetItem, QWidget

from desktop.parts import plain_tip
from desktop.review_diff import figures, told
from resources.translation import _
from runtime.pathnames import is_identity, visible

Row = dict[str, Any]
Chosen = set[int] | None
"""Numbers of hunks; None is the whole file."""
_STATES = {"whole": Qt.CheckState.Checked, "part": Qt.CheckState.PartiallyChecked}


class ReviewList(QListWidget):
    """Space chooses a file or not, Right and Enter (`entered_file`) go into it; `turned` is told after each
    choice of the user. A file in conflict has no box: it is decided by its buttons.

    Paths are carried as Python objects and shown by `visible`: Qt cuts a name off where it is not Unicode.
    """

    shown = Signal(object)
    entered_file = Signal()
    turned = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("review")
        self.setAccessibleName(_("Changed files"))
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setTabKeyNavigation(False)
        self._rows: dict[str, Row] = {}
        self._paths: list[str] = []
        self.chosen: dict[str, Chosen] = {}
        self.currentItemChanged.connect(self._on_current)
        self.itemChanged.connect(self._on_turned)

    @property
    def path(self) -> str:
        """The file that is current, "" for none."""
        return self._path_of(self.currentRow())

    def row_of(self, path: str) -> Row:
        return self._rows[path]

    def set_rows(self, rows: list[Row]) -> None:
        """Show these files; what the user chose of those that are still the same stays chosen."""
        old, place, current = self._rows, self.currentRow(), self.path
        self._rows = {str(row["path"]): row for row in rows}
        self._paths = list(self._rows)
        same = {path for path, row in self._rows.items() if path in old and _look(old[path]) == _look(row)}
        self.chosen = {path: self.chosen.get(path) if path in same else None for path in self._rows}
        with QSignalBlocker(self):
            self.clear()
            for path, row in self._rows.items():
                self.addItem(self._item(path, row))
        if not rows:
            return
        found = next((number for number, path in enumerate(self._rows) if path == current), -1)
        self.setCurrentRow(found if found >= 0 else min(max(place, 0), len(rows) - 1))

    def choose(self, path: str, chosen: Chosen) -> None:
        """Note what was chosen in the file itself."""
        self.chosen[path] = chosen
        with QSignalBlocker(self):
            self.item(self._paths.index(path)).setCheckState(_state(chosen))
        self.viewport().update()

    def choices(self) -> list[Row]:
        """What is chosen, as the desk takes it."""
        return [
            self.choice(path, None if chosen is None else sorted(chosen))
            for path, chosen in self.chosen.items()
            if not self._rows[path]["conflict"] and (chosen is None or chosen)
        ]

    def choice(self, path: str, hunks: list[int] | None = None) -> Row:
        row = self._rows[path]
        return {"path": path, "before": row["before"], "after": row["after"], "hunks": hunks}

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Right, Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
            self.entered_file.emit()
            return
        super().keyPressEvent(event)

    def _path_of(self, number: int) -> str:
        return self._paths[number] if 0 <= number < len(self._paths) else ""

    def _item(self, path: str, row: Row) -> QListWidgetItem:
        second = f"{told(row)}   {figures(row['added'], row['removed'])}".rstrip()
        words = _("in conflict: you changed it too") if row["conflict"] else second
        if is_identity(path):
            words = _("told in every chat") + " · " + words
        name = visible(path)
        item = QListWidgetItem(f"{name}\n{words}")
        item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{name}, {words}")
        item.setToolTip(plain_tip(name))
        if row["conflict"]:
            item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsUserCheckable)
        else:
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(_state(self.chosen[path]))
        return item

    def _on_current(self, item: QListWidgetItem | None, _before: QListWidgetItem | None) -> None:
        if item is not None:
            self.shown.emit(self._path_of(self.row(item)))

    def _on_turned(self, item: QListWidgetItem) -> None:
        path = self._path_of(self.row(item))
        self.chosen[path] = None if item.checkState() == Qt.CheckState.Checked else set()
        self.turned.emit(path)


def _state(chosen: Chosen) -> Qt.CheckState:
    return (
        _STATES["whole" if chosen is None else "part"]
        if chosen is None or chosen
        else Qt.CheckState.Unchecked
    )


def _look(row: Row) -> tuple[object, ...]:
    return row["before"], row["after"], row["conflict"]
