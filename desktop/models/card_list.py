"""A column of cards that keeps those it has, and makes new ones a few at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop.parts import button
from desktop.theme import spacing
from resources.translation import _

Row = dict[str, Any]
Card = TypeVar("Card", bound=QWidget)
AT_FIRST = 8
"""Cards that are shown before one asks for more."""

_AT_ONCE = 2
"""Cards made in one go, so that the window stays awake."""


class CardList(QWidget, Generic[Card]):
    """`make` makes an empty card, `draw` draws a row on one, `key` tells rows apart. `grew` says that there
    are new cards."""

    grew = Signal()

    def __init__(
        self,
        key: str,
        make: Callable[[], Card],
        draw: Callable[[Card, Row, int], object],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._key, self._make, self._draw = key, make, draw
        self._rows: list[Row] = []
        self._limit = AT_FIRST
        self.cards: dict[str, Card] = {}
        self.more = button("", self.on_more)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(spacing(4))
        self.column.addWidget(self.more)
        self.more.hide()
        self._pause = QTimer(self)
        self._pause.setObjectName("cards")
        self._pause.setInterval(0)
        self._pause.timeout.connect(self._go_on)

    def show_rows(self, rows: list[Row], *, anew: bool = False) -> None:
        """Show a card for each row, in their order; `anew` begins with the first few again."""
        self._rows = rows
        self._limit = AT_FIRST if anew else self._limit
        wanted = [str(row[self._key]) for row in rows[: self._limit]]
        for name in [name for name in self.cards if name not in wanted]:
            gone = self.cards.pop(name)
            self.column.removeWidget(gone)
            gone.hide()
            gone.deleteLater()
        self._go_on()

    def redraw(self) -> None:
        """Draw the rows again, as something beside them has changed."""
        for place, row in enumerate(self._rows[: self._limit]):
            if (card := self.cards.get(str(row[self._key]))) is not None:
                self._draw(card, row, place)

    def on_more(self) -> None:
        """Show more of them; the keyboard goes on the first new one."""
        before = len(self.cards)
        self._limit += AT_FIRST
        self._go_on()
        fresh = list(self.cards.values())[before:]
        if fresh and (first := fresh[0].nextInFocusChain()) is not None:
            first.setFocus()

    def _go_on(self) -> None:
        """Draw every row that has its card, and make the next few cards."""
        made, left = 0, False
        for place, row in enumerate(self._rows[: self._limit]):
            name = str(row[self._key])
            card = self.cards.get(name)
            if card is None:
                if made == _AT_ONCE:
                    left = True
                    break
                made += 1
                card = self.cards[name] = self._make()
            self._draw(card, row, place)
            if self.column.indexOf(card) != place:
                self.column.insertWidget(place, card)
                card.show()
        if left:
            self._pause.start()
        else:
            self._pause.stop()
        if made:
            self.grew.emit()
        rest = len(self._rows) - self._limit
        self.more.setVisible(rest > 0 and not left)
        self.more.setText(_("Show {count} more").format(count=min(rest, AT_FIRST)))
