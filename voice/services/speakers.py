"""The voices of this machine as the speech service uses them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from voice.config import VoiceConfig
from voice.errors import VoiceError
from voice.tts.choice import Speaker, available
from voice.tts.voice import Voice


def local_voices(config: VoiceConfig) -> list[Voice]:
    """Every voice that needs no other machine, best first: what is said to these services stays here."""
    return available(replace(config, online_voices=False))


class Speakers:
    """Holds `voices`, best first, which are its own from now on; `language` is for texts that leave it open.

    `names` may be called from any thread, the rest belongs to the thread of the voices.
    """

    def __init__(self, voices: Sequence[Voice], language: str = "") -> None:
        self._voices = tuple(voices)
        self._language = language

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
