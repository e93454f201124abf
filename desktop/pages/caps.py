"""The caps on what models may cost: how much of each is used, and the field to change it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDoubleSpinBox, QGridLayout, QProgressBar, QVBoxLayout, QWidget

from desktop.pages.fields import make_editor, show_value
from desktop.parts import label, restyle
from desktop.theme import LIGHT, spacing
from resources.translation import _
from runtime.amounts import dollars
from runtime.settings import Caps as Settings

NEAR = 0.8


class Caps(QWidget):
    """One row a cap. `save` gets the setting's dotted name and the new limit in dollars, 0 for none."""

    def __init__(self, save: Callable[[str, float], object], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.fields: dict[str, QDoubleSpinBox] = {}
        self.used: dict[str, QProgressBar] = {}
        self.words = {name: label("", "small", wrap=True) for name in _NAMES}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(spacing(2))
        told = _(
            "Once a cap is reached, no model that costs anything is asked any more until you raise it or the "
            "time is over. The call that reaches it still ends."
        )
        column.addWidget(label(told, "muted", wrap=True))
        grid = QGridLayout()
        grid.setHorizontalSpacing(spacing(4))
        grid.setVerticalSpacing(spacing(2))
        grid.setColumnStretch(2, 1)
        for row, (name, title) in enumerate(_NAMES.items()):
            self._row(grid, 2 * row, name, title(), save)
        column.addLayout(grid)

    def show_caps(self, caps: list[dict[str, Any]]) -> None:
        """Show {setting, limit, spent} of each."""
        for cap in caps:
            name, limit, spent = str(cap["setting"]), float(cap["limit"]), float(cap["spent"])
            show_value(self.fields[name], limit)
            share = min(1.0, spent / limit) if limit else 0.0
            for_all = name != "spending.session_usd"
            self.used[name].setVisible(bool(limit) and for_all)
            self.used[name].setValue(round(100 * share))
            self.used[name].setProperty("tone", "warning" if share >= NEAR else "")
            restyle(self.used[name])
            told = _("{spent} of {limit} used").format(spent=dollars(spent), limit=dollars(limit))
            self.words[name].setText((told if for_all else _("in each chat")) if limit else "")

    def _row(
        self, grid: QGridLayout, row: int, name: str, title: str, save: Callable[[str, float], object]
    ) -> None:
        schema = Settings.model_json_schema()["properties"][name.partition(".")[2]]
        field = make_editor(schema, 0.0, LIGHT, partial(save, name))
        assert isinstance(field, QDoubleSpinBox)
        field.setPrefix("$ ")
        field.setSpecialValueText(_("none"))
        field.setAccessibleName(title)
        field.setAccessibleDescription(_("US dollars; 0 means no cap"))
        caption = label(title)
        caption.setBuddy(field)
        used = QProgressBar()
        used.setTextVisible(False)
        used.setFixedHeight(spacing(1.5))
        used.setAccessibleName(_("{cap}: how much is used").format(cap=title))
        beside = QVBoxLayout()
        beside.setSpacing(spacing(1))
        beside.addStretch(1)
        beside.addWidget(self.words[name])
        beside.addWidget(used)
        beside.addStretch(1)
        grid.addWidget(caption, row, 0, Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(field, row, 1, Qt.AlignmentFlag.AlignVCenter)
        grid.addLayout(beside, row, 2)
        self.fields[name], self.used[name] = field, used


_NAMES: dict[str, Callable[[], str]] = {
    "spending.daily_usd": lambda: _("Cap for a day"),
    "spending.monthly_usd": lambda: _("Cap for a month"),
    "spending.session_usd": lambda: _("Cap for one chat"),
}
