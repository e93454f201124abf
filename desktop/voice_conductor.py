"""Connects the voice to the window: what is held, heard, thought about, said, and what goes wrong with it."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMenu

from desktop import desk_voice
from desktop.actions import Command
from desktop.bridge import Bridge, Fields
from desktop.conversations import Conversations
from desktop.held_key import WindowKey, held_key
from desktop.window import MainWindow
from resources.sentences import sentence
from resources.translation import _
from runtime.events import ApprovalReceived, Done, Event

if TYPE_CHECKING:
    from desktop.hot_key import HotKey
    from desktop.voice_button import Look
    from voice.events import State, TurnState

TAP = 0.25
"""A press shorter than this many seconds was a tap: the user is told that the button is held."""

_OBSTACLES = tuple(
    f"microphone_{what}" for what in ("missing", "busy", "refused", "gone", "unplugged", "unusable")
)
"""Troubles because of which nothing can be heard for now."""


class VoiceConductor(QObject):
    """Owns no widget; lives as long as the window. `devices_changed` carries the voice's Devices. Nothing of
    the voice is imported before its first event."""

    devices_changed = Signal(object)

    def __init__(self, window: MainWindow, bridge: Bridge, talks: Conversations) -> None:
        super().__init__(window)
        self._window = window
        self._bridge = bridge
        self._talks = talks
        self._button = window.composer.voice
        self._state: TurnState = "idle"
        self._hint = self._obstacle = ""
        self._listens = False
        self._holding: object = None
        self._since = 0.0
        self._thrown_away = False
        self._fetching = self._was_speaking = False
        self._awake = False
        self.used = False
        """Whether the user spoke or had something read aloud."""
        self._hot: HotKey | None = None
        self.key = WindowKey(window)
        self._open = False
        bridge.spoke.connect(self.on_event)
        talks.shown.connect(self._on_shown)
        talks.happened.connect(self._on_session)
        for source in (self._button, self.key):
            pressed = source.held if source is self._button else source.pressed
            released = source.let_go if source is self._button else source.released
            pressed.connect(partial(self.press, source))
            released.connect(partial(self.release, source))
        self._button.approached.connect(self.wake)
        window.composer.voice_menu_wanted.connect(self._fill_menu)
        window.captions.stop_requested.connect(self.hush)
        window.chats.read_requested.connect(self.read_aloud)

    # --- what the user asks ---------------------------------------------------------------------------

    def press(self, source: object) -> None:
        """A key or button goes down; the first one counts until it goes up."""
        if self._holding is not None:
            return
        self._holding, self._since, self._thrown_away = source, time.monotonic(), False
        self._obstacle = ""
        self.used = True
        self._was_speaking = self._state == "speaking"
        self._window.captions.end()
        if self._state != "hearing":
            self._button.set_look("starting")
            self._draw()
        beside = self._window.composer.written
        self._bridge.ask(desk_voice.press, beside).then(lambda _: None, self._on_refused)

    def wake(self) -> None:
        """Start what hears and speaks before it is needed, so that the first word is not waited for."""
        if not self._awake:
            self._awake = True
            self._bridge.ask(desk_voice.wake).then(lambda _: None, lambda _code, _fields: None)

    def release(self, source: object) -> None:
        """The key or button that counts goes up."""
        if self._holding is not source:
            return
        self._holding = None
        self._bridge.ask(desk_voice.release).then(lambda _: None, self._on_refused)
        tapped = time.monotonic() - self._since < TAP
        if self._button.look == "starting":
            self._draw()
        silenced = self._was_speaking or self._thrown_away
        if tapped and source is self._button and not silenced:
            self._window.toast.say(_("Keep the button pressed while you speak; let go to send."))

    def commands(self) -> list[Command]:
        """What the palette offers of the voice."""
        return [
            Command(_("Hands-free voice on or off"), ("Ctrl+Shift+Space",), self.toggle_hands_free),
            Command(_("Stop speaking"), (), self.hush),
            Command(_("Voice settings"), (), self.open_settings),
        ]

    def hush(self) -> None:
        """Stop speaking."""
        self._window.captions.end()
        self._bridge.ask(desk_voice.hush)

    def cancel(self) -> None:
        """Throw away what is being said."""
        self._thrown_away = True
        self._window.composer.show_heard("")
        self._bridge.ask(desk_voice.cancel)

    def take_escape(self) -> bool:
        """Esc: throw away what is being said, or stop speaking; False when there is neither, or a question is
        open that Esc denies."""
        if self._fetching and not self._thrown_away:
            self.cancel()
        elif self._state == "speaking" and self._window.approval.isHidden():
            self.hush()
        else:
            return False
        return True

    def toggle_hands_free(self) -> None:
        """Let it listen by itself, or no longer."""
        on, self.used = not self._button.hands_free, True
        self._bridge.ask(desk_voice.hands_free, on).then(lambda _: None, self._on_refused)

    def read_aloud(self, text: str) -> None:
        """Say an answer again."""
        self.used = True
        self._bridge.ask(desk_voice.read_aloud, text).then(lambda _: None, self._on_refused)

    def take_settings(self, values: dict[str, Any]) -> None:
        """Follow the settings of the keys."""
        voice = values.get("voice", {})
        written = str(voice.get("push_to_talk_key", ""))
        key = held_key(written) if written else None
        self.key.set_key(key)
        self._button.set_key(key.words if key else "")
        if written and key is None:
            self._say("push_to_talk_key_unfit", {"key": written})
        listens = bool(voice.get("hands_free", False))
        if listens != self._listens:
            self._bridge.ask(desk_voice.hands_free, listens).then(lambda _: None, self._on_refused)
        self._listens = listens
        self._take_hot_key(str(voice.get("global_hot_key", "")))

    def close(self) -> None:
        """Give the global key back; idempotent."""
        if self._hot is not None:
            self._hot.close()
            self._hot = None

    def _take_hot_key(self, written: str) -> None:
        if self._hot is None and not written:
            return
        if self._hot is None:
            from desktop.hot_key import HotKey

            self._hot = hot = HotKey(self)
            hot.pressed.connect(partial(self.press, hot))
            hot.released.connect(partial(self.release, hot))
            hot.trouble.connect(self._say)
        self._hot.set_key(written)

    def _fill_menu(self, menu: QMenu) -> None:
        listens = menu.addAction(_("Hands-free: listen and answer without a key"), self.toggle_hands_free)
        listens.setCheckable(True)
        listens.setChecked(self._button.hands_free)
        if self._state == "speaking":
            menu.addAction(_("Stop speaking"), self.hush)
        menu.addSeparator()
        menu.addAction(_("Voice settings…"), self.open_settings)

    def open_settings(self) -> None:
        """Show what can be set."""
        self._window.show_page("settings", "voice")

    # --- what the voice says --------------------------------------------------------------------------

    def on_event(self, event: Any) -> None:
        """Draw an event of the voice; ones of another kind are for others."""
        from voice import events as ev

        match event:
            case ev.Level(level=level):
                self._button.set_level(level)
            case ev.Partial(text=text, stable=stable):
                self._fetching = True
                if not self._thrown_away:
                    self._window.composer.show_heard(text, stable)
            case ev.Final():
                self._on_final(event.text, event.seconds, event.hands_free)
            case ev.State():
                self._on_state(event)
            case ev.Speaking(spoken=spoken, seconds=seconds):
                self._window.captions.begin(spoken, seconds)
            case ev.Spoken():
                self._window.captions.end()
            case ev.Trouble(code=code, fields=fields):
                self._on_trouble(code, dict(fields))
            case ev.Devices():
                self.devices_changed.emit(event)
                self._obstacle = self._obstacle if not event.microphones else ""
                self._draw()
            case _:
                self._on_conversation(event)

    def _on_conversation(self, event: Any) -> None:
        """What the runtime makes of it."""
        from runtime import conversation_events as ev

        composer = self._window.composer
        match event:
            case ev.Draft(text=text):
                composer.add_words(text)
            case ev.Asking(by_hand=True):
                self._hint = ""
                self._draw()
            case ev.Asking(key_words=words):
                self._hint = _("Say “{words}” to allow it, or “no”").format(words=words)
                self._draw()
            case _:
                pass

    def _on_state(self, event: State) -> None:
        self._state, self._open = event.state, event.open
        if event.state == "hearing":
            self._fetching = True
        if event.state != "speaking":
            self._window.captions.end()
        self._button.set_hands_free(event.on)
        self._draw()

    def _on_final(self, text: str, seconds: float, hands_free: bool) -> None:
        self._fetching = False
        self._window.composer.show_heard("")
        self._draw()
        if not (text or hands_free or self._thrown_away) and seconds > TAP:
            self._window.toast.say(_("Nothing was understood."))
        self._thrown_away = False

    def _on_trouble(self, code: str, fields: Fields) -> None:
        words = sentence(code, **fields)
        if code in _OBSTACLES:
            self._obstacle = words
            self._draw()
        ways: list[tuple[str, Callable[[], object]]] = [(_("Voice settings"), self.open_settings)]
        if code == "voice_host_refused":
            host = str(fields["host"])
            allow = partial(self._bridge.ask, desk_voice.allow_host, host)
            ways.insert(0, (_("Allow {host}").format(host=host[:40]), allow))
        self._window.toast.offer(words, *ways)

    def _draw(self) -> None:
        look: Look = "idle"
        if self._state in ("hearing", "interrupted"):
            look = "hearing" if self._open else "starting"
        elif self._state in ("thinking", "speaking"):
            look = self._state
        elif self._fetching:
            look = "thinking"
        elif self._obstacle:
            look = "unavailable"
        elif self._button.look == "starting" and self._holding is not None:
            look = "starting"
        self._button.set_look(look, self._obstacle)
        hints = {"hearing": _("Listening…"), "starting": _("Getting the microphone ready…")}
        waits = _("Understanding what you said…") if self._fetching and not self._thrown_away else self._hint
        self._window.composer.set_hint(hints.get(look, waits))
        self._window.status.set_microphone(self._open)

    def _on_session(self, event: Event) -> None:
        if self._hint and isinstance(event.body, ApprovalReceived | Done):
            self._hint = ""
            self._draw()

    # --- small answers --------------------------------------------------------------------------------

    def _on_shown(self, card: dict[str, Any]) -> None:
        self._hint = ""
        self._draw()
        self._bridge.ask(desk_voice.attach, card["id"])

    def _on_refused(self, code: str, fields: Fields) -> None:
        self._state = "idle"
        self._button.set_look("idle")
        self._draw()
        self._on_trouble(code, fields)

    def _say(self, code: str, fields: Fields) -> None:
        self._window.toast.say(sentence(code, **fields), _("Voice settings"), self.open_settings)
