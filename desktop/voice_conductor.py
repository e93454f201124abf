"""Connects the voice to what the user does: keys and buttons that are held, Esc, menu, palette, settings."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu

from desktop import desk_voice
from desktop.actions import Command
from desktop.bridge import Bridge, Fields
from desktop.conversations import Conversations
from desktop.held_key import WindowKey, held_key
from desktop.voice_scene import VoiceScene
from desktop.window import MainWindow
from resources.sentences import sentence
from resources.translation import _
from runtime.events import ApprovalReceived, Done, Event

if TYPE_CHECKING:
    from desktop.hot_key import HotKey


class VoiceConductor(QObject):
    """Owns no widget; lives as long as the window. Whatever is pressed first counts until it is let go."""

    def __init__(self, window: MainWindow, bridge: Bridge, talks: Conversations) -> None:
        super().__init__(window)
        self._window = window
        self._bridge = bridge
        self._button = window.composer.voice
        self._scene = VoiceScene(window)
        self._scene.trouble.connect(self._say)
        self._scene.mended.connect(window.toast.take_back)
        self._listens = False
        self._holding: object = None
        self._since = 0.0
        self._silenced = False
        self._awake = False
        self.used = False
        """Whether the user spoke or had something read aloud."""
        self.held_keys: list[tuple[str, str]] = []
        """The keys that are held to talk, as (key, what it does)."""
        self._hot: HotKey | None = None
        self.key = WindowKey(window)
        bridge.spoke.connect(self._scene.on_event)
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
        """A key or button goes down."""
        if self._holding is not None:
            return
        self._holding, self._since, self.used = source, time.monotonic(), True
        self._silenced = self._scene.state == "speaking"
        self._scene.begin()
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
        tapped = self._scene.end(time.monotonic() - self._since)
        if tapped and source is self._button and not self._silenced:
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
        self._scene.throw_away()
        self._bridge.ask(desk_voice.cancel)

    def take_escape(self) -> bool:
        """Esc: throw away what is being said, or stop speaking; False when there is neither, or a question is
        open that Esc denies."""
        if self._scene.listening:
            self.cancel()
        elif self._scene.state == "speaking" and self._window.approval.isHidden():
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
        everywhere = str(voice.get("global_hot_key", ""))
        self.held_keys = [(key.words, _("Hold to talk"))] if key else []
        if other := held_key(everywhere):
            self.held_keys.append((other.words, _("Hold to talk, in any program")))
        self._take_hot_key(everywhere)

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
        if self._scene.state == "speaking":
            menu.addAction(_("Stop speaking"), self.hush)
        menu.addSeparator()
        menu.addAction(_("Voice settings…"), self.open_settings)

    def open_settings(self) -> None:
        """Show what can be set."""
        self._window.show_page("settings", "voice")

    # --- what comes back ------------------------------------------------------------------------------

    def _on_session(self, event: Event) -> None:
        if isinstance(event.body, ApprovalReceived | Done):
            self._scene.forget_question()

    def _on_shown(self, card: dict[str, Any]) -> None:
        self._scene.forget_question()
        self._bridge.ask(desk_voice.attach, card["id"])

    def _on_refused(self, code: str, fields: Fields) -> None:
        self._scene.fail()
        self._say(code, fields)

    def _say(self, code: str, fields: Fields) -> None:
        """Say a fault in its sentence, with what can be done about it."""
        ways: list[tuple[str, Callable[[], object]]] = [(_("Voice settings"), self.open_settings)]
        if code == "voice_host_refused":
            host = str(fields["host"])
            allow = partial(self._bridge.ask, desk_voice.allow_host, host)
            ways.insert(0, (_("Allow {host}").format(host=host[:40]), allow))
        self._window.toast.offer(sentence(code, **fields), *ways)
