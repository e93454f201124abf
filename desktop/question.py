"""A sentence to agree to, asked in its place among other things rather than in front of them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget
from shiboken6 import isValid

from desktop.parts import button, label
from desktop.theme import spacing
from resources.translation import _


class Question(QWidget):
    """One sentence to agree to, with a way out; hidden until `put`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._run: Callable[[], object] = lambda: None
        self._origin: QWidget | None = None
        self.words = label("", wrap=True)
        self.yes = button("", self.on_yes, "primary")
        self.no = button(_("Not now"), self.on_no)
        self.buttons = (self.yes, self.no)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.words)
        row = QHBoxLayout()
        row.setSpacing(spacing(2))
        row.addStretch(1)
        for made in self.buttons:
            row.addWidget(made)
        column.addLayout(row)

    def put(
        self, words: str, yes: str, run: Callable[[], object], origin: QWidget, *, careful: bool = False
    ) -> None:
        """Ask, with the keyboard on the way out where a slip must be `careful` about; it goes back to
        `origin` on a no. `run` moves it on a yes."""
        self._run, self._origin = run, origin
        self.words.setText(words)
        self.yes.setText(yes)
        for made in self.buttons:
            made.setAccessibleDescription(words)
        self.show()
        (self.no if careful else self.yes).setFocus()

    def on_yes(self) -> None:
        """Do it."""
        self._run()
        self.hide()

    def on_no(self) -> None:
        """Leave it."""
        if self._origin is not None and isValid(self._origin):
            self._origin.setFocus()
        self.hide()
