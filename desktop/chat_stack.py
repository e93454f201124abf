"""A view for each open session, so that one that works in the background goes on drawing."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from desktop.theme import Theme
from resources.translation import _
from runtime.events import Event

if TYPE_CHECKING:
    from desktop.chat.view import ChatView
    from desktop.chat.welcome import Kind

KEPT = 6


class ChatStack(QStackedWidget):
    """Passes events to the view of their session. `dropped` names a session whose view was closed to save
    memory. The chat is imported with the first view, not before: it is the heavy part of the window."""

    undo_requested = Signal(str)
    retry_requested = Signal()
    edit_requested = Signal(str, object)
    fork_requested = Signal(str)
    continue_requested = Signal()
    link_activated = Signal(object)
    copy_done = Signal()
    read_requested = Signal(object)
    prompt_chosen = Signal(object)
    models_requested = Signal()
    dropped = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._advised = False
        self._views: OrderedDict[str, ChatView] = OrderedDict()

    @property
    def view(self) -> ChatView | None:
        """The view in front."""
        found = self.currentWidget()
        return next((view for view in self._views.values() if view is found), None)

    @property
    def transcript(self) -> QWidget | None:
        """What takes the keyboard in the view in front, None while there is nothing to move about in."""
        return self.view.canvas if self.view is not None and self.view.canvas.isVisible() else None

    def show_session(self, card: dict[str, Any]) -> None:
        """Bring the session's view to the front; "rows" in the card fill it."""
        session = card["id"]
        view = self._views.get(session)
        if view is None:
            view = self._make(session)
        elif view.theme is not self._theme:
            view.set_theme(self._theme)  # it was out of sight when the theme changed
        self._views.move_to_end(session)
        self.setCurrentWidget(view)
        if "rows" in card:
            view.show_rows(card["rows"])
            if not card["rows"]:
                view.show_placeholder("empty", _place(card))
                view.welcome.advise(self._advised and card["local"])
        self._trim(session)

    def on_event(self, event: Event) -> None:
        """Draw an event where its session is shown; other sessions' events are in the journal anyway."""
        view = self._views.get(event.session)
        if view is not None:
            view.on_event(event)

    def show_placeholder(self, kind: Kind, text: str) -> None:
        """Show `text` in front of everything while there is no session."""
        view = self._views.get("") or self._make("")
        self.setCurrentWidget(view)
        view.show_placeholder(kind, text)

    def advise(self, advised: bool) -> None:
        """Whether empty chats with a model on this machine show the way to stronger ones."""
        self._advised = advised
        for view in self._views.values():
            view.welcome.advise(advised and view.welcome.advised)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        if self.view is not None:
            self.view.set_theme(theme)

    def open_find(self) -> None:
        if self.view is not None:
            self.view.open_find()

    def drop(self, session: str) -> None:
        """Close a session's view."""
        view = self._views.pop(session, None)
        if view is not None:
            self.removeWidget(view)
            view.deleteLater()

    def _make(self, session: str) -> ChatView:
        from desktop.chat.view import ChatView

        view = ChatView(theme=self._theme)
        view.undo_requested.connect(self.undo_requested)
        view.retry_requested.connect(self.retry_requested)
        view.edit_requested.connect(self.edit_requested)
        view.fork_requested.connect(self.fork_requested)
        view.continue_requested.connect(self.continue_requested)
        view.link_activated.connect(self.link_activated)
        view.copy_done.connect(self.copy_done)
        view.read_requested.connect(self.read_requested)
        view.prompt_chosen.connect(self.prompt_chosen)
        view.models_requested.connect(self.models_requested)
        self._views[session] = view
        self.addWidget(view)
        return view

    def _trim(self, current: str) -> None:
        self.drop("")
        while len(self._views) > KEPT:
            oldest = next(name for name in self._views if name != current)
            self.drop(oldest)
            self.dropped.emit(oldest)


def _place(card: dict[str, Any]) -> str:
    """Where the model of an empty chat runs, in a sentence."""
    if card["private"]:
        return _("This chat is private: nothing of it is stored.")
    if card["local"]:
        return _("The model runs on this machine. Nothing you write leaves it.")
    return _("What you write is sent to {name}.").format(name=card["host"])
