"""What goes on now, on top of the page: downloads, imports, and the exam."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop.models.card_list import CardList
from desktop.models.download_card import DownloadCard
from desktop.models.exam_card import ExamCard
from desktop.theme import Theme, spacing

Row = dict[str, Any]


class Activity(QWidget):
    """Hidden while nothing goes on. `asked` carries what is wanted of a download and its row, see
    DownloadCard; `exam_stopped` that the exam shall end."""

    asked = Signal(str, object)
    exam_stopped = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.downloads: CardList[DownloadCard] = CardList(
            "id", self._make, lambda card, row, _n: card.show_row(row)
        )
        self.exam = ExamCard(theme)
        self.exam.stopped.connect(self.exam_stopped)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(spacing(3))
        column.addWidget(self.exam)
        column.addWidget(self.downloads)
        self.hide()

    def show_now(self, downloads: list[Row], run: Row | None, examined: str) -> None:
        """Draw what goes on; `examined` is what the model in the exam is called."""
        self.downloads.show_rows(downloads)
        self.downloads.setVisible(bool(downloads))
        self.exam.show_run(run, examined)
        self.setVisible(bool(downloads) or not self.exam.isHidden())

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.exam.set_theme(theme)
        for card in self.downloads.cards.values():
            card.set_theme(theme)

    def _make(self) -> DownloadCard:
        card = DownloadCard(self._theme)
        card.asked.connect(self.asked)
        return card
