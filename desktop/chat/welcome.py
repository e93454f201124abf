"""What stands in place of a transcript: a welcome, a skeleton while loading, or what is the matter."""

from __future__ import annotations

import time
from typing import Literal

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFont, QHideEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from desktop.chat.style import COLUMN, Style
from desktop.theme import Theme, mix
from resources.translation import _

Kind = Literal["empty", "loading", "offline", "error"]


def prompts() -> list[tuple[str, str]]:
    """Examples to begin with: a title and the text that is sent."""
    return [
        (_("Explain something"), _("Explain in simple words how a rainbow comes about.")),
        (_("Write something"), _("Write a friendly note to my neighbour about the noise on Sunday.")),
        (_("Plan something"), _("Plan a weekend in the garden, with a list of what I need.")),
    ]


class Welcome(QWidget):
    """One of four states, told apart by `kind`; `prompt_chosen` carries an example's text, `models_requested`
    says that the user wants to see other models."""

    prompt_chosen = Signal(object)
    models_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.kind: Kind = "empty"
        self._style = Style(theme)
        self.title = QLabel()
        self.title.setWordWrap(True)
        self.words = QLabel()
        self.words.setWordWrap(True)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.choices = [self._choice(title, text) for title, text in prompts()]
        self.models = QPushButton(_("See stronger models for this machine"))
        self.models.setCursor(Qt.CursorShape.PointingHandCursor)
        self.models.clicked.connect(lambda _checked=False: self.models_requested.emit())
        self.advised = False
        self._pulse = QTimer(self)
        self._pulse.setInterval(80)
        self._pulse.timeout.connect(self.update)
        column = QVBoxLayout(self)
        column.addStretch(2)
        for widget in (self.title, self.words, self.models, *self.choices):
            column.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)
        self.restyle(theme)

    def _choice(self, title: str, text: str) -> QPushButton:
        made = QPushButton(f"{title}\n{text}")
        made.setAccessibleName(f"{title}: {text}")
        made.setCursor(Qt.CursorShape.PointingHandCursor)
        made.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        made.clicked.connect(lambda: self.prompt_chosen.emit(text))
        return made

    def show_state(self, kind: Kind, text: str) -> None:
        """Show a state; `text` says where the model runs or what is the matter."""
        self.kind = kind
        titles = {
            "empty": _("What can I do for you?"),
            "loading": "",
            "offline": _("Not connected"),
            "error": _("Orion could not start"),
        }
        self.title.setText(titles[kind])
        self.words.setText(text)
        self.setAccessibleName(text or _("Loading the chat"))
        self.title.setVisible(kind != "loading")
        self.words.setVisible(bool(text) and kind != "loading")
        self._fit()
        self._breathe()
        self.update()

    def advise(self, advised: bool) -> None:
        """Whether an empty chat shows the way to stronger models."""
        self.advised = advised
        self._fit()

    def restyle(self, theme: Theme) -> None:
        """Wear the theme."""
        self._style = style = Style(theme)
        space = style.space
        large = QFont(style.body)
        large.setPointSizeF(theme.body_size * 1.9)
        large.setWeight(QFont.Weight.DemiBold)
        self.title.setFont(large)
        self.words.setFont(style.body)
        layout = self.layout()
        if layout is not None:
            layout.setSpacing(space(2.5))
            layout.setContentsMargins(space(6), space(6), space(6), space(6))
        for label, colour in ((self.title, theme.text), (self.words, theme.muted)):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setStyleSheet(
                f"color: {colour.name()}; background: transparent; padding-bottom: {space(1)}px;"
            )
        self.models.setStyleSheet(
            f"QPushButton {{ color: {theme.accent.name()}; background: transparent; padding: {space(1)}px"
            f" {space(3)}px; border: 1px solid transparent; border-radius: {space(2)}px;"
            f" font-size: {theme.body_size}pt; }}"
            f"QPushButton:hover {{ text-decoration: underline; }}"
            f"QPushButton:focus {{ border: 1px solid {theme.accent.name()}; }}"
        )
        hover = mix(theme.raised, theme.accent, 0.07).name()
        for choice in self.choices:
            choice.setStyleSheet(
                f"QPushButton {{ text-align: left; padding: {space(3)}px {space(4)}px;"
                f" color: {theme.text.name()}; background: {theme.raised.name()};"
                f" border: 1px solid {theme.border.name()};"
                f" border-radius: {space(2.5)}px; font-size: {theme.body_size}pt; }}"
                f"QPushButton:hover {{ background: {hover}; }}"
                f"QPushButton:focus {{ border: 2px solid {theme.accent.name()}; }}"
            )
        self._fit()
        self.update()

    def minimumSizeHint(self) -> QSize:
        """Small: what does not fit is left out, and the window may be low."""
        return QSize(self._style.space(40), self._style.space(10))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Give the wrapped labels the height their text needs, and show as many examples as there is room."""
        space = self._style.space
        width = max(space(30), min(space(130), space(COLUMN / 4), self.width() - space(12)))
        for label in (self.title, self.words):
            label.setFixedWidth(width)
            label.setFixedHeight(max(0, label.heightForWidth(width)))
        self.models.setVisible(self.kind == "empty" and self.advised)
        advice = self.models.sizeHint().height() + space(2.5) if self.advised else 0
        room = self.height() - advice - space(12) - self.title.height() - self.words.height() - space(5)
        for choice, (title, text) in zip(self.choices, prompts(), strict=True):
            choice.setFixedWidth(width)
            inside = choice.fontMetrics()
            shown = inside.elidedText(text, Qt.TextElideMode.ElideRight, width - space(9))
            choice.setText(f"{title}\n{shown}")
            room -= choice.sizeHint().height() + space(2.5)
            choice.setVisible(self.kind == "empty" and room >= 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme, space = self._style.theme, self._style.space
        painter.fillRect(event.rect(), theme.background)
        if self.kind != "loading":
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        phase = abs(1 - 2 * (time.monotonic() / 1.6 % 1.0))
        painter.setBrush(mix(theme.background, theme.text, 0.05 + 0.04 * phase))
        width = min(self.width() - space(12), round(COLUMN * self._style.scale))
        left, y = (self.width() - width) / 2, float(space(8))
        while y < self.height():
            painter.drawRoundedRect(
                QRectF(left + width * 0.55, y, width * 0.45, space(10)), space(3), space(3)
            )
            y += space(18)
            for share in (0.92, 0.98, 0.85, 0.6):
                painter.drawRoundedRect(QRectF(left, y, width * share, space(3.5)), space(1.5), space(1.5))
                y += space(6.5)
            y += space(10)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._breathe()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._pulse.stop()

    def _breathe(self) -> None:
        if self.kind == "loading" and self.isVisible():
            self._pulse.start()
        else:
            self._pulse.stop()
