"""Fonts, text formats and measures of the transcript, derived from one theme."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetrics,
    QFontMetricsF,
    QTextBlockFormat,
    QTextCharFormat,
    QTextFormat,
)

from desktop.theme import Theme, mix

COLUMN = 760
"""Widest reading column, in device-independent pixels at the theme's usual type size."""

_USUAL_SIZE = 10.5
_HEADINGS = {1: 1.5, 2: 1.28, 3: 1.12, 4: 1.0, 5: 1.0, 6: 1.0}


class Style:
    """What painters and document builders need of `theme`; make a new one when the theme changes."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self.scale = max(0.5, theme.body_size / _USUAL_SIZE)
        self.body = self._font(theme.body_family, theme.body_size)
        self.small = self._font(theme.body_family, theme.body_size * 0.9)
        self.strong = self._font(theme.body_family, theme.body_size, QFont.Weight.DemiBold)
        self.mono = self._font(theme.mono_family, theme.body_size * 0.92)
        self.mono.setStyleHint(QFont.StyleHint.Monospace)
        self.mono.setFixedPitch(True)
        self._widths: dict[str, int] = {}

    @property
    def measures(self) -> tuple[float, str, str]:
        """What every width and height follows from: styles that agree in it differ in colours only."""
        return self.theme.body_size, self.theme.body_family, self.theme.mono_family

    @cached_property
    def quiet(self) -> Style:
        """The same with dimmed text."""
        return Style(replace(self.theme, text=self.theme.muted))

    def space(self, steps: float) -> int:
        """`steps` of the four-pixel grid at the current text scale, in device-independent pixels."""
        return round(4 * steps * self.scale)

    @cached_property
    def line(self) -> float:
        """Height of a line of body text, in device-independent pixels."""
        return QFontMetricsF(self.body).height() * 1.25

    @cached_property
    def letter(self) -> float:
        """Mean width of a letter of body text, in device-independent pixels."""
        return QFontMetricsF(self.body).averageCharWidth()

    @cached_property
    def code_line(self) -> float:
        """Height of a line of code, in device-independent pixels."""
        return QFontMetricsF(self.mono).height() * 1.2

    def small_width(self, text: str) -> int:
        """Width of a short label in the small font, in device-independent pixels; remembered."""
        if text not in self._widths:
            self._widths[text] = QFontMetrics(self.small).horizontalAdvance(text)
        return self._widths[text]

    def text(self, colour: QColor | None = None, *, small: bool = False) -> QTextCharFormat:
        """Body text."""
        return self._format(self.small if small else self.body, colour or self.theme.text)

    def code(self, colour: QColor | None = None) -> QTextCharFormat:
        """Text of a code block."""
        return self._format(self.mono, colour or self.theme.text)

    def inline_code(self, base: QTextCharFormat) -> QTextCharFormat:
        """Code inside a sentence set in `base`."""
        made = QTextCharFormat(base)
        made.setFontFamilies(self.mono.families())
        made.setFontPointSize(self.mono.pointSizeF())
        made.setFontFixedPitch(True)
        made.setBackground(QBrush(mix(self.theme.background, self.theme.text, 0.09)))
        return made

    def link(self, base: QTextCharFormat, target: str) -> QTextCharFormat:
        """A link that shows `target` when pointed at."""
        made = QTextCharFormat(base)
        made.setAnchor(True)
        made.setAnchorHref(target)
        made.setForeground(self.theme.accent)
        made.setFontUnderline(True)
        made.setToolTip(target)
        return made

    def heading(self, level: int) -> QTextCharFormat:
        """Text of a heading, level 1–6."""
        made = self.text()
        made.setFontPointSize(self.theme.body_size * _HEADINGS[level])
        made.setFontWeight(QFont.Weight.DemiBold)
        return made

    def paragraph(self, *, before: float = 0, after: float = 0, line: int = 125) -> QTextBlockFormat:
        """A paragraph with space before and after in grid steps and a line height in percent."""
        made = QTextBlockFormat()
        made.setTopMargin(self.space(before))
        made.setBottomMargin(self.space(after))
        made.setLineHeight(line, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        return made

    def _format(self, font: QFont, colour: QColor) -> QTextCharFormat:
        made = QTextCharFormat()
        made.setFont(font)
        made.setForeground(colour)
        return made

    @staticmethod
    def _font(families: str, size: float, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
        font = QFont()
        font.setFamilies([name.strip() for name in families.split(",")])
        font.setPointSizeF(size)
        font.setWeight(weight)
        return font


QUOTE = QTextFormat.Property.BlockQuoteLevel
