"""How far a download is, as a bar with its words and the button that stops it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from desktop.parts import button, label
from desktop.theme import spacing
from resources.translation import _
from runtime.amounts import size

_FULL = 1000


class DownloadBar(QWidget):
    """Draws a Download of runtime/ollama_shelf.py as plain data; hidden while none runs."""

    def __init__(self, stop: Callable[[], object], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.running = False
        self.words = label("", "small", wrap=True)
        self.bar = QProgressBar()
        self.bar.setRange(0, _FULL)
        self.bar.setTextVisible(False)
        self.stop = button(_("Stop"), stop)
        left = QVBoxLayout()
        left.setSpacing(spacing(1))
        left.addWidget(self.words)
        left.addWidget(self.bar)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(spacing(2))
        row.addLayout(left, 1)
        row.addWidget(self.stop)

    def show_step(self, now: dict[str, Any] | None) -> None:
        """Draw a Download as plain data; None when it has ended."""
        self.running = now is not None
        self.setVisible(self.running)
        if now is None:
            return
        name, done, total = now["model"], now["completed"], now["total"]
        self.bar.setValue(round(_FULL * min(done / total, 1.0)) if total else 0)
        self.bar.setAccessibleName(_("{name}: how much is fetched").format(name=name))
        self.stop.setAccessibleName(_("Stop fetching {name}").format(name=name))
        if total:
            told = _("Fetching {name}: {done} of {total}")
            self.words.setText(told.format(name=name, done=size(done), total=size(total)))
        else:
            self.words.setText(_("Fetching {name}: {status}").format(name=name, status=now["status"] or "…"))
