"""The models on an Ollama server's disk, as a part of its card: see, fetch, stop and delete them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QScrollArea, QVBoxLayout, QWidget
from shiboken6 import isValid

from desktop import desk_ollama
from desktop.bridge import Bridge, Fields, Reply
from desktop.download_bar import DownloadBar
from desktop.notices import announce
from desktop.parts import ElidedLabel, button, label, line, restyle
from desktop.question import Question
from desktop.theme import spacing
from resources.sentences import sentence
from resources.translation import _
from runtime.amounts import size
from runtime.ollama_shelf import registry_of

Rows = list[dict[str, Any]]


class OllamaModels(QWidget):
    """Asks the server at `address` each time it is shown, and follows a download that runs already."""

    def __init__(self, bridge: Bridge, address: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._address = address
        self._following = False
        self._rows: Rows | None = None
        self.deletes: dict[str, QPushButton] = {}
        self.told = label(_("Asking Ollama…"), "small", wrap=True, selectable=True)
        self.again = button(_("Try again"), self.refresh)
        self.list = QWidget()
        self.field = QLineEdit()
        self.field.setPlaceholderText(_("Another model, for example qwen3:8b"))
        self.field.setAccessibleName(_("Name of a model that Ollama shall fetch"))
        self.field.returnPressed.connect(self.on_fetch)
        self.fetch = button(_("Fetch"), self.on_fetch)
        self.fetch.setEnabled(False)
        self.field.textChanged.connect(lambda text: self.fetch.setEnabled(bool(text.strip())))
        self.question = Question()
        self.download = DownloadBar(self.on_stop)
        self._lay_out()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(spacing(2))
        column.addWidget(line())
        column.addWidget(label(_("Models on its disk"), "section"))
        state = QHBoxLayout()
        state.addWidget(self.told, 1)
        state.addWidget(self.again)
        self.entry = QWidget()
        row = QHBoxLayout(self.entry)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(spacing(2))
        row.addWidget(self.field, 1)
        row.addWidget(self.fetch)
        inside = QVBoxLayout(self.list)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(spacing(1))
        column.addWidget(self.list)
        column.addLayout(state)
        for part in (self.question, self.download, self.entry):
            column.addWidget(part)
        for part in (self.again, self.question, self.download, self.entry, self.list):
            part.hide()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self.refresh()

    def refresh(self) -> None:
        """Ask for the models, and for a download that was begun before."""
        self._ask(self._bridge.ask(desk_ollama.ollama_models, self._address), self._show, self._on_silent)
        self._follow(-1)

    # --- what the user does ---------------------------------------------------------------------------

    def on_fetch(self) -> None:
        """Ask whether Ollama may fetch what was typed."""
        name = self.field.text().strip()
        if not name or self.download.running:
            return
        told = _(
            "Ollama will fetch {name} from {registry}. It goes out to the network for that itself: what it "
            "moves is not in the ledger of this program."
        )
        words = told.format(name=name, registry=registry_of(name))
        self._put(words, _("Let it fetch"), partial(self._begin, name), self.field)

    def on_delete(self, name: str) -> None:
        """Ask whether the model shall go."""
        known = next((row for row in self._rows or [] if row["name"] == name), {"size": 0})
        told = _("Delete {name} ({size}) from the disk of Ollama? It can only be fetched again.")
        words = told.format(name=name, size=size(known["size"]))
        self._put(words, _("Delete it"), partial(self._delete, name), self.deletes[name], careful=True)

    def on_stop(self) -> None:
        """Stop the download; what came of it stays with Ollama."""
        self._ask(self._bridge.ask(desk_ollama.ollama_stop, self._address), self._on_step)

    def _put(
        self, words: str, yes: str, run: Callable[[], object], origin: QWidget, *, careful: bool = False
    ) -> None:
        self.question.put(words, yes, run, origin, careful=careful)
        announce(self, words)
        self._reveal(self.question)

    def _reveal(self, part: QWidget) -> None:
        """Scroll to what just appeared, once it has its place."""
        area: QWidget | None = self.parentWidget()
        while area is not None and not isinstance(area, QScrollArea):
            area = area.parentWidget()
        if area is not None:
            found = area
            QTimer.singleShot(0, part, lambda: found.ensureWidgetVisible(part))

    def _begin(self, name: str) -> None:
        self.field.clear()
        self.field.setFocus()
        self._say("")
        self._ask(self._bridge.ask(desk_ollama.ollama_pull, self._address, name), self._on_begun)

    def _delete(self, name: str) -> None:
        self.field.setFocus()
        words = _("{name} is deleted.").format(name=name)
        asked = self._bridge.ask(desk_ollama.ollama_delete, self._address, name)
        self._ask(asked, lambda rows: self._show(rows, words))

    # --- what comes back ------------------------------------------------------------------------------

    def _show(self, rows: Rows, words: str = "") -> None:
        """List the models and say `words`; the button that has the keyboard keeps it."""
        self.again.hide()
        self.entry.show()
        self._say(
            words or ("" if rows else _("No model yet. Name one below; ollama.com/library lists them."))
        )
        if rows != self._rows:
            self._rows = rows
            self._build(rows)
        self.list.setVisible(bool(rows))

    def _build(self, rows: Rows) -> None:
        held = next((name for name, made in self.deletes.items() if made.hasFocus()), "")
        column = self.list.layout()
        assert column is not None
        while (item := column.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        self.deletes = {}
        for row in rows:
            column.addWidget(self._row(row))
        order = (*self.deletes.values(), self.again, *self.question.buttons, self.download.stop, self.field)
        for before, after in pairwise((*order, self.fetch)):
            QWidget.setTabOrder(before, after)
        if held in self.deletes:
            self.deletes[held].setFocus()

    def _row(self, row: dict[str, Any]) -> QWidget:
        name = str(row["name"])
        made = QWidget()
        line_of_it = QHBoxLayout(made)
        line_of_it.setContentsMargins(0, 0, 0, 0)
        line_of_it.setSpacing(spacing(2))
        line_of_it.addWidget(ElidedLabel(name), 1)
        facts = [row["parameters"], size(row["size"]) if row["size"] else ""]
        line_of_it.addWidget(label(" · ".join(fact for fact in facts if fact), "small"))
        delete = button(_("Delete"), partial(self.on_delete, name))
        delete.setAccessibleName(_("Delete {name}").format(name=name))
        line_of_it.addWidget(delete)
        self.deletes[name] = delete
        return made

    def _on_silent(self, code: str, fields: Fields) -> None:
        """The server did not answer: say why, and leave nothing that could only fail."""
        for part in (self.list, self.entry, self.question):
            part.hide()
        self.again.show()
        self._say(sentence(code, **fields), "error")

    def _on_begun(self, now: dict[str, Any]) -> None:
        if self._on_step(now):
            self.download.stop.setFocus()
            self._reveal(self.download)
        self._follow(now["step"])

    def _follow(self, seen: int) -> None:
        if not self._following:
            self._following = True
            asked = self._bridge.ask(desk_ollama.ollama_step, self._address, seen)
            self._ask(asked, self._on_followed, self._on_lost)

    def _on_followed(self, now: dict[str, Any]) -> None:
        self._following = False
        if self._on_step(now):
            self._follow(now["step"])

    def _on_lost(self, code: str, fields: Fields) -> None:
        self._following = False
        self.download.hide()
        self._say(sentence(code, **fields), "error")

    def _on_step(self, now: dict[str, Any]) -> bool:
        """Show how far the download is; whether it goes on."""
        running = bool(now) and now["state"] == "running"
        ended = self.download.running and not running
        had = self.download.stop.hasFocus()
        self.download.show_step(now if running else None)
        self.fetch.setEnabled(not running and bool(self.field.text().strip()))
        self.field.setEnabled(not running)
        if ended:
            if had:
                self.field.setFocus()
            self._on_ended(now)
            self._reveal(self.told)
        return running

    def _on_ended(self, now: dict[str, Any]) -> None:
        name = now.get("model", "")
        if now.get("state") == "failed":
            self._say(sentence(now["code"], **now["fields"]), "error")
            return
        if now.get("state") == "done":
            words = _("{name} is there; the model menu shows it.").format(name=name)
            asked = self._bridge.ask(desk_ollama.ollama_models, self._address)
            self._ask(asked, lambda rows: self._show(rows, words), self._on_silent)
            return
        told = _("Stopped. What came of {name} stays with Ollama; fetching it again goes on from there.")
        self._say(told.format(name=name))

    def _ask(
        self,
        reply: Reply[Any],
        done: Callable[[Any], object],
        failed: Callable[[str, Fields], object] | None = None,
    ) -> None:
        """Take the answer unless this widget is gone by then."""

        def took(value: Any) -> None:
            if isValid(self):
                done(value)

        def fell(code: str, fields: Fields) -> None:
            if isValid(self):
                (failed or self._on_refused)(code, fields)

        reply.then(took, fell)

    def _on_refused(self, code: str, fields: Fields) -> None:
        self._say(sentence(code, **fields), "error")

    def _say(self, text: str, role: str = "small") -> None:
        self.told.setText(text)
        self.told.setVisible(bool(text))
        self.told.setProperty("role", role)
        restyle(self.told)
        if text:
            announce(self, text)


def add_models(card: QWidget, bridge: Bridge, provider: str, address: str) -> None:
    """Give the card of an Ollama server its part with the models; the cards of other services none."""
    column = card.layout()
    if provider == "ollama" and column is not None:
        column.addWidget(OllamaModels(bridge, address))
