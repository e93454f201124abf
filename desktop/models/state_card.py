"""What stands in the place of cards: that one looks, that nothing is there, or what is the matter."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from desktop.icons import pixmap
from desktop.notices import announce
from desktop.parts import button, label
from desktop.theme import Theme, spacing


class StateCard(QFrame):
    """A picture, a title, a sentence, and one thing to do about it; hidden until `put`."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "state")
        self._theme = theme
        self._icon = "models"
        self._run: Callable[[], object] = lambda: None
        self.picture = label("")
        self.title = label("", "cardtitle", wrap=True)
        self.words = label("", "muted", wrap=True, selectable=True)
        self.way = button("", lambda: self._run(), "main")
        column = QVBoxLayout(self)
        column.setContentsMargins(spacing(5), spacing(8), spacing(5), spacing(8))
        column.setSpacing(spacing(3))
        for part in (self.picture, self.title, self.words):
            part.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            column.addWidget(part)
        column.addWidget(self.way, 0, Qt.AlignmentFlag.AlignHCenter)
        self.hide()

    def put(
        self, icon: str, title: str, words: str = "", way: str = "", run: Callable[[], object] | None = None
    ) -> None:
        """Say what is so; `way` names the button that calls `run`."""
        said = self.title.text() != title or self.isHidden()
        self._icon = icon
        self._run = run or (lambda: None)
        self.title.setText(title)
        self.words.setText(words)
        self.words.setVisible(bool(words))
        self.way.setText(way)
        self.way.setVisible(bool(way))
        self.way.setAccessibleDescription(words)
        self.setAccessibleName(title)
        self._draw()
        self.show()
        if said and self.isVisible():
            announce(self, f"{title}. {words}")

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._draw()

    def _draw(self) -> None:
        ink = self._theme.warning if self._icon == "warning" else self._theme.accent
        side = round(40 * self._theme.scale)
        self.picture.setPixmap(pixmap(self._icon, ink, side, self.devicePixelRatioF()))
