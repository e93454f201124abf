"""The voices of this machine as the speech service uses them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from voice.config import VoiceConfig
from voice.errors import VoiceError
from voice.tts.choice import Speaker, available


class Speakers:
    """Holds every voice that needs no other machine; what is said to these services stays here.

    `names` may be called from any thread, the rest belongs to the thread of the voices.
    """

    def __init__(self, config: VoiceConfig) -> None:
        self._voices = available(replace(config, online_voices=False))
        self._language = config.language

    def names(self) -> tuple[str, ...]:
        """The voices that can be asked for by name, best first."""
        return tuple(voice.name for voice in self._voices)

    def warm(self) -> None:
        """Load what the next text will most likely need."""
        self.speaker("", 1.0, lambda error: None).warm()

    def speaker(self, voice: str, speed: float, on_trouble: Callable[[VoiceError], None]) -> Speaker:
        """One for a text, with the voice named `voice` before all others; it is not closed."""
        voices = sorted(self._voices, key=lambda one: one.name != voice)
        return Speaker(voices, on_trouble, speed, self._language)

    def close(self) -> None:
        """Close every voice."""
        for voice in self._voices:
            voice.close()
