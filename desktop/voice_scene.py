"""What is seen of the voice in the window: button, words being spoken, captions, and the open microphone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from desktop.window import MainWindow
from resources.sentences import sentence
from resources.translation import _

if TYPE_CHECKING:
    from desktop.voice_button import Look
    from voice.events import State, TurnState

TAP = 0.25
"""A press shorter than this many seconds was a tap."""

_OBSTACLES = tuple(
    f"microphone_{what}" for what in ("missing", "busy", "refused", "gone", "unplugged", "unusable")
)
"""Troubles because of which nothing can be heard for now."""


_DEAF = ("microphone_", "recogniser_", "voice_child_", "voice_gave_")
"""Beginnings of troubles that say why nothing was understood."""


class VoiceScene(QObject):
    """Draws the events of the voice, and what the user does, before an event follows it. `trouble` carries
    code and fields of each fault, `mended` the sentence of one that is over. Owns no widget; imports nothing
    of the voice before its first event."""

    trouble = Signal(str, object)
    mended = Signal(str)

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._button = window.composer.voice
        self.state: TurnState = "idle"
        self._open = False
        self._held = False
        self._fetching = False
        self._thrown_away = self._failed = False
        self._hint = self._obstacle = ""
        self._lacking: set[str] = set()
        self._said: dict[str, str] = {}

    @property
    def listening(self) -> bool:
        """Whether something is being said or understood that may still be thrown away."""
        return self._fetching and not self._thrown_away

    # --- what the user does ---------------------------------------------------------------------------

    def begin(self) -> None:
        """The key goes down."""
        self._held, self._obstacle = True, ""
        self._thrown_away = self._failed = False
        self._window.captions.end()
        if self.state != "hearing":
            self._button.set_look("starting")
            self._draw()

    def end(self, seconds: float) -> bool:
        """The key comes up after `seconds`; whether that was a tap, with which nothing was thrown away."""
        self._held = False
        if self._button.look == "starting":
            self._draw()
        return seconds < TAP and not self._thrown_away

    def throw_away(self) -> None:
        """What is being said is not wanted."""
        self._thrown_away = True
        self._window.composer.show_heard("")
        self._draw()

    def fail(self) -> None:
        """What was asked for does not come."""
        self.state, self._fetching = "idle", False
        self._button.set_look("idle")
        self._draw()

    def forget_question(self) -> None:
        """Nothing is asked that could be answered by voice."""
        if self._hint:
            self._hint = ""
            self._draw()

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
                self._said[code.partition("_")[0]] = sentence(code, **fields)
                self._failed = self._failed or code.startswith(_DEAF)
                self._obstacle = sentence(code, **fields) if code in _OBSTACLES else self._obstacle
                self._draw()
                self.trouble.emit(code, dict(fields))
            case ev.Devices(microphones=microphones, loudspeakers=loudspeakers):
                self._obstacle = "" if microphones else self._obstacle
                self._draw()
                self._on_devices(microphone=bool(microphones), loudspeaker=bool(loudspeakers))
            case _:
                self._on_conversation(event)

    def _on_conversation(self, event: Any) -> None:
        """What the runtime makes of it."""
        from runtime import conversation_events as ev

        match event:
            case ev.Draft(text=text):
                self._window.composer.add_words(text)
            case ev.Asking(by_hand=True):
                self.forget_question()
            case ev.Asking(key_words=words):
                self._hint = _("Hold the key and say “{words}” to allow it, or “no”").format(words=words)
                self._draw()
            case _:
                pass

    def _on_devices(self, **there: bool) -> None:
        """Of which kinds some are there; where there was none before, a fault of that kind is over."""
        lacking = {kind for kind, some in there.items() if not some}
        for kind in self._lacking - lacking:
            self.mended.emit(self._said.pop(kind, ""))
        self._lacking = lacking

    def _on_state(self, event: State) -> None:
        self.state, self._open = event.state, event.open
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
        if not (text or hands_free or self._thrown_away or self._failed) and seconds > TAP:
            self._window.toast.say(_("Nothing was understood."))
        self._thrown_away = False

    # --- drawing --------------------------------------------------------------------------------------

    def _draw(self) -> None:
        look = self._look()
        self._button.set_look(look, self._obstacle)
        hints = {"hearing": _("Listening…"), "starting": _("Getting the microphone ready…")}
        waits = _("Understanding what you said…") if self.listening else self._hint
        self._window.composer.set_hint(hints.get(look, waits))
        self._window.status.set_microphone(self._open)

    def _look(self) -> Look:
        if self.state in ("hearing", "interrupted"):
            return "hearing" if self._open else "starting"
        if self.state in ("thinking", "speaking"):
            return self.state
        if self._fetching:
            return "thinking"
        if self._obstacle:
            return "unavailable"
        return "starting" if self._held and self._button.look == "starting" else "idle"
