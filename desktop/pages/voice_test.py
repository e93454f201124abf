"""Tries what is set for the voice: a sentence at the loudspeaker, and the microphone with its level."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from desktop import desk_voice
from desktop.bridge import Bridge, Fields
from desktop.parts import button, label
from desktop.theme import Theme, spacing
from desktop.voice_button import VoiceButton
from resources.sentences import sentence
from resources.translation import _

_FULL = 1000


class VoiceTest(QWidget):
    """Once it is scrolled into sight it wakes the voice, which then tells its devices: `devices_found`
    carries them, also later when one comes or goes. What is said here is shown here and sent nowhere."""

    devices_found = Signal(object)

    def __init__(self, bridge: Bridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._seen = False
        self._trying = False
        self.speak = button(_("Say a sentence"), self._on_speak)
        self.talk = VoiceButton(theme)
        self.talk.held.connect(self._on_held)
        self.talk.let_go.connect(self._on_let_go)
        self.level = QProgressBar()
        self.level.setRange(0, _FULL)
        self.level.setTextVisible(False)
        self.level.setAccessibleName(_("How loud the microphone is"))
        self.words = label(
            _("Hold the microphone and speak; what was understood appears here."), "small", wrap=True
        )
        row = QHBoxLayout()
        row.setSpacing(spacing(3))
        row.addWidget(self.speak)
        row.addWidget(self.talk)
        row.addWidget(self.level, 1, Qt.AlignmentFlag.AlignVCenter)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, spacing(3), 0, 0)
        column.setSpacing(spacing(2))
        column.addLayout(row)
        column.addWidget(self.words)
        bridge.spoke.connect(self._on_event)

    def set_theme(self, theme: Theme) -> None:
        self.talk.set_theme(theme)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._seen:
            self._seen = True
            self._bridge.ask(desk_voice.wake).then(lambda _: None, self._on_refused)

    def _on_speak(self) -> None:
        words = _("This is how I sound. If you can hear this, all is well.")
        self._bridge.ask(desk_voice.read_aloud, words).then(lambda _: None, self._on_refused)

    def _on_held(self) -> None:
        self._trying = True
        self.words.clear()
        self.talk.set_look("starting")
        self._bridge.ask(desk_voice.try_microphone, True).then(lambda _: None, self._on_refused)

    def _on_let_go(self) -> None:
        self._bridge.ask(desk_voice.try_microphone, False).then(lambda _: None, self._on_refused)

    def _on_refused(self, code: str, fields: Fields) -> None:
        self._trying = False
        self.talk.set_look("idle")
        self.words.setText(sentence(code, **fields))

    def _on_event(self, event: Any) -> None:
        from voice import events as ev

        match event:
            case ev.Devices():
                self.devices_found.emit(event)
            case ev.Level(level=level):
                self.level.setValue(round(_FULL * min(1.0, level)))
                self.talk.set_level(level)
            case ev.State(state="hearing") if self._trying:
                self.talk.set_look("hearing")
            case ev.State(state="idle"):
                self.level.setValue(0)
            case ev.Partial(text=text) if self._trying:
                self.words.setText(text)
            case ev.Final(text=text) if self._trying:
                self._trying = False
                self.talk.set_look("idle")
                self.words.setText(text or _("Nothing was understood."))
            case ev.Trouble(code=code, fields=fields):
                self._trying = False
                self.talk.set_look("idle")
                self.words.setText(sentence(code, **fields))
            case _:
                pass
