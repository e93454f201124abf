"""The foot of a card: how a model would do here, as a sign and a sentence, beside what can be done."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHBoxLayout, QWidget

from desktop.icons import pixmap
from desktop.models.flow import FlowRow
from desktop.models.side_by_side import SideBySide
from desktop.models.wording import Tone, fit_details, fit_tone, fit_words
from desktop.parts import label, plain_tip, restyle
from desktop.theme import Theme, spacing

_SIGNS: dict[Tone, str] = {"good": "tick", "careful": "warning", "bad": "close"}
_BESIDE = 230
"""Pixels that the sentence needs beside the buttons, at normal text size."""


class FitLine(QWidget):
    """A sign and a sentence about a FIT; pointing at it tells the figures."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._tone: Tone = "none"
        self._said = ("", "", "")
        self.sign = label("")
        self.words = label("", wrap=True)
        self.words.setProperty("role", "fit")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(spacing(2))
        row.addWidget(self.sign, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.words, 1)

    def show_fit(self, fit: dict[str, Any] | None) -> None:
        """Say how a model fits; nothing where that is not known."""
        self.show_words(fit_words(fit), fit_tone(fit), fit_details(fit))

    def show_words(self, words: str, tone: Tone, details: str = "") -> None:
        """Say `words` with the sign of `tone`; `details` are told where it is pointed at."""
        if (words, tone, details) == self._said:
            return
        self._said = (words, tone, details)
        self._tone = tone
        self.words.setText(words)
        self.words.setToolTip(plain_tip(details).replace("\n", "<br>") if details else "")
        self.words.setAccessibleDescription(details)
        self.words.setProperty("tone", tone)
        restyle(self.words)
        self._draw()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._draw()

    def _draw(self) -> None:
        theme = self._theme
        inks: dict[Tone, QColor] = {"good": theme.success, "careful": theme.warning, "bad": theme.danger}
        self.sign.setVisible(self._tone in _SIGNS)
        if self._tone in _SIGNS:
            side = round(17 * theme.scale)
            self.sign.setPixmap(pixmap(_SIGNS[self._tone], inks[self._tone], side, self.devicePixelRatioF()))


class Foot(QWidget):
    """`fit` on the left and buttons on the right, or below it where there is no room for both."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.fit = FitLine(theme)
        self.buttons = FlowRow(spacing(2))
        self._sides = SideBySide(self.fit, self.buttons, _BESIDE)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._sides)
        self._sides.set_scale(theme.scale)

    def add(self, *widgets: QWidget) -> None:
        """Put buttons to the right of those that are there."""
        for widget in widgets:
            self.buttons.flow.addWidget(widget)

    def set_theme(self, theme: Theme) -> None:
        self.fit.set_theme(theme)
        self._sides.set_scale(theme.scale)

    def arrange(self) -> None:
        """Choose anew between side by side and stacked, as the buttons have changed."""
        self._sides.arrange()
