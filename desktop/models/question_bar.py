"""A question that waits at the foot of the page: agree to a licence, a host, a deletion, or leave it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QVBoxLayout, QWidget

from desktop.notices import announce
from desktop.parts import button, label
from desktop.question import Question
from desktop.theme import spacing


class QuestionBar(QFrame):
    """Hidden until `put`. `link_wanted` carries the address of what one may read before one agrees."""

    link_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("question")
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._address = ""
        self.title = label("", "section", wrap=True)
        self.question = Question()
        self.link = button("", lambda: self.link_wanted.emit(self._address), "link")
        for made in self.question.buttons:
            made.clicked.connect(self._on_answered)
        column = QVBoxLayout(self)
        column.setContentsMargins(spacing(5), spacing(4), spacing(5), spacing(4))
        column.setSpacing(spacing(2))
        column.addWidget(self.title)
        column.addWidget(self.question)
        inside = self.question.layout()
        assert isinstance(inside, QVBoxLayout)
        inside.insertWidget(1, self.link, 0, Qt.AlignmentFlag.AlignLeft)
        QWidget.setTabOrder(self.link, self.question.yes)
        QWidget.setTabOrder(self.question.yes, self.question.no)
        self.hide()

    @property
    def asks(self) -> bool:
        """Whether it waits for an answer."""
        return not self.isHidden()

    def put(
        self, title: str, words: str, yes: str, run: Callable[[], object], origin: QWidget, *, careful: bool
    ) -> None:
        """Ask; `origin` has the keyboard again after a no. See Question.put."""
        self.title.setText(title)
        self.link.hide()
        self.show()
        self.question.put(words, yes, run, origin, careful=careful)
        self.setAccessibleName(title)
        announce(self, f"{title} {words}")

    def offer_link(self, words: str, address: str) -> None:
        """Let something be read before one answers."""
        self._address = address
        self.link.setText(words)
        self.link.setVisible(bool(address))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.asks:
            self.take_back()
        else:
            super().keyPressEvent(event)

    def take_back(self) -> None:
        """Leave it, as by its button."""
        self.question.on_no()
        self.hide()

    def _on_answered(self) -> None:
        if self.question.isHidden():
            self.hide()
