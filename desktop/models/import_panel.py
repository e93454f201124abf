"""What is about to be taken in: the files that were chosen or dropped, what is wrong with any, and how."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QRadioButton, QVBoxLayout, QWidget

from desktop.models.flow import FlowRow
from desktop.notices import announce
from desktop.parts import ElidedLabel, button, label
from desktop.theme import spacing
from resources.sentences import sentence
from resources.translation import _, ngettext
from runtime.amounts import size

Row = dict[str, Any]


class ImportPanel(QFrame):
    """Hidden until `show_plan`. `wanted` carries the paths and how they shall be taken in; `left` that they
    shall not."""

    wanted = Signal(object, str)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self._paths: list[str] = []
        self.title = label("", "cardtitle", wrap=True)
        self.files = QWidget()
        self._files = QVBoxLayout(self.files)
        self._files.setContentsMargins(0, 0, 0, 0)
        self._files.setSpacing(spacing(1.5))
        self.ways = {
            "copy": QRadioButton(_("Copy into Orion's folder")),
            "move": QRadioButton(_("Move into Orion's folder")),
            "in_place": QRadioButton(_("Use from where it is now")),
        }
        self._group = QButtonGroup(self)
        self.take = button(_("Import"), self.on_take, "primary")
        self.leave = button(_("Not now"), self.on_leave)
        self._lay_out()
        self.hide()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(spacing(5), spacing(4), spacing(5), spacing(4))
        column.setSpacing(spacing(2.5))
        column.addWidget(self.title)
        column.addWidget(self.files)
        for made in self.ways.values():
            self._group.addButton(made)
            column.addWidget(made)
        row = FlowRow(spacing(2))
        row.flow.addWidget(self.take)
        row.flow.addWidget(self.leave)
        column.addWidget(row)

    def show_plan(self, plan: list[Row]) -> None:
        """Show what was chosen, and put the keyboard on what comes next."""
        self._clear()
        good = [row for row in plan if not row["code"]]
        self._paths = [row["path"] for row in good]
        for row in plan:
            self._files.addWidget(_line(row))
        modes = set.intersection(*(set(row["modes"]) for row in good)) if good else set()
        for mode, made in self.ways.items():
            made.setVisible(mode in modes)
        first = next((made for mode, made in self.ways.items() if mode in modes), None)
        if first is not None:
            first.setChecked(True)
        told = ngettext("Import {count} model", "Import {count} models", len(good)).format(count=len(good))
        self.title.setText(told if good else _("Nothing here can be imported"))
        self.take.setVisible(bool(good))
        self.leave.setText(_("Not now") if good else _("Close"))
        self.setAccessibleName(self.title.text())
        self.show()
        announce(self, self.title.text())
        (self.take if good else self.leave).setFocus()

    def on_take(self) -> None:
        """Take them in the chosen way."""
        mode = next((mode for mode, made in self.ways.items() if made.isChecked()), "copy")
        self.hide()
        self.wanted.emit(self._paths, mode)

    def on_leave(self) -> None:
        """Leave them."""
        self.hide()
        self.left.emit()

    def _clear(self) -> None:
        while (item := self._files.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()


def _line(row: Row) -> QWidget:
    """One file with its size, or with what is wrong with it."""
    made = QWidget()
    column = QVBoxLayout(made)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(spacing(0.5))
    top = QHBoxLayout()
    top.addWidget(ElidedLabel(row["name"] or row["path"]), 1)
    top.addWidget(label(size(row["size"]) if row["size"] else "", "small"))
    column.addLayout(top)
    if row["code"]:
        column.addWidget(label(sentence(row["code"], **row["fields"]), "error", wrap=True, selectable=True))
    return made
