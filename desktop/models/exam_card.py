"""The exam that runs: which discipline, how far it is, and a button that ends it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QProgressBar, QVBoxLayout, QWidget

from desktop.models.fit_line import Foot
from desktop.models.wording import discipline_means, discipline_words, facts
from desktop.notices import announce
from desktop.parts import button, label
from desktop.theme import Theme, spacing
from resources.translation import _

Row = dict[str, Any]


class ExamCard(QFrame):
    """Draws an EXAMRUN of runtime/model_shelf.py; hidden while none runs. `stopped`: it shall end."""

    stopped = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "activity")
        self._said = ""
        self.title = label("", "section", wrap=True)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.foot = Foot(theme)
        self.words = self.foot.fit.words
        self.stop = button(_("Stop"), self.stopped.emit, "quiet")
        column = QVBoxLayout(self)
        column.setContentsMargins(spacing(5), spacing(3.5), spacing(5), spacing(3.5))
        column.setSpacing(spacing(2.5))
        for part in (self.title, self.bar, self.foot):
            column.addWidget(part)
        self.foot.add(self.stop)
        self.hide()

    def show_run(self, run: Row | None, title: str = "") -> None:
        """Draw how far the exam of the model called `title` is; None when none runs."""
        running = run is not None and run["state"] == "running"
        self.setVisible(running)
        if run is None or not running:
            self._said = ""
            return
        discipline = run["discipline"]
        told = _("Examining {title}").format(title=title)
        if discipline:
            told = _("Examining {title}: {discipline}").format(
                title=title, discipline=discipline_words(discipline)
            )
        self.title.setText(told)
        self.bar.setRange(0, run["of"])
        self.bar.setValue(run["done"])
        self.bar.setAccessibleName(_("{title}: how much of the exam is done").format(title=title))
        hint = discipline_means(discipline) or _("The model is loaded a second time, so that chats go on.")
        self.foot.fit.show_words(facts(_part(run), hint), "none")
        self.stop.setAccessibleName(_("Stop examining {title}").format(title=title))
        self.setAccessibleName(told)
        if told != self._said:
            self._said = told
            announce(self, told)

    def set_theme(self, theme: Theme) -> None:
        self.foot.set_theme(theme)


def _part(run: Row) -> str:
    return _("{done} of {of}").format(done=run["done"], of=run["of"]) if run["of"] else ""
