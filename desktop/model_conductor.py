"""Connects the models page to the window: the ways that lead there, and what changes when models do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from desktop import desk_models
from desktop.bridge import Bridge
from desktop.conversations import Conversations
from desktop.window import MainWindow
from resources.sentences import sentence
from resources.translation import _

if TYPE_CHECKING:
    from desktop.models.stock import Stock

SMALL = 400_000_000
"""Bytes of a model file below which it can chat a little and not much more."""


class ModelConductor(QObject):
    """Owns no widget; lives as long as the window. `join` is called with the models page when it is made,
    `begin` once the runtime is there and the header knows its models."""

    def __init__(self, window: MainWindow, bridge: Bridge, talks: Conversations) -> None:
        super().__init__(window)
        self._window = window
        self._bridge = bridge
        self._talks = talks
        self._page: Any = None
        self._stock: Stock | None = None
        window.header.more_models_requested.connect(lambda: window.show_page("models", "recommended"))
        window.chats.models_requested.connect(lambda: window.show_page("models", "recommended"))

    def begin(self) -> None:
        """Go on with the downloads that ran when the program ended, and see which models are there."""
        self._bridge.ask(desk_models.models_go_on).then(self._on_gone_on)
        self._advise()

    def join(self, page: QWidget) -> None:
        """Connect the page's signals."""
        made: Any = page
        self._page = made
        if self._stock is not None:
            self._stock.deleteLater()  # the page follows by itself
            self._stock = None
        made.chosen.connect(self._on_chosen)
        made.menu_changed.connect(self._on_menu)
        made.page_wanted.connect(self._window.show_page)
        made.link_wanted.connect(self._on_link)

    def take_escape(self) -> bool:
        """Leave the question that waits on the page, if one does."""
        return self._page is not None and self._page.isVisible() and bool(self._page.take_escape())

    def _on_gone_on(self, downloads: list[dict[str, Any]]) -> None:
        """Downloads go on from the last time: follow them until the page does."""
        from desktop.models.offer_card import GOES_ON
        from desktop.models.stock import Stock

        if not any(row["state"] in GOES_ON for row in downloads):
            return
        self._stock = Stock(self._bridge, self)
        self._stock.downloads = downloads
        self._stock.arrived.connect(self._on_arrived)
        self._stock.failed.connect(self._on_failed)
        self._stock.menu.connect(self._on_menu)
        self._stock.follow()

    def _on_arrived(self, row: dict[str, Any]) -> None:
        if self._page is None:
            self._window.toast.say(_("{title} is here.").format(title=row["title"]))

    def _on_failed(self, part: str, code: str, fields: dict[str, Any]) -> None:
        if self._page is None and part == "download":
            self._window.toast.say(sentence(code, **fields))

    def _on_chosen(self, profile: str, model: str) -> None:
        """Let the chat in front use the model too; what is not in front keeps its own."""
        if self._talks.card:
            other = profile if profile != self._talks.card["profile"] else None
            self._talks.use(profile=other, model=model)

    def _on_menu(self, models: list[dict[str, Any]]) -> None:
        self._window.header.set_choices(self._window.header.profiles, models)
        self._advise()

    def _advise(self) -> None:
        here = [one for one in self._window.header.models if one["provider"] == "local"]
        self._window.chats.advise(not any(one["size"] >= SMALL and not one["error"] for one in here))

    def _on_link(self, address: str) -> None:
        """Open an address that the catalogue or the hub named, in the browser."""
        url = QUrl(address)
        if url.scheme() == "https":
            QDesktopServices.openUrl(url)
