"""Connects the live pane to the agent's computer, and opens it when it is wanted."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from desktop import desk_computer, desk_review
from desktop.actions import Command
from desktop.bridge import Bridge, Fields
from desktop.window import MainWindow
from resources.sentences import sentence
from resources.translation import _, ngettext

if TYPE_CHECKING:
    from desktop.live.pane import LivePane

MOST_LETTERS = 1_000_000
"""Longer texts are not carried from clipboard to clipboard."""


class LiveConductor(QObject):
    """Makes the pane when it is first opened; lives as long as the window. Until then the events of the
    computer are kept as the newest of each kind."""

    def __init__(self, window: MainWindow, bridge: Bridge, *, open_at_start: bool = False) -> None:
        super().__init__(window)
        self._window = window
        self._bridge = bridge
        self._pane: LivePane | None = None
        self._latest: dict[str, Any] = {}
        self._closed = False
        self._open_at_start = open_at_start
        bridge.computed.connect(self.on_event)
        window.header.computer_requested.connect(self.toggle)
        window.sidebar.open_requested.connect(self._make_room)
        window.sidebar.new_requested.connect(self._make_room)

    @property
    def pane(self) -> LivePane | None:
        """The pane, once it was opened."""
        return self._pane

    def begin(self) -> None:
        """The runtime is there: listen to its computer, and open the pane if it was open the last time."""
        self._bridge.ask(desk_computer.begin)
        if self._open_at_start:
            self.open()

    def commands(self) -> list[Command]:
        """What the palette offers of the computer."""
        return [
            Command(_("Show or hide the agent's computer"), ("Ctrl+Shift+C",), self.toggle),
            Command(_("Let the agent pause at its computer"), (), partial(self._ask, desk_computer.pause)),
            Command(_("Let the agent go on at its computer"), (), partial(self._ask, desk_computer.resume)),
            Command(_("Hand the wheel back to the agent"), (), partial(self._hand_back, "")),
            Command(_("Copy the sandbox's clipboard"), (), self._copy),
            Command(_("Paste into the sandbox's clipboard"), (), self._paste),
        ]

    # --- the pane -------------------------------------------------------------------------------------

    def toggle(self) -> None:
        """Open the pane, or close it; from a page of the window, come back to it."""
        beside = self._window.beside
        if beside.open and self._window.on_chat:
            self.close()
        else:
            self.open()
            self._window.show_chat()
            if self._pane is not None:
                self._pane.take_keyboard()

    def open(self) -> None:
        """Show the pane; the keyboard stays where it is."""
        if self._pane is None:
            self._make()
        self._window.beside.show_pane(True)

    def close(self) -> None:
        """Show the chat alone, until the user opens the pane again."""
        self._closed = True
        self._window.beside.show_pane(False)
        self._window.composer.editor.setFocus()

    def _make_room(self, _chat: object) -> None:
        """Another chat is wanted: where it would not be seen behind the pane, the pane goes."""
        if self._window.beside.narrow:
            self._window.beside.show_pane(False)

    def _make(self) -> None:
        from desktop.live.pane import LivePane

        self._pane = pane = LivePane(self._window.theme, self._bridge.frames)
        pane.asked.connect(self._remedy)
        pane.cancelled.connect(partial(self._ask, desk_computer.cancel_build))
        pane.watching.connect(partial(self._ask, desk_computer.watch))
        pane.steered.connect(partial(self._ask, desk_computer.steer))
        pane.wheel.pause_requested.connect(partial(self._ask, desk_computer.pause))
        pane.wheel.resume_requested.connect(partial(self._ask, desk_computer.resume))
        pane.wheel.step_requested.connect(partial(self._ask, desk_computer.step))
        pane.wheel.handed_back.connect(self._hand_back)
        pane.copy_requested.connect(self._copy)
        pane.paste_requested.connect(self._paste)
        pane.close_requested.connect(self.close)
        pane.review_requested.connect(partial(self._window.show_page, "review"))
        pane.undo_requested.connect(self._undo_run)
        self._bridge.pictured.connect(pane.view.on_pictured)
        self._window.beside.set_pane(pane)
        for event in self._latest.values():
            self._show(event)

    # --- what the computer says -----------------------------------------------------------------------

    def on_event(self, event: Any) -> None:
        """Keep and draw it; the agent's first action opens the pane, unless the user closed it before."""
        if event.type != "action_seen":
            self._latest[event.type] = event
        elif self._pane is None and not self._closed:
            self.open()
        if event.type == "review_changed":
            self._window.refresh_page("review")
        self._show(event)

    def _show(self, event: Any) -> None:
        from runtime import computer_events as ev

        pane = self._pane
        if pane is None:
            return
        match event:
            case ev.StateChanged(state=state):
                pane.show_state(state)
            case ev.WheelChanged():
                pane.show_wheel(event)
            case ev.ActionSeen():
                pane.on_action(event)
            case ev.ReviewChanged(pending=pending, run=run):
                pane.show_changes(pending, run)
            case _:
                pass

    # --- what the user asks ---------------------------------------------------------------------------

    def _ask(self, question: Any, *args: Any) -> None:
        self._bridge.ask(question, *args).then(lambda _: None, self._on_refused)

    def _remedy(self, name: str) -> None:
        self._bridge.ask(desk_computer.remedy, name).then(lambda _: None, self._on_refused)

    def _hand_back(self, note: str) -> None:
        def told(text: str) -> None:
            if self._pane is not None:
                self._pane.wheel.show_summary(text)

        self._bridge.ask(desk_computer.hand_back, note).then(told, self._on_refused)

    def _undo_run(self, run: str) -> None:
        def undone(found: dict[str, Any]) -> None:
            count = int(found["undone"])
            words = ngettext("1 file is as it was before.", "{n} files are as they were before.", count)
            self._window.toast.say(words.format(n=count))

        self._bridge.ask(desk_review.review_undo_run, run).then(undone, self._on_refused)

    def _copy(self) -> None:
        """Only ever at the user's word: the text goes from the sandbox into the user's clipboard."""

        def copied(text: str) -> None:
            if text:
                QGuiApplication.clipboard().setText(text[:MOST_LETTERS])
            words = _("Copied from the sandbox") if text else _("The sandbox's clipboard holds no text.")
            self._window.toast.say(words)

        self._bridge.ask(desk_computer.copy_out).then(copied, self._on_refused)

    def _paste(self) -> None:
        """Only ever at the user's word: the user's text goes into the sandbox's clipboard."""
        text = QGuiApplication.clipboard().text()
        if not text:
            self._window.toast.say(_("Your clipboard holds no text."))
            return

        def put(_nothing: None) -> None:
            self._window.toast.say(_("In the sandbox's clipboard; Ctrl+V there inserts it."))

        self._bridge.ask(desk_computer.paste_in, text[:MOST_LETTERS]).then(put, self._on_refused)

    def _on_refused(self, code: str, fields: Fields) -> None:
        """Say what failed, unless the page of the pane says it already."""
        pane = self._pane
        if pane is None or not pane.isVisible() or pane.state.code != code:
            self._window.toast.say(sentence(code, **fields))
