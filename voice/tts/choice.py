"""Chooses who says a clause, and who goes on when a voice fails in the middle of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from voice.clauses import Clause
from voice.config import VoiceConfig
from voice.errors import VoiceError
from voice.tts.voice import Sound, Voice


class Speaker:
    """Says clauses with the best voice there is. One thread calls `speak`; its owner calls `close`."""

    def __init__(
        self, voices: Sequence[Voice], rate: float, on_trouble: Callable[[VoiceError], None]
    ) -> None:
        self._voices = list(voices)
        self._rate = rate
        self._on_trouble = on_trouble

    def warm(self) -> None:
        """Load what the first clause will need, so that it is said without delay."""

    def speak(self, clause: Clause) -> Iterator[Sound]:
        """The sound of `clause.spoken`; a voice that fails is followed by the next one.

        Raises nothing of the voices' faults: each failing voice is told once to `on_trouble`, and a clause
        that no voice can say gives no sound and one VoiceError.
        """
        for voice in self._voices:
            try:
                yield from voice.speak(clause.spoken, self._rate)
            except VoiceError as error:
                self._on_trouble(error)
                continue
            return

    def close(self) -> None:
        """Close all voices; may be called twice."""
        for voice in self._voices:
            voice.close()


def choose(config: VoiceConfig, on_trouble: Callable[[VoiceError], None]) -> Speaker:
    """The speaker that `config` asks for; nothing is loaded yet."""
    return Speaker([], config.rate, on_trouble)
