"""The models page: what is on this machine, what would do well on it, and what else there is."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QFocusEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from desktop.bridge import Bridge, Fields
from desktop.models.activity import Activity
from desktop.models.card_list import CardList
from desktop.models.doings import Doings
from desktop.models.import_panel import ImportPanel
from desktop.models.installed_card import InstalledCard
from desktop.models.keyboard import follow_layout, keeping_keyboard
from desktop.models.offer_card import OfferCard
from desktop.models.question_bar import QuestionBar
from desktop.models.search_section import SearchSection
from desktop.models.state_card import StateCard
from desktop.models.stock import Stock
from desktop.models.tabs import Tabs
from desktop.models.wording import KINDS, fit_tone, kind_words, machine_words
from desktop.notices import announce
from desktop.parts import button, label
from desktop.theme import Theme, spacing
from resources.sentences import sentence
from resources.translation import _

Row = dict[str, Any]
WIDE = 880
NARROW = 420


class ModelsPage(QWidget):
    """`refresh` asks again; files may be dropped anywhere on it. `decided` carries a sentence on what came of
    something, `chosen` profile and model that the chat in front shall use, `menu_changed` the rows of the
    model menu, `page_wanted` the name of another page, `link_wanted` an address to open."""

    decided = Signal(str)
    chosen = Signal(str, str)
    menu_changed = Signal(object)
    page_wanted = Signal(str)
    link_wanted = Signal(str)

    def __init__(self, bridge: Bridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._faults: dict[str, str] = {}
        self.setAccessibleName(_("Models"))
        self.setAcceptDrops(True)
        self.stock = Stock(bridge, self)
        self.question = QuestionBar()
        self.doings = Doings(bridge, self.stock, self.question, self)
        self.machine = label("", "muted", wrap=True)
        self.bring = button(_("Import…"), self.on_import)
        self.activity = Activity(theme)
        self.intake = ImportPanel()
        sections = [("installed", _("Installed")), ("recommended", _("Recommended")), ("search", _("Search"))]
        self.tabs = Tabs(_("Parts of this page"), sections)
        self.kinds = Tabs(_("Kind of model"), [(kind, kind_words(kind)) for kind in ("", *KINDS)], "filter")
        self.state = StateCard(theme)
        self.installed: CardList[InstalledCard] = CardList("name", self._make_installed, self._draw_installed)
        self.advice: CardList[OfferCard] = CardList("id", self._make_offer, self._draw_advice)
        self.search = SearchSection(theme, self._make_offer, self._draw_found)
        self.drop = QLabel(_("Drop models here: GGUF files, all parts of split ones, or a folder"), self)
        self._lay_out()
        self._connect()
        self._show_section()
        self.stock.refresh()

    def _lay_out(self) -> None:
        self.body = QWidget()
        column = QVBoxLayout(self.body)
        column.setContentsMargins(spacing(6), spacing(3), spacing(6), spacing(10))
        column.setSpacing(spacing(4))
        head = QHBoxLayout()
        head.addWidget(label(_("Models"), "title"), 1)
        head.addWidget(self.bring)
        top = QVBoxLayout()
        top.setSpacing(spacing(1))
        top.addLayout(head)
        top.addWidget(self.machine)
        column.addLayout(top)
        for part in (self.activity, self.intake, self.tabs, self.kinds, self.state):
            column.addWidget(part)
        for section in (self.installed, self.advice, self.search):
            column.addWidget(section)
        column.addStretch(1)
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setWidget(_centred(self.body))
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self.area, 1)
        whole.addWidget(self.question)
        self.drop.setObjectName("drop")
        self.drop.setProperty("role", "cardtitle")
        self.drop.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.drop.setWordWrap(True)
        self.drop.hide()
        self._fit()

    def _connect(self) -> None:
        stock, doings = self.stock, self.doings
        stock.here.connect(self._on_here)
        stock.moved.connect(self._on_moved)
        stock.advised.connect(self._on_advised)
        stock.found.connect(lambda: self.search.show_results(stock.results))
        stock.arrived.connect(self._on_arrived)
        stock.examined.connect(self._on_examined)
        stock.failed.connect(self._on_failed)
        stock.menu.connect(self.menu_changed)
        doings.said.connect(self._say)
        doings.chosen.connect(self.chosen)
        doings.page_wanted.connect(self.page_wanted)
        doings.planned.connect(self._on_planned)
        doings.allowed.connect(self.search.again)
        self.tabs.chosen.connect(self._on_tab)
        self.kinds.chosen.connect(stock.advise)
        self.search.searched.connect(stock.search)
        self.search.allow_wanted.connect(doings.allow)
        self.activity.asked.connect(doings.on_download)
        self.activity.exam_stopped.connect(doings.stop_exam)
        self.intake.wanted.connect(doings.take)
        self.intake.left.connect(self.bring.setFocus)
        self.question.link_wanted.connect(self.link_wanted)
        follow_layout(self.body)
        lists = (self.activity.downloads, self.installed, self.advice, self.search.known, self.search.found)
        for cards in lists:
            cards.grew.connect(lambda: follow_layout(self.body))

    # --- what others ask of it ------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show the models as they are now."""
        self.stock.refresh()

    def show_section(self, section: str) -> None:
        """Show one of the parts: "installed", "recommended" or "search"."""
        self.tabs.choose(section)
        self.tabs.buttons[section].setFocus()

    def take_escape(self) -> bool:
        """Leave the question or the import that waits; whether one did."""
        if self.question.asks:
            self.question.take_back()
            return True
        if not self.intake.isHidden():
            self.intake.on_leave()
            return True
        return False

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.activity.set_theme(theme)
        self.state.set_theme(theme)
        self.search.set_theme(theme)
        for installed in self.installed.cards.values():
            installed.set_theme(theme)
        for offered in self.advice.cards.values():
            offered.set_theme(theme)
        self._fit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Give the keyboard on to the part that is shown. A focus proxy would do that too, but then the Tab
        key skips everything before it."""
        super().focusInEvent(event)
        self.tabs.buttons[self.tabs.current].setFocus(event.reason())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self.body.setMaximumWidth(round(WIDE * max(1.0, self._theme.scale)))
        side = spacing(6 if self.width() > NARROW * self._theme.scale else 3)
        column = self.body.layout()
        if column is not None and column.contentsMargins().left() != side:
            column.setContentsMargins(side, spacing(3), side, spacing(10))
        edge = spacing(3)
        self.drop.setGeometry(self.rect().adjusted(edge, edge, -edge, -edge))

    # --- cards ----------------------------------------------------------------------------------------

    def _make_installed(self) -> InstalledCard:
        card = InstalledCard(self._theme)
        card.use_wanted.connect(self.doings.use)
        card.exam_wanted.connect(self.doings.examine)
        card.watch_wanted.connect(self._on_watch_exam)
        card.delete_wanted.connect(lambda name: self.doings.delete(name, card.delete))
        return card

    def _make_offer(self) -> OfferCard:
        card = OfferCard(self._theme)
        card.wanted.connect(lambda name, file: self.doings.fetch(card.row, file, card.main))
        card.sizes_wanted.connect(lambda name: self.doings.look_up(name, card.end_asking))
        card.use_wanted.connect(self.doings.use)
        card.licence_wanted.connect(self.link_wanted)
        card.watch_wanted.connect(self._on_watch)
        return card

    def _draw_installed(self, card: InstalledCard, row: Row, place: int) -> None:
        del place
        card.show_row(row, self.stock.examining)

    def _draw_advice(self, card: OfferCard, row: Row, place: int) -> None:
        card.show_row(row, self.stock.downloads)
        best = place == 0 and any(
            one["recommended"] and fit_tone(one["fit"]) == "good" for one in row["variants"]
        )
        card.set_best(_("Best fit here") if best else "")

    def _draw_found(self, card: OfferCard, row: Row, place: int) -> None:
        del place
        card.show_row(row, self.stock.downloads)
        card.set_best("")

    # --- what comes back ------------------------------------------------------------------------------

    def _on_advised(self) -> None:
        self._faults.pop("recommended", None)
        self._show_section()

    def _on_here(self) -> None:
        self._faults.pop("installed", None)
        self.machine.setText(machine_words(self.stock.machine))
        count = len(self.stock.installed)
        self.tabs.set_words(
            "installed", _("Installed  {count}").format(count=count) if count else _("Installed")
        )
        self._on_moved()
        self._show_section()

    def _on_moved(self) -> None:
        """Downloads or the exam went on: draw what shows how far they are."""
        stock = self.stock
        with keeping_keyboard(self):
            self.activity.show_now(stock.downloads, stock.run, stock.title_of(stock.examining))
            self.installed.redraw()
            self.advice.redraw()
            self.search.known.redraw()
            self.search.found.redraw()

    def _on_arrived(self, row: Row) -> None:
        told = _("{title} is here.") if row["kind"] != "import" else _("{title} was imported.")
        self._say(told.format(title=row["title"]), quietly=self.isVisible())

    def _on_examined(self, name: str) -> None:
        row = self.stock.model(name) or {}
        self._say(_("{title} was examined.").format(title=row.get("title") or name), quietly=self.isVisible())

    def _on_watch(self, download: str) -> None:
        """Go to a download's card on top of the page."""
        if card := self.activity.downloads.cards.get(download):
            self.area.ensureWidgetVisible(card)
            card.take_keyboard()

    def _on_watch_exam(self) -> None:
        """Go to the exam on top of the page."""
        self.area.ensureWidgetVisible(self.activity.exam)
        self.activity.exam.stop.setFocus()

    def _on_planned(self, plan: list[Row]) -> None:
        self.intake.show_plan(plan)
        self.area.ensureWidgetVisible(self.intake)

    def _on_failed(self, part: str, code: str, fields: Fields) -> None:
        if part == "search":
            self.search.show_fault(code, fields)
        elif part in ("exam", "download", "following"):
            self._say(sentence(code, **fields), quietly=part == "download" and self.isVisible())
        elif part in ("here", "advice"):
            self._faults["installed" if part == "here" else "recommended"] = sentence(code, **fields)
            self._show_section()

    def _on_tab(self, section: str) -> None:
        self._show_section()
        if self.tabs.current == "search" and not self.tabs.moved_about:
            self.search.field.setFocus()

    def _show_section(self) -> None:
        """Show the part that was chosen, or what there is to say in its place."""
        with keeping_keyboard(self):
            self._draw_section(self.tabs.current, self.stock)

    def _draw_section(self, section: str, stock: Stock) -> None:
        fault = self._faults.get(section, "")
        self.search.setVisible(section == "search")
        self.installed.setVisible(section == "installed" and bool(stock.installed) and not fault)
        self.advice.setVisible(section == "recommended" and bool(stock.advice) and not fault)
        self.kinds.setVisible(section == "recommended")
        if section == "installed":
            self.installed.show_rows(stock.installed)
        elif section == "recommended":
            self.advice.show_rows(stock.advice)
        rows = {"installed": stock.installed, "recommended": stock.advice}
        if fault:
            told = _("The models cannot be shown")
            self.state.put("warning", told, fault, _("Try again"), self.refresh)
        elif section == "search" or rows[section]:
            self.state.hide()
        elif not stock.machine:
            self.state.put(
                "models", _("Looking at this machine…"), _("Its memory, its disk, and the models on it.")
            )
        elif section == "installed":
            self.state.put(
                "models",
                _("No model is on this machine yet"),
                _("A model answers your questions without sending them anywhere."),
                _("See what runs well here"),
                lambda: self.tabs.choose("recommended"),
            )
        else:
            self.state.put(
                "models", _("Nothing of this kind is known"), _("Choose another kind, or search for one.")
            )

    # --- what the user does ---------------------------------------------------------------------------

    def on_import(self) -> None:
        """Ask for files and show what taking them in would mean."""
        title, kinds = _("Import models"), _("Models (*.gguf);;All files (*)")
        paths, _kind = QFileDialog.getOpenFileNames(self, title, "", kinds)
        if paths:
            self.doings.plan(paths)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _paths(event):
            event.acceptProposedAction()
            self.drop.raise_()
            self.drop.show()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.drop.hide()
        super().dragLeaveEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        self.drop.hide()
        if paths := _paths(event):
            event.acceptProposedAction()
            self.doings.plan(paths)

    def _say(self, words: str, *, quietly: bool = False) -> None:
        """Tell it to who reads and who listens; `quietly` where what is seen says it already."""
        announce(self, words)
        if not quietly:
            self.decided.emit(words)


def _paths(event: QDropEvent) -> list[str]:
    return [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]


def _centred(body: QWidget) -> QWidget:
    outer = QWidget()
    row = QHBoxLayout(outer)
    row.setContentsMargins(0, 0, 0, 0)
    row.addStretch(1)
    row.addWidget(body, 1000)
    row.addStretch(1)
    return outer
