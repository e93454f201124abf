"""What stands in the pane while there is no picture: where the sandbox is, why, and what can be done."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from desktop.icons import pixmap
from desktop.live.wording import explanation, remedy_words, title
from desktop.notices import announce
from desktop.parts import button, label, restyle
from desktop.theme import Theme, spacing
from resources.translation import _
from runtime.computer_events import ComputerState, Remedy

WIDE = 460
SIDE = 56
_PICTURES = {"unavailable": "warning", "lost": "warning"}


class StatePage(QScrollArea):
    """Draws a ComputerState. `asked` carries what the user wants done about it, a Remedy; `cancelled` that
    what is being built is not wanted."""

    asked = Signal(str)
    cancelled = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._state = ComputerState("off")
        self._said = ""
        self.picture = label("")
        self.title = label("", "title", wrap=True)
        self.words = label("", wrap=True, selectable=True)
        self.words.setAccessibleName(_("About the sandbox"))
        self.detail = label("", "small", wrap=True)
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName(_("Progress of the sandbox"))
        self.cancel = button(_("Cancel"), self.cancelled.emit)
        self.rest = label(_("Everything else works without it."), "muted", wrap=True)
        self._row = QHBoxLayout()
        self._row.setSpacing(spacing(2))
        self.buttons: dict[str, QPushButton] = {}
        for parts in (self.picture, self.title, self.words, self.detail, self.rest):
            parts.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._lay_out()
        self.set_theme(theme)
        self.show_state(self._state)

    def _lay_out(self) -> None:
        self._inner = inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(spacing(5), spacing(5), spacing(5), spacing(5))
        column.setSpacing(spacing(3))
        column.addStretch(1)
        for part in (self.picture, self.title, self.words, self.progress, self.detail):
            column.addWidget(part)
        column.addLayout(self._row)
        column.addWidget(self.rest)
        column.addStretch(2)
        body = QWidget()
        row = QHBoxLayout(body)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        row.addWidget(inner, 100)
        row.addStretch(1)
        self.setWidget(body)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setObjectName("plain")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def show_state(self, state: ComputerState) -> None:
        """Draw another state, or how far it has got; a screen reader says the first of each."""
        before, self._state = self._state, state
        busy = state.phase in ("building", "starting", "stopping")
        self.title.setText(title(state))
        self.words.setText(explanation(state))
        self.detail.setText(state.detail)
        self.detail.setVisible(bool(state.detail))
        self.progress.setVisible(busy)
        known = busy and state.progress > 0
        self.progress.setRange(0, 100 if known else 0)
        self.progress.setValue(round(100 * state.progress))
        self.rest.setVisible(state.phase in ("unavailable", "no_image", "building") or bool(state.code))
        if before.phase != state.phase or before.remedies != state.remedies or not self.buttons:
            self._make_buttons(state)
        said = f"{self.title.text()}. {self.words.text()}"
        if said != self._said:
            self._said = said
            self._draw_picture()
            if self.isVisible():
                announce(self, said)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._inner.setMaximumWidth(round(WIDE * theme.scale))
        self._draw_picture()

    def take_keyboard(self) -> None:
        """Put the keyboard on what can be done, or on the words where nothing can."""
        first = next((made for made in self.buttons.values()), None)
        (first or self.words).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _make_buttons(self, state: ComputerState) -> None:
        keyboard = any(made.hasFocus() for made in (*self.buttons.values(), self.cancel))
        while (item := self._row.takeAt(0)) is not None:
            if (old := item.widget()) is not None and old is not self.cancel:
                old.hide()
                old.deleteLater()
        self.buttons = {}
        self._row.addStretch(1)
        for place, remedy in enumerate(state.remedies):
            made = self._remedy(remedy, state, first=place == 0)
            self.buttons[remedy] = made
            self._row.addWidget(made)
            made.show()  # at once, so that it can take the keyboard
        self.cancel.setVisible(state.phase == "building")
        self._row.addWidget(self.cancel)
        self._row.addStretch(1)
        if keyboard:
            (self.cancel if state.phase == "building" else next(iter(self.buttons.values()), self)).setFocus()

    def _remedy(self, remedy: Remedy, state: ComputerState, *, first: bool) -> QPushButton:
        primary = first and state.phase != "starting"
        made = button(
            remedy_words(remedy, state.phase), lambda: self.asked.emit(remedy), "primary" if primary else ""
        )
        made.setAccessibleDescription(self.words.text())
        restyle(made)
        return made

    def _draw_picture(self) -> None:
        name = _PICTURES.get(self._state.phase, "screen")
        ink = self._theme.warning if name == "warning" else self._theme.accent
        side = round(SIDE * self._theme.scale)
        self.picture.setPixmap(pixmap(name, ink, side, self.devicePixelRatioF()))
