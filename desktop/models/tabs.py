"""A row of words of which one is chosen: the parts of a page, or a filter."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from desktop.models.flow import FlowRow
from desktop.parts import button
from desktop.theme import spacing


class Tabs(FlowRow):
    """`chosen` carries the name of the word that was chosen; the arrow keys move between them."""

    chosen = Signal(str)

    def __init__(
        self, name: str, offered: list[tuple[str, str]], role: str = "tab", parent: QWidget | None = None
    ) -> None:
        super().__init__(spacing(1), parent)
        self.setAccessibleName(name)
        self.buttons: dict[str, QPushButton] = {}
        for key, words in offered:
            made = button(words, partial(self._on_clicked, key), role)
            made.setCheckable(True)
            made.setAutoExclusive(True)
            made.setCursor(Qt.CursorShape.PointingHandCursor)
            self.buttons[key] = made
            self.flow.addWidget(made)
        self.current = offered[0][0]
        self.buttons[self.current].setChecked(True)

    @property
    def moved_about(self) -> bool:
        """Whether the keyboard is on one of the words, as where one moves from one to the next."""
        return any(made.hasFocus() and not made.underMouse() for made in self.buttons.values())

    def choose(self, key: str) -> None:
        """Choose one as a click would."""
        self.buttons[key].setChecked(True)
        self._on_clicked(key)

    def set_words(self, key: str, words: str) -> None:
        """Rename one, for example with a count."""
        self.buttons[key].setText(words)
        self.flow.invalidate()

    def _on_clicked(self, key: str) -> None:
        if key != self.current:
            self.current = key
            self.chosen.emit(key)
