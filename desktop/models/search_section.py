"""The search of the models page: a field, what the catalogue has, and what the hub has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from desktop.models.card_list import CardList
from desktop.models.offer_card import OfferCard
from desktop.models.state_card import StateCard
from desktop.notices import announce
from desktop.parts import button, label
from desktop.theme import Theme, spacing
from resources.sentences import sentence
from resources.translation import _, ngettext

Row = dict[str, Any]
HUB = "huggingface.co"


class SearchSection(QWidget):
    """`searched` carries the words to look for, `allow_wanted` the host that would be asked too."""

    searched = Signal(str)
    allow_wanted = Signal(str)

    def __init__(
        self,
        theme: Theme,
        make: Callable[[], OfferCard],
        draw: Callable[[OfferCard, Row, int], object],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._asked = ""
        self.field = QLineEdit()
        self.field.setPlaceholderText(_("Name, maker or what it is for"))
        self.field.setAccessibleName(_("Search for models"))
        self.field.setClearButtonEnabled(True)
        self.field.returnPressed.connect(self.on_search)
        self.go = button(_("Search"), self.on_search)
        self.state = StateCard(theme)
        self.known_head = label(_("In Orion's catalogue"), "section")
        self.known: CardList[OfferCard] = CardList("id", make, draw)
        self.found_head = label(_("Elsewhere on the hub"), "section")
        self.found: CardList[OfferCard] = CardList("id", make, draw)
        self.beyond = StateCard(theme)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(spacing(4))
        row = QHBoxLayout()
        row.setSpacing(spacing(2))
        row.addWidget(self.field, 1)
        row.addWidget(self.go)
        column.addLayout(row)
        for part in (self.state, self.known_head, self.known, self.found_head, self.found, self.beyond):
            column.addWidget(part)
        self._show_parts([], [])
        self._invite()

    def set_theme(self, theme: Theme) -> None:
        for state in (self.state, self.beyond):
            state.set_theme(theme)
        for card in (*self.known.cards.values(), *self.found.cards.values()):
            card.set_theme(theme)

    def on_search(self) -> None:
        """Look for what was typed."""
        words = self.field.text().strip()
        if not words:
            self._asked = ""
            self._show_parts([], [])
            self._invite()
            return
        self._asked = words
        self.again()

    def again(self) -> None:
        """Look for the same words once more."""
        if not self._asked:
            return
        if self.beyond.way.hasFocus():
            self.field.setFocus()  # the button goes
        self._show_parts([], [])
        self.beyond.hide()
        self.state.put("search", _("Looking for {words}…").format(words=self._asked))
        self.searched.emit(self._asked)

    def show_results(self, results: Row) -> None:
        """Draw what came."""
        known, found, refused = results["known"], results["found"], results["refused"]
        if not self._asked:
            return
        fresh = not self.state.isHidden()
        self.state.hide()
        self._show_parts(known, found, anew=fresh)
        count, code = len(known) + len(found), results.get("code", "")
        if not count and not code:
            words = _("Try fewer or other words, for example a maker's name.")
            told = _("Nothing found for {words}").format(words=self._asked)
            self.state.put("search", told, "" if refused else words)
        elif fresh and count:
            announce(self, ngettext("{count} model found", "{count} models found", count).format(count=count))
        if refused:
            self._offer_hub(str(refused))
        elif code:
            told = _("Only the catalogue was searched") if count else _("The search failed")
            words = sentence(code, **results["fields"])
            self.beyond.put("warning", told, words, _("Try again"), self.again)
        else:
            self.beyond.hide()

    def show_fault(self, code: str, fields: dict[str, Any]) -> None:
        """Say why nothing came."""
        self._show_parts([], [])
        self.state.put(
            "warning", _("The search failed"), sentence(code, **fields), _("Try again"), self.on_search
        )

    def _invite(self) -> None:
        words = _(
            "The catalogue is searched on this machine. Beyond it, models are looked for at {host}, "
            "once you allow it."
        )
        self.state.put("search", _("What are you looking for?"), words.format(host=HUB))
        self.beyond.hide()

    def _offer_hub(self, host: str) -> None:
        words = _(
            "The catalogue needs no network. To look further, {host} is told the words you search for "
            "and the address of this machine, nothing of your chats."
        )
        self.beyond.put(
            "network",
            _("Search {host} too?").format(host=host),
            words.format(host=host),
            _("Allow {host}").format(host=host),
            lambda: self.allow_wanted.emit(host),
        )

    def _show_parts(self, known: list[Row], found: list[Row], *, anew: bool = True) -> None:
        for rows, head, cards in ((known, self.known_head, self.known), (found, self.found_head, self.found)):
            cards.show_rows(rows, anew=anew)
            head.setVisible(bool(rows))
            cards.setVisible(bool(rows))
