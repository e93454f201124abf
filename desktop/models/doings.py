"""What the user does with models: each is asked of the desk, with a question before where one is due."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from desktop import desk_models
from desktop.bridge import Bridge, Fields, Reply
from desktop.models.question_bar import QuestionBar
from desktop.models.stock import Stock
from resources.sentences import sentence
from resources.translation import _, ngettext
from runtime.amounts import size

Row = dict[str, Any]
HELD = ("model_held_by_lmstudio", "model_in_own_folder")
"""Codes of deletions that are asked about once more, since the file is not in a folder of this program."""


class Doings(QObject):
    """`said` carries a sentence on what came of something, `chosen` profile and model for the chat in front,
    `page_wanted` a page that helps, `planned` the plan of an import; `allowed` says that a host may be
    asked."""

    said = Signal(str)
    chosen = Signal(str, str)
    page_wanted = Signal(str)
    planned = Signal(object)
    allowed = Signal()

    def __init__(self, bridge: Bridge, stock: Stock, question: QuestionBar, page: QWidget) -> None:
        super().__init__(page)
        self._bridge = bridge
        self._stock = stock
        self._question = question
        self._page = page

    # --- fetching -------------------------------------------------------------------------------------

    def fetch(self, card: Row, file: str, origin: QWidget, *, accepted: bool = False) -> None:
        """Begin a download; questions about licence and host come first where they are open."""

        def refused(code: str, fields: Fields) -> None:
            again = self.fetch
            if code == "licence_not_accepted":
                self._ask_licence(card, lambda: again(card, file, origin, accepted=True), origin)
            elif code == "host_refused":
                self._ask_host(
                    str(fields["host"]), lambda: again(card, file, origin, accepted=accepted), origin
                )
            else:
                self._on_refused(code, fields)

        def begun(_row: Row) -> None:
            self.said.emit(_("Fetching {title}: see the top of this page.").format(title=card["title"]))
            self._stock.follow()

        self._take(self._bridge.ask(desk_models.model_fetch, card["id"], file, accepted), begun, refused)

    def look_up(self, name: str, failed: Callable[[], object]) -> None:
        """Ask which files a result of the search has."""

        def refused(code: str, fields: Fields) -> None:
            failed()
            if code == "host_refused":
                self._ask_host(str(fields["host"]), lambda: self.look_up(name, failed), self._page)
            else:
                self._on_refused(code, fields)

        self._stock.look_up(name, refused)

    def on_download(self, wish: str, row: Row) -> None:
        """Do with a download what its card was asked for."""
        match wish:
            case "pause":
                self._do(desk_models.model_pause, row["id"])
            case "resume":
                self._do(desk_models.model_resume, row["id"])
            case "stop":
                self._do(desk_models.model_stop, row["id"])
            case "allow":
                self.allow(str(row["host"]), lambda: self._do(desk_models.model_resume, row["id"]))
            case "token":
                self.page_wanted.emit("services")
            case "use":
                self.use(str(row["name"]))
            case "examine":
                self.examine(str(row["name"]))

    def allow(self, host: str, then: Callable[[], object] | None = None) -> None:
        """Let the host be asked from now on, as the button said."""

        def done(_nothing: object) -> None:
            (then or self.allowed.emit)()

        self._take(self._bridge.ask(desk_models.models_allow, host), done)

    # --- installed models -----------------------------------------------------------------------------

    def use(self, name: str) -> None:
        """Let new chats and the one in front use the model."""

        def done(row: Row) -> None:
            told = _("Chats now use {title}.") if row["profile"] else _("{title} now listens when you speak.")
            self.said.emit(told.format(title=self._stock.title_of(name)))
            if row["profile"]:
                self.chosen.emit(row["profile"], row["model"])
            self._stock.reread()

        self._take(self._bridge.ask(desk_models.model_use, name), done)

    def examine(self, name: str) -> None:
        """Begin the exam of a model."""
        self._take(self._bridge.ask(desk_models.model_exam, name), lambda _run: self._stock.follow())

    def stop_exam(self) -> None:
        """End the exam that runs."""
        self._do(desk_models.model_stop_exam)

    def delete(self, name: str, origin: QWidget) -> None:
        """Ask whether a model shall go, saying what that frees."""
        title = self._stock.title_of(name)

        def ask(freed: Row) -> None:
            count = len(freed["files"])
            files = ngettext("{count} file", "{count} files", count).format(count=count)
            words = _(
                "This frees {size} on the disk ({files}). It cannot be undone; what came from the hub can be "
                "fetched again."
            )
            if not freed["bytes"]:
                words = _("This takes it off the list and frees nothing: its files are used elsewhere too.")
            self._question.put(
                _("Delete {title}?").format(title=title),
                words.format(size=size(freed["bytes"]), files=files),
                _("Delete it"),
                lambda: self._delete(name, title, origin),
                origin,
                careful=True,
            )

        self._take(self._bridge.ask(desk_models.model_frees, name), ask)

    def _delete(self, name: str, title: str, origin: QWidget, *, agreed: bool = False) -> None:
        def done(_freed: object) -> None:
            self.said.emit(_("{title} is deleted.").format(title=title))
            self._stock.forget(name)
            self._stock.reread()

        def refused(code: str, fields: Fields) -> None:
            if code not in HELD:
                self._on_refused(code, fields)
                return
            asked, yes = _("Delete {title} all the same?").format(title=title), _("Delete it all the same")
            run = partial(self._delete, name, title, origin, agreed=True)
            self._question.put(asked, sentence(code, **fields), yes, run, origin, careful=True)

        self._page.setFocus()
        self._take(self._bridge.ask(desk_models.model_delete, name, agreed), done, refused)

    # --- taking in ------------------------------------------------------------------------------------

    def plan(self, paths: list[str]) -> None:
        """Find out what taking these in would mean."""
        self._take(self._bridge.ask(desk_models.models_plan, paths), self.planned.emit)

    def take(self, paths: list[str], mode: desk_models.Mode) -> None:
        """Take files in."""

        def begun(_rows: object) -> None:
            self._page.setFocus()
            self._stock.follow()
            self._stock.reread()

        self._take(self._bridge.ask(desk_models.models_take, paths, mode), begun)

    # --- questions ------------------------------------------------------------------------------------

    def _ask_licence(self, card: Row, run: Callable[[], object], origin: QWidget) -> None:
        words = _("{title} comes under {licence}. Its maker asks you to accept that before you fetch it.")
        self._question.put(
            _("Accept the licence of {title}?").format(title=card["title"]),
            words.format(title=card["title"], licence=card["licence"] or _("a licence of its own")),
            _("I accept it"),
            run,
            origin,
            careful=False,
        )
        self._question.offer_link(_("Read the licence"), card["licence_url"])

    def _ask_host(self, host: str, run: Callable[[], object], origin: QWidget) -> None:
        words = _(
            "{host} is told which model is wanted and the address of this machine, nothing of your chats. "
            "The Network page shows what was fetched, and takes the permission back."
        )
        self._question.put(
            _("Fetch from {host}?").format(host=host),
            words.format(host=host),
            _("Allow {host}").format(host=host),
            lambda: self.allow(host, run),
            origin,
            careful=False,
        )

    # --- answers --------------------------------------------------------------------------------------

    def _do(self, question: Callable[..., Any], *given: Any) -> None:
        self._take(self._bridge.ask(question, *given), lambda _nothing: self._stock.follow())

    def _take(
        self,
        reply: Reply[Any],
        done: Callable[[Any], object],
        failed: Callable[[str, Fields], object] | None = None,
    ) -> None:
        self._stock.take(reply, done, failed or self._on_refused)

    def _on_refused(self, code: str, fields: Fields) -> None:
        if code == "download_gated":
            self._question.put(
                _("Its maker asks for a sign-up"),
                sentence(code, **fields),
                _("Enter a token"),
                lambda: self.page_wanted.emit("services"),
                self._page,
                careful=False,
            )
        else:
            self.said.emit(sentence(code, **fields))
