"""What is being said aloud, as a line above the composer with the button that stops it."""

from __future__ import annotations

import time
from html import escape

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from desktop.parts import icon_button, label
from desktop.theme import Theme, spacing
from resources.translation import _

_FRAME = 60


class Captions(QFrame):
    """Hidden while nothing is said. `stop_requested` when the user wants silence. The words of the clause
    that were heard are in the colour of text, those to come are dimmed; how many were heard is told from the
    time that the clause takes."""

    stop_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("captions")
        self._theme = theme
        self._words: list[str] = []
        self._begun = 0.0
        self._seconds = 0.0
        self._shown = -1
        self.text = label("", wrap=True)
        self.text.setTextFormat(Qt.TextFormat.RichText)
        self.stop = icon_button("stop", _("Stop speaking (Esc)"), self.stop_requested.emit)
        row = QHBoxLayout(self)
        row.setContentsMargins(spacing(4), spacing(1.5), spacing(2), spacing(1.5))
        row.setSpacing(spacing(2))
        row.addWidget(self.text, 1)
        row.addWidget(self.stop, 0, Qt.AlignmentFlag.AlignTop)
        self._timer = QTimer(self)
        self._timer.setObjectName("captions")
        self._timer.setInterval(_FRAME)
        self._timer.timeout.connect(self._on_time)
        self.hide()

    @property
    def heard(self) -> str:
        """The words of the clause that were heard by now."""
        return " ".join(self._words[: max(0, self._shown)])

    def begin(self, spoken: str, seconds: float) -> None:
        """A clause begins to be heard now and takes `seconds`."""
        self._words = spoken.split()
        if not self._words:
            return
        self._begun, self._seconds, self._shown = time.monotonic(), max(seconds, 0.01), -1
        self.text.setAccessibleName(spoken)
        self._on_time()
        self._timer.start()
        self.show()
        self._keep_height()

    def end(self) -> None:
        """Nothing is said any more."""
        self._timer.stop()
        self.hide()
        self._words = []
        self.text.setMinimumHeight(0)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.text.setMinimumHeight(0)
        self._shown = -1
        self._on_time()

    def _on_time(self) -> None:
        """Draw the words heard so far; a word counts from when it begins."""
        share = (time.monotonic() - self._begun) / self._seconds if self._seconds else 0.0
        total = sum(len(word) + 1 for word in self._words)
        begins, heard = 0, 0
        for word in self._words:
            if begins <= share * total:
                heard += 1
            begins += len(word) + 1
        if share >= 1.0:
            self._timer.stop()
        if heard != self._shown:
            self._shown = heard
            said, rest = " ".join(self._words[:heard]), " ".join(self._words[heard:])
            dim = self._theme.muted.name()
            self.text.setText(f"{escape(said)} <span style='color:{dim}'>{escape(rest)}</span>")

    def _keep_height(self) -> None:
        """Clauses of different length must not make what is above jump: it only grows while one speaks."""
        needed = self.text.heightForWidth(self.text.width())
        self.text.setMinimumHeight(max(self.text.minimumHeight(), needed))
