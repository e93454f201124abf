"""What the models page knows: asked of the desk, followed while it moves, and told by signals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal
from shiboken6 import isValid

from desktop import desk_models
from desktop.bridge import Bridge, Fields, Reply
from desktop.models.installed_card import CHATS
from desktop.models.offer_card import GOES_ON

Row = dict[str, Any]
CALM_MS = 500
"""Pause before asking again where a step did not move, so that nothing spins."""

LONGEST_MS = 30_000
"""Longest pause after failures, each of which doubles it."""


class Stock(QObject):
    """Holds the rows of the shelf. `here` says that machine and installed models are known anew, `moved` that
    downloads or the exam went on, `advised` and `found` that recommendations or results of a search came;
    `arrived` carries a download that ended well, `examined` the name of a model whose exam ended well;
    `menu` the model menu's rows after they changed; `failed` what went wrong with a part ("here",
    "advice", "search", "exam", "download", "following"), by code and fields."""

    here = Signal()
    moved = Signal()
    advised = Signal()
    found = Signal()
    arrived = Signal(object)
    examined = Signal(str)
    menu = Signal(object)
    failed = Signal(str, str, object)

    def __init__(self, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self.machine: Row = {}
        self.installed: list[Row] = []
        self.advice: list[Row] = []
        self.results: Row = {"known": [], "found": [], "refused": ""}
        self.downloads: list[Row] = []
        self.run: Row | None = None
        self._kind: desk_models.Kind = ""
        self._sought = ""
        self._following: set[str] = set()
        self._lost: set[str] = set()
        self._pauses = {what: self._pause(what) for what in ("downloads", "exam")}

    @property
    def examining(self) -> str:
        """The name of the model whose exam runs, or an empty string."""
        return str(self.run["model"]) if self.run is not None and self.run["state"] == "running" else ""

    def title_of(self, name: str) -> str:
        """What an installed model is called."""
        row = self.model(name)
        return str((row or {}).get("title") or name)

    def model(self, name: str) -> Row | None:
        """The row of an installed model, None where there is none of this name."""
        return next((row for row in self.installed if row["name"] == name), None)

    def _pause(self, what: str) -> QTimer:
        made = QTimer(self)
        made.setObjectName(f"follow {what}")
        made.setSingleShot(True)
        made.setInterval(CALM_MS)
        made.timeout.connect(self.follow)
        return made

    # --- asking ---------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Ask for everything that is shown from the beginning, and follow what moves."""
        self._ask(self._bridge.ask(desk_models.models_here), self._on_here, "here")
        self.advise(self._kind)
        self._follow("downloads", -1)
        self._follow("exam", -1)

    def advise(self, kind: desk_models.Kind) -> None:
        """Ask for what is recommended of a kind."""
        self._kind = kind
        self._ask(self._bridge.ask(desk_models.models_recommended, kind), self._on_advice, "advice")

    def search(self, words: str) -> None:
        """Look in the catalogue, and at the hub where that was allowed. What comes for words that were sought
        before these is dropped."""
        self._sought = words
        self.results = {"known": [], "found": [], "refused": ""}

        def found(results: Row) -> None:
            if self._sought == words:
                self._on_found(results)

        def fell(code: str, fields: Fields) -> None:
            if self._sought == words:
                self.failed.emit("search", code, fields)

        self.take(self._bridge.ask(desk_models.models_search, words), found, fell)

    def look_up(self, name: str, failed: Callable[[str, Fields], object]) -> None:
        """Ask for the files of one result of the search."""
        reply = self._bridge.ask(desk_models.model_info, name)
        self.take(reply, lambda card: self._on_info(name, card), failed)

    def follow(self) -> None:
        """Follow downloads and exam, if that was not so already."""
        self._follow("downloads", -1)
        self._follow("exam", -1)

    def take(
        self,
        reply: Reply[Any],
        done: Callable[[Any], object],
        failed: Callable[[str, Fields], object] | None = None,
    ) -> None:
        """Take an answer unless the page is gone by then; without `failed` the bridge tells of a failure."""

        def took(value: Any) -> None:
            if isValid(self):
                done(value)

        def fell(code: str, fields: Fields) -> None:
            if isValid(self) and failed is not None:
                failed(code, fields)

        reply.then(took, fell if failed is not None else None)

    def _ask(self, reply: Reply[Any], done: Callable[[Any], object], part: str) -> None:
        self.take(reply, done, lambda code, fields: self.failed.emit(part, code, fields))

    # --- what comes back ------------------------------------------------------------------------------

    def _on_here(self, told: Row) -> None:
        self.machine, self.installed = told["machine"], told["installed"]
        self._mark()
        self.here.emit()

    def _on_advice(self, rows: list[Row]) -> None:
        self.advice = rows
        self.advised.emit()

    def _on_found(self, results: Row) -> None:
        self.results = results
        self.found.emit()

    def _on_info(self, name: str, card: Row) -> None:
        for key in ("known", "found"):
            self.results[key] = [card if row["id"] == name else row for row in self.results[key]]
        self.found.emit()

    def _follow(self, what: str, seen: int) -> None:
        if what in self._following:
            return
        self._following.add(what)
        if what == "downloads":
            reply = self._bridge.ask(desk_models.models_step, seen)
        else:
            reply = self._bridge.ask(desk_models.models_exam_step, seen)

        def done(told: Row) -> None:
            self._following.discard(what)
            self._lost.discard(what)
            self._pauses[what].setInterval(CALM_MS)
            (self._on_downloads if what == "downloads" else self._on_exam)(told)
            if int(told["step"]) > seen:
                self._follow(what, int(told["step"]))
            else:
                self._rest(what, int(told["step"]))

        def fell(code: str, fields: Fields) -> None:
            self._following.discard(what)
            if what not in self._lost:  # told once, until it can be followed again
                self._lost.add(what)
                self.failed.emit("following", code, fields)
            self._pauses[what].setInterval(min(2 * self._pauses[what].interval(), LONGEST_MS))
            self._rest(what, -1)

        self.take(reply, done, fell)

    def _rest(self, what: str, seen: int) -> None:
        """Ask again a little later."""
        pause = self._pauses[what]
        pause.timeout.disconnect()
        pause.timeout.connect(lambda: self._follow(what, seen))
        pause.start()

    def _on_downloads(self, told: Row) -> None:
        went_on = {row["id"] for row in self.downloads if row["state"] in GOES_ON}
        self.downloads = told["downloads"]
        self._mark()
        self.moved.emit()
        fresh = [row for row in self.downloads if row["id"] in went_on and row["state"] == "done"]
        for row in fresh:
            self.note(row)
            self.arrived.emit(row)
        if fresh:
            self.reread()
        for row in self.downloads:
            if row["id"] in went_on and row["state"] == "failed":
                self.failed.emit("download", row["code"], row["fields"])

    def note(self, download: Row) -> None:
        """Write into the results of the last search that one of them is here now."""

        def now(card: Row, variant: Row) -> str:
            came = card["id"] == download["repository"] and variant["file"] in download["files"]
            return str(download["name"] if came else variant["installed"])

        self._relabel(now)

    def forget(self, name: str) -> None:
        """Write into the results of the last search that a model is not here any more."""
        self._relabel(lambda _card, one: "" if one["installed"] == name else str(one["installed"]))

    def _relabel(self, installed: Callable[[Row, Row], str]) -> None:
        """Have the results of the last search say of each file as which model it is installed."""
        for key in ("known", "found"):
            self.results[key] = [
                card | {"variants": [one | {"installed": installed(card, one)} for one in card["variants"]]}
                for card in self.results[key]
            ]
        if self.results["known"] or self.results["found"]:
            self.found.emit()

    def _on_exam(self, told: Row) -> None:
        before, was = self.examining, (self.run or {}).get("state", "failed")
        self.run = told["run"]
        self.moved.emit()
        if before and not self.examining:
            self.reread()
            if self.run is not None and self.run["state"] == "done":
                self.examined.emit(before)
        if self.run is not None and self.run["state"] == "failed" and was != "failed":
            self.failed.emit("exam", self.run["code"], self.run["fields"])

    def reread(self) -> None:
        """Ask for what changes with a model that came, went or was examined, the model menu included."""
        self._ask(self._bridge.ask(desk_models.models_here), self._on_here, "here")
        self.advise(self._kind)
        self.take(self._bridge.ask(desk_models.models_menu), self.menu.emit)

    def _mark(self) -> None:
        """Note on each download whether what came of it can be talked to and is not yet, and was examined."""
        talk = {
            model["name"]: bool(model["exam"])
            for model in self.installed
            if model["kind"] in CHATS and not model["default"]
        }
        self.downloads = [
            row | {"chats": row["name"] in talk, "examined": talk.get(row["name"], False)}
            for row in self.downloads
        ]
