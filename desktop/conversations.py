"""The window's side of its sessions: which are open, which one is shown, and what is asked of the bridge."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any, Literal

from PySide6.QtCore import QObject, Signal

from desktop import desk_voice
from desktop.bridge import Bridge, Fields, Reply
from desktop.desk import Desk
from resources.translation import _
from runtime.events import (
    ApprovalReceived,
    ApprovalRequired,
    Done,
    Event,
    ModeChanged,
    StateChange,
    Trust,
    UsageReport,
    UserSaid,
)

Card = dict[str, Any]
Decision = Literal["approve", "deny", "edit"]


class Conversations(QObject):
    """No widget and no runtime in here; everything goes through `bridge`. Main thread only.

    `shown` carries the card of the session that is now in front (with "rows" when it was just opened, so that
    its view must be filled); `card_changed` any later change of a card; `listed` the session list. Texts and
    lists travel as objects: Qt's own strings drop lone surrogates, and its lists are copies.
    """

    listed = Signal(object)
    shown = Signal(object)
    card_changed = Signal(object)
    happened = Signal(object)
    deleted = Signal(str, object)
    exported = Signal(object, object)
    undone = Signal(object)
    trouble = Signal(str, object)

    def __init__(self, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self.current = ""
        self.cards: dict[str, Card] = {}
        self._query = ""
        bridge.happened.connect(self._on_event)
        bridge.refused.connect(self.trouble)

    @property
    def card(self) -> Card:
        """The card of the session in front; empty before the first is open."""
        return self.cards.get(self.current, {})

    # --- the list -------------------------------------------------------------------------------------

    def begin(self, overview: dict[str, Any], last: str) -> None:
        """Take in the runtime's overview and open `last`, or a new session when it is not there."""
        stored = overview["sessions"]
        self._on_listed(stored)
        restore = overview["settings"]["sessions"]["restore_last"]
        self.open(last if restore and any(item["id"] == last for item in stored) else None)

    def refresh(self) -> None:
        """Ask for the list again, under the search words in force."""
        if self._query:
            self._bridge.ask(Desk.search, self._query).then(self.listed.emit)
        else:
            self._bridge.ask(Desk.sessions).then(self._on_listed)

    def search(self, text: str) -> None:
        self._query = text.strip()
        self.refresh()

    def rename(self, session: str, title: str) -> None:
        if session in self.cards:
            self.cards[session]["title"] = title
            self.card_changed.emit(self.cards[session])
        self._bridge.ask(Desk.rename, session, title).then(self._on_list_changed)

    def delete(self, session: str, title: str) -> None:
        """Delete a session; `deleted` then carries the token that brings it back. A private one is gone."""

        def gone(token: str | None) -> None:
            self.cards.pop(session, None)
            if token:
                self.deleted.emit(token, title)
            self.refresh()
            if session == self.current:
                self.current = ""
                self.open(None)

        if self.cards.get(session, {}).get("private"):
            self._bridge.ask(Desk.close_session, session).then(gone)
        else:
            self._bridge.ask(Desk.delete, session).then(gone)

    def restore(self, token: str) -> None:
        self._bridge.ask(Desk.restore, token).then(self._on_list_changed)

    def export(self, session: str, form: str, path: str) -> None:
        """Fetch a session as text; `exported` carries (path, text) and the window writes it."""
        self._bridge.ask(Desk.export, session, form).then(lambda text: self.exported.emit(path, text))

    def take_in(self, text: str) -> None:
        """Import an exported session and show it."""
        self._bridge.ask(Desk.import_, text).then(self._on_made)

    # --- opening --------------------------------------------------------------------------------------

    def open(self, session: str | None, *, profile: str | None = None, private: bool = False) -> None:
        """Bring a session to the front; None makes a new one, unless the one in front is still empty."""
        if session is None and not private and self._is_empty() and not self.card["private"]:
            session = self.current
        if session is not None and session in self.cards:
            self.current = session
            self.shown.emit(self.card)
            return
        self._bridge.ask(Desk.open, session, profile, private).then(self._on_opened, self._on_open_failed)

    def forget(self, session: str) -> None:
        """Let go of an idle session whose view was dropped."""
        if session in self.cards and session != self.current and not self.cards[session]["busy"]:
            del self.cards[session]
            self._bridge.ask(Desk.close_session, session)

    def fork(self, message: str) -> None:
        self._bridge.ask(Desk.fork, self.current, message).then(self._on_made)

    # --- talking --------------------------------------------------------------------------------------

    def submit(self, text: str, images: list[tuple[str, str]]) -> Reply[str]:
        """Say something in the session in front."""
        return self._bridge.ask(Desk.submit, self.current, text, images)

    def submit_spoken(self, text: str) -> Reply[None]:
        """Say something that was said aloud and looked over, so that it is answered aloud."""
        return self._bridge.ask(desk_voice.send, text)

    def cancel(self) -> None:
        if self.current:
            self._bridge.ask(Desk.cancel, self.current)

    def answer(
        self, approval: str, decision: Decision, trust: Trust, arguments: dict[str, Any] | None
    ) -> None:
        """Decide an approval of the session in front."""
        self._bridge.ask(Desk.answer, self.current, approval, decision, trust, arguments)

    def undo(self, change: str) -> None:
        self._bridge.ask(Desk.undo, self.current, change).then(self.undone.emit)

    def edit(self, message: str, text: str) -> None:
        self._bridge.ask(Desk.edit, self.current, message, text).then(self._on_opened)

    def retry(self) -> None:
        self._bridge.ask(Desk.retry, self.current).then(self._on_opened)

    def continue_(self) -> None:
        self._bridge.ask(Desk.continue_, self.current)

    def shorten(self, tokens: int, window: int) -> None:
        """Answer again with less of a conversation that does not fit the model."""
        self._bridge.ask(Desk.shorten, self.current, tokens, window)

    def retry_with(
        self, *, settings: dict[str, object] | None = None, model: str = "", profile: str = ""
    ) -> None:
        """Answer again with other settings, another model or another profile."""
        session = self.current
        changed = (
            self._bridge.ask(Desk.use, session, profile or None, model or None, None)
            if model or profile
            else self._bridge.ask(Desk.save_settings, settings or {})
        )
        changed.then(lambda _: self._again(session))

    def allow_host(self, host: str, who: str) -> None:
        """Let `who` send to `host` from now on, and answer again."""
        session = self.current
        allowed = self._bridge.ask(Desk.allow_host, host, who)
        allowed.then(lambda _: self._again(session))

    def _again(self, session: str) -> None:
        """Answer the last message of `session` again; without what was answered, where it is in front."""

        def show(opened: Card) -> None:
            if session == self.current:
                self._on_opened(opened)

        self._bridge.ask(Desk.retry, session).then(show)

    def context_stats(self, text: str) -> Reply[Card]:
        """How the model's window would be shared if `text` were said in the session in front."""
        return self._bridge.ask(Desk.context_stats, self.current, text)

    def models(self, profile: str) -> Reply[list[Card]]:
        """The models of the profile's service."""
        return self._bridge.ask(Desk.models, profile)

    def use(
        self,
        *,
        profile: str | None = None,
        model: str | None = None,
        autonomy: Literal["semi", "auto"] | None = None,
    ) -> None:
        """Switch profile, model or autonomy of the session in front."""
        self._bridge.ask(Desk.use, self.current, profile, model, autonomy).then(self._on_card)

    # --- what comes back ------------------------------------------------------------------------------

    def _is_empty(self) -> bool:
        return bool(self.current) and not self.card["busy"] and not self.card["title"]

    def _on_opened(self, opened: Card) -> None:
        self.current = opened["id"]
        self.cards[self.current] = {name: value for name, value in opened.items() if name != "rows"}
        self.shown.emit(opened)
        self.refresh()

    def _on_open_failed(self, code: str, fields: Fields) -> None:
        self.trouble.emit(code, fields)
        if not self.current:
            self._bridge.ask(Desk.open, None).then(self._on_opened)

    def _on_made(self, session: str) -> None:
        self.open(session)

    def _on_list_changed(self, sessions: list[Card]) -> None:
        if self._query:
            self.refresh()
        else:
            self._on_listed(sessions)

    def _on_listed(self, sessions: list[Card]) -> None:
        private = [_private_item(card) for card in self.cards.values() if card["private"]]
        self.listed.emit(private + sessions)

    def _on_card(self, card: Card) -> None:
        if card["id"] in self.cards:
            self.cards[card["id"]].update(card)
            self.card_changed.emit(self.cards[card["id"]])

    def _on_event(self, event: Event) -> None:
        card = self.cards.get(event.session)
        if card is not None and self._follow(card, event):
            self.card_changed.emit(card)
        self.happened.emit(event)
        if isinstance(event.body, UserSaid | Done):
            self._bridge.ask(Desk.card, event.session).then(self._on_card, lambda _code, _fields: None)
            self.refresh()

    def _follow(self, card: Card, event: Event) -> bool:
        """Bring `card` up to date with `event`; True when it changed."""
        body = event.body
        if isinstance(body, StateChange):
            card["state"] = body.new
            card["busy"] = body.new != "IDLE"
        elif isinstance(body, Done):
            card["state"], card["busy"], card["pending"] = "IDLE", False, []
        elif isinstance(body, UsageReport):
            card["context"] = [body.prompt + body.completion, body.window]
            return False
        elif isinstance(body, ModeChanged):
            card["profile"], card["model"], card["autonomy"] = body.profile, body.model, body.mode
        elif isinstance(body, ApprovalRequired):
            card["pending"] = [*card["pending"], asdict(body)]
        elif isinstance(body, ApprovalReceived):
            card["pending"] = [asked for asked in card["pending"] if asked["id"] != body.id]
        else:
            return False
        return True


def _private_item(card: Card) -> Card:
    """A private session as the list shows it while it is open; the store does not know it."""
    title = card["title"] or _("Private chat")
    return {"id": card["id"], "title": title, "updated": time.time(), "preview": _("Not stored")}
