"""Connects the window's parts to its conversations: what is drawn when, and what is asked when clicked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog

from desktop.conversations import Conversations
from desktop.drafts import Drafts
from desktop.tray import Tray
from desktop.ways_out import WaysOut
from desktop.window import MainWindow, window_title
from desktop.window_state import write_atomically
from resources.sentences import sentence
from resources.translation import _, ngettext
from runtime.events import ApprovalRequired, Done, ErrorRaised, Event, Queued, UsageReport, UserSaid

LINKS = ("http", "https", "mailto")


class Conductor(QObject):
    """Owns no widget; lives as long as the window."""

    def __init__(self, window: MainWindow, talks: Conversations, drafts: Drafts, tray: Tray) -> None:
        super().__init__(window)
        self._window = window
        self._talks = talks
        self._drafts = drafts
        self._tray = tray
        self._seen = False
        self.escapes: list[Callable[[], bool]] = []
        """Asked in turn when Esc is pressed; the first that says True has taken it."""
        self._ways_out = WaysOut(window, talks)
        self._connect_conversations()
        self._connect_chat()
        self._connect_lists()
        self._connect_composer()
        self._connect_context()

    def _connect_conversations(self) -> None:
        talks, window = self._talks, self._window
        talks.listed.connect(window.sidebar.set_sessions)
        talks.shown.connect(self._on_shown)
        talks.card_changed.connect(self._on_card)
        talks.happened.connect(self._on_event)
        talks.deleted.connect(self._on_deleted)
        talks.undone.connect(self._on_undone)
        talks.exported.connect(self._on_exported)
        talks.trouble.connect(self.on_trouble)

    def _connect_chat(self) -> None:
        chats, talks = self._window.chats, self._talks
        chats.undo_requested.connect(talks.undo)
        chats.retry_requested.connect(talks.retry)
        chats.edit_requested.connect(talks.edit)
        chats.fork_requested.connect(talks.fork)
        chats.continue_requested.connect(talks.continue_)
        chats.link_activated.connect(self._on_link)
        chats.copy_done.connect(lambda: self._window.toast.say(_("Copied")))
        chats.prompt_chosen.connect(self._on_prompt)
        chats.dropped.connect(talks.forget)
        self._window.approval.answered.connect(talks.answer)
        self._window.approval.approve_requested.connect(self.approve)
        self._window.escaped.connect(self.on_escape)

    def _connect_context(self) -> None:
        bar = self._window.status.context
        bar.clicked.connect(self.toggle_context)
        bar.asked.connect(lambda: self._ask_context(pinned=False))
        bar.left.connect(self._window.context.end_glance)

    def _connect_lists(self) -> None:
        sidebar, header, talks = self._window.sidebar, self._window.header, self._talks
        sidebar.new_requested.connect(self.new_chat)
        sidebar.open_requested.connect(talks.open)
        sidebar.rename_requested.connect(talks.rename)
        sidebar.delete_requested.connect(self._delete)
        sidebar.export_requested.connect(self.export)
        sidebar.search_changed.connect(talks.search)
        header.profile_chosen.connect(lambda name: talks.use(profile=name))
        header.model_chosen.connect(lambda name: talks.use(model=name))
        header.models_wanted.connect(lambda profile: talks.models(profile).then(header.add_models))

    def _connect_composer(self) -> None:
        composer = self._window.composer
        composer.submitted.connect(self._on_submitted)
        composer.stop_requested.connect(self._talks.cancel)
        composer.escaped.connect(self.on_escape)
        composer.draft_changed.connect(self._on_draft)
        composer.autonomy_chosen.connect(lambda mode: self._talks.use(autonomy=mode))
        composer.trouble.connect(self.on_trouble)

    # --- what the user asks ---------------------------------------------------------------------------

    def new_chat(self, private: bool = False) -> None:
        """Open an empty chat with the profile of the one in front."""
        self._talks.open(None, profile=self._talks.card.get("profile"), private=private)
        self._window.show_chat()

    def on_escape(self) -> None:
        """Leave it to who takes it first, else deny what is asked, stop what runs, or go back to the chat."""
        if any(takes() for takes in self.escapes):
            return
        if not self._window.on_chat:
            self._window.show_chat()
        elif not self._window.approval.isHidden():
            self._window.approval.on_deny()
        elif self._talks.card.get("busy"):
            self._talks.cancel()

    def approve(self) -> None:
        """Approve what is asked, unless the user is in the middle of writing something else."""
        editor = self._window.composer.editor
        if not (editor.hasFocus() and editor.toPlainText().strip()):
            self._window.approval.on_approve()

    def toggle_context(self) -> None:
        """Open or close the panel that shows what takes up the model's window."""
        panel = self._window.context
        if panel.isVisible() and panel.pinned:
            panel.close_pinned()
            return
        self._ask_context(pinned=True)

    def _ask_context(self, *, pinned: bool) -> None:
        panel, session = self._window.context, self._talks.current
        if not session or not self._window.on_chat:
            return
        panel.open_waiting(pinned)

        def counted(stats: dict[str, int]) -> None:
            if session == self._talks.current and panel.isVisible():
                panel.show_stats(stats)

        def failed(code: str, fields: dict[str, str | int | float]) -> None:
            panel.show_trouble(sentence(code, **fields))

        self._talks.context_stats(self._window.composer.text()).then(counted, failed)

    def export(self, session: str, form: str) -> None:
        """Ask for a file and write the session into it."""
        ending = "md" if form == "markdown" else "json"
        path, _filter = QFileDialog.getSaveFileName(self._window, _("Export chat"), f"chat.{ending}")
        if path:
            self._talks.export(session, form, path)

    def take_in(self) -> None:
        """Ask for an exported chat and open it."""
        path, _filter = QFileDialog.getOpenFileName(self._window, _("Import chat"), "", "JSON (*.json)")
        if not path:
            return
        try:
            self._talks.take_in(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            self.on_trouble("import_unreadable", {"problem": str(error)})

    def on_trouble(self, code: str, fields: dict[str, str | int | float]) -> None:
        """Say in a sentence what failed; the list shows again what is really in front."""
        self._window.sidebar.set_current(self._talks.current)
        self._window.toast.say(sentence(code, **fields))

    # --- what the runtime says ------------------------------------------------------------------------

    def _on_shown(self, card: dict[str, Any]) -> None:
        window = self._window
        if card["private"]:
            self._drafts.keep_in_memory(card["id"])
        window.chats.show_session(card)
        window.sidebar.set_current(card["id"])
        window.status.reset(card["state"])
        window.status.context.set_used(*self._talks.card.get("context", (0, 0)))
        window.context.hide()
        early = "" if self._seen else window.composer.text()
        self._seen = True
        window.composer.set_draft("\n".join(filter(None, (self._drafts.get(card["id"]), early))))
        window.composer.set_ready(True)
        self._on_card(card)
        window.show_chat()

    def _on_card(self, card: dict[str, Any]) -> None:
        mark = "waiting" if card["pending"] else "working" if card["busy"] else ""
        self._window.sidebar.set_mark(card["id"], mark)
        if card["id"] != self._talks.current:
            return
        self._window.header.show_card(card)
        self._window.composer.set_busy(card["busy"])
        self._window.composer.set_autonomy(card["autonomy"])
        self._window.composer.set_images_allowed(card["images"])
        self._window.approval.set_pending(card["pending"])
        self._window.setWindowTitle(window_title(card))

    def _on_event(self, event: Event) -> None:
        self._window.chats.on_event(event)
        self._notify(event)
        if event.session != self._talks.current:
            return
        self._window.status.on_event(event)
        match event.body:
            case Queued(text=text):
                self._window.composer.set_queued(text)
            case UserSaid():
                self._window.composer.set_queued("")
            case UsageReport(local=local):
                self._window.header.set_local(local, str(self._talks.card.get("host", "")))
            case Done() if self._window.context.isVisible():
                self._ask_context(pinned=self._window.context.pinned)
            case ErrorRaised(code=code, fields=fields):
                self._ways_out.offer(code, fields)
            case _:
                pass

    def _notify(self, event: Event) -> None:
        title = str(self._talks.cards.get(event.session, {}).get("title") or _("New chat"))
        if isinstance(event.body, ApprovalRequired):
            self._tray.notify(_("Orion asks you"), event.body.summary)
        elif isinstance(event.body, Done) and event.body.reason == "complete":
            self._tray.notify(_("Orion has answered"), title)

    # --- small answers --------------------------------------------------------------------------------

    def _on_submitted(self, text: str, pictures: list[tuple[str, str]]) -> None:
        session = self._talks.current

        def accepted(_record: str | None) -> None:
            self._drafts.put(session, "")
            if session == self._talks.current:
                self._window.composer.accepted()

        if self._window.composer.dictated and not pictures:
            self._talks.submit_spoken(text).then(accepted)
        else:
            self._talks.submit(text, pictures).then(accepted)

    def _on_draft(self, text: str) -> None:
        if self._talks.current:
            self._drafts.put(self._talks.current, text)

    def _on_prompt(self, text: str) -> None:
        self._window.composer.set_draft(text)
        self._window.composer.submit()

    def _delete(self, session: str, title: str) -> None:
        self._window.chats.drop(session)
        self._talks.delete(session, title)

    def _on_deleted(self, token: str, title: str) -> None:
        words = _("“{title}” was deleted").format(title=title[:40])
        self._window.toast.say(words, _("Undo"), lambda: self._talks.restore(token))

    def _on_undone(self, files: list[str]) -> None:
        words = ngettext("Taken back: {files}", "Taken back: {files}", len(files))
        self._window.toast.say(words.format(files=", ".join(files)))

    def _on_exported(self, path: str, text: str) -> None:
        try:
            write_atomically(Path(path), text.encode("utf-8", "surrogatepass"))
        except OSError as error:
            self.on_trouble("file_unwritable", {"path": path, "reason": error.strerror or ""})
        else:
            self._window.toast.say(_("Exported to {path}").format(path=path))

    def _on_link(self, address: str) -> None:
        url = QUrl(address)
        if url.scheme().lower() in LINKS:
            QDesktopServices.openUrl(url)
