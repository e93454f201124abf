"""The card of a model that can be fetched: what it is, how it would do here, and one main button."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QFrame, QMenu, QVBoxLayout, QWidget

from desktop.models.fit_line import Foot
from desktop.models.flow import FlowRow
from desktop.models.side_by_side import SideBySide
from desktop.models.wording import (
    abilities,
    download_size,
    facts,
    fit_tone,
    fit_words,
    parameters,
    window_words,
)
from desktop.parts import button, choose, label, picker, plain_tip, restyle
from desktop.theme import Theme, spacing
from resources.translation import _

Row = dict[str, Any]
TITLE = 180
"""Pixels that a title has at least beside the badge, at normal text size."""
GOES_ON = ("queued", "running", "paused", "checking")
"""States of a download that is not at an end."""


class OfferCard(QFrame):
    """Draws a CARD of runtime/model_shelf.py. `wanted` carries repository and file, `sizes_wanted` the
    repository whose files are not known yet, `use_wanted` the name of the installed model, and
    `licence_wanted` the address of the licence's text, and `watch_wanted` the download that is to be seen."""

    wanted = Signal(str, str)
    sizes_wanted = Signal(str)
    use_wanted = Signal(str)
    licence_wanted = Signal(str)
    watch_wanted = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self._card: Row = {"variants": []}
        self._file = ""
        self._downloads: list[Row] = []
        self._asking = False
        self.title = label("", "cardtitle", wrap=True)
        self.maker = label("", "small", wrap=True)
        self.best = label("", "badge")
        self.top = SideBySide(self.title, self.best, TITLE)
        self.top.set_scale(theme.scale)
        self.about = label("", wrap=True)
        self.facts = label("", "small", wrap=True)
        self.chips = FlowRow(spacing(1.5))
        self.licence = button("", self._on_licence, "link")
        self.foot = Foot(theme)
        self.sizes = picker(_("Other sizes of this model"), self._fill_sizes)
        self.sizes.setProperty("role", "")
        self.main = button("", self.on_main, "main")
        self._lay_out()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(spacing(5), spacing(4), spacing(5), spacing(4))
        column.setSpacing(spacing(2.5))
        head = QVBoxLayout()
        head.setSpacing(spacing(0.5))
        head.addWidget(self.top)
        head.addWidget(self.maker)
        column.addLayout(head)
        column.addWidget(self.about)
        column.addWidget(self.facts)
        column.addWidget(self.chips)
        column.addSpacing(spacing(0.5))
        column.addWidget(self.foot)
        self.foot.add(self.sizes, self.main)

    @property
    def row(self) -> Row:
        """The CARD that is drawn."""
        return self._card

    # --- what is drawn --------------------------------------------------------------------------------

    def show_row(self, card: Row, downloads: list[Row]) -> None:
        """Draw the model as it is now, with the downloads that there are; the size that was chosen stays."""
        mine = [row for row in downloads if row["repository"] == card["id"]]
        changed = card != self._card
        if not changed and mine == self._downloads:
            return
        self._card, self._downloads, self._asking = card, mine, False
        if changed:
            if self._file not in [variant["file"] for variant in card["variants"]]:
                self._file = _first(card)
            self._show_facts()
        self._show_variant()

    def set_best(self, words: str) -> None:
        """Mark the card as the one to take; an empty string takes the mark away."""
        if words == self.best.text() and self.best.isHidden() != bool(words):
            return
        self.best.setText(words)
        self.best.setProperty("tone", "accent")
        restyle(self.best)
        self.best.setVisible(bool(words))
        self.main.setProperty("role", "primary" if words else "main")
        restyle(self.main)

    def set_theme(self, theme: Theme) -> None:
        self.foot.set_theme(theme)
        self.top.set_scale(theme.scale)

    def _show_facts(self) -> None:
        card = self._card
        self.title.setText(card["title"])
        self.maker.setText(_by(card))
        self.about.setText(card["about"])
        self.about.setVisible(bool(card["about"]))
        self.chips.clear()
        for word, meaning in abilities(card):
            chip = label(word, "badge")
            chip.setProperty("tone", "plain")
            chip.setToolTip(plain_tip(meaning))
            chip.setAccessibleDescription(meaning)
            self.chips.flow.addWidget(chip)
        if card["licence"] and card["licence_url"]:
            self.licence = button(card["licence"], self._on_licence, "link")
            self.licence.setAccessibleName(_("Licence: {name}").format(name=card["licence"]))
            self.licence.setToolTip(_("Read the licence in the browser"))
            self.chips.flow.addWidget(self.licence)

    def _show_variant(self) -> None:
        card, variant = self._card, self._variant()
        size = download_size(variant) if variant else ""
        window = (
            _("keeps {window} in view").format(window=window_words(card["window"])) if card["window"] else ""
        )
        licence = "" if card["licence_url"] else card["licence"]
        self.facts.setText(facts(parameters(card["parameters"]), size, window, licence))
        self.facts.setVisible(bool(self.facts.text()))
        self.foot.fit.show_fit(variant["fit"] if variant else None)
        self.sizes.setText(_size_name(variant) if variant else "")
        self.sizes.setVisible(len(card["variants"]) > 1)
        self.sizes.setAccessibleName(_("Size of {title}: {size}").format(title=card["title"], size=size))
        words, name = self._main_words(variant)
        self.main.setText(words)
        self.main.setAccessibleName(name.format(title=card["title"], size=size))
        self.setAccessibleName(
            facts(card["title"], self.maker.text(), fit_words(variant["fit"] if variant else None))
        )
        self.foot.arrange()

    def _main_words(self, variant: Row | None) -> tuple[str, str]:
        """What the main button says, and its spoken name."""
        if variant is None:
            words = _("Looking…") if self._asking else _("See sizes")
            return words, _("See the sizes of {title}")
        if variant["installed"]:
            return _("Use it"), _("Use {title}")
        running = self._download(variant)
        if running is not None:
            share = running["done"] / running["total"] if running["total"] else 0.0
            states = {"paused": _("Paused"), "checking": _("Checking…"), "queued": _("Waiting…")}
            told = states.get(running["state"], _("{percent} %").format(percent=int(100 * share)))
            return told, _("{title} is being fetched: go to it")
        return _("Get"), _("Get {title}, {size}")

    def _download(self, variant: Row) -> Row | None:
        files = set(variant.get("files") or [variant["file"]])
        for row in self._downloads:
            names = {one["name"] if isinstance(one, dict) else str(one) for one in row["files"]}
            if row["state"] in GOES_ON and (files & names or not names):
                return row
        return None

    def _variant(self) -> Row | None:
        return next((one for one in self._card["variants"] if one["file"] == self._file), None)

    # --- what the user does ---------------------------------------------------------------------------

    def on_main(self) -> None:
        """Get it, watch it come, use it, or ask which sizes there are."""
        variant = self._variant()
        running = self._download(variant) if variant is not None else None
        if self._asking:
            return
        if variant is None:
            self._asking = True
            self._show_variant()
            self.sizes_wanted.emit(self._card["id"])
        elif variant["installed"]:
            self.use_wanted.emit(variant["installed"])
        elif running is not None:
            self.watch_wanted.emit(running["id"])
        else:
            self.wanted.emit(self._card["id"], variant["file"])

    def end_asking(self) -> None:
        """The sizes did not come; they can be asked for again."""
        self._asking = False
        self._show_variant()

    def _on_licence(self) -> None:
        self.licence_wanted.emit(self._card["licence_url"])

    def _fill_sizes(self, menu: QMenu) -> None:
        group = QActionGroup(menu)
        for variant in self._card["variants"]:
            hint = _("recommended") if variant["recommended"] else ""
            if fit_tone(variant["fit"]) == "bad":
                hint = _("too large for this machine")
            if variant["installed"]:
                hint = _("installed")
            words = facts(variant["quantisation"] or variant["file"], download_size(variant), hint)
            action = choose(
                menu,
                group,
                words,
                variant["file"] == self._file,
                partial(self._on_size, variant["file"]),
            )
            action.setToolTip(fit_words(variant["fit"]))

    def _on_size(self, file: str) -> None:
        self._file = file
        self._show_variant()


def _first(card: Row) -> str:
    """The file that is offered at first: one that is here, else the recommended one."""
    variants = card["variants"]
    for found in (
        [one for one in variants if one["installed"]],
        [one for one in variants if one["recommended"]],
        variants,
    ):
        if found:
            return str(found[0]["file"])
    return ""


def _by(card: Row) -> str:
    """The maker, and how often it was fetched where the hub tells."""
    loads = card.get("downloads")
    often = _("fetched {count} times").format(count=f"{loads:,}") if loads else ""
    asks = _("its maker asks for a sign-up") if card.get("gated") else ""
    return facts(card["maker"], often, asks)


def _size_name(variant: Row) -> str:
    return variant["quantisation"] or download_size(variant)
