"""Decides from the probability of speech when somebody begins and ends to speak."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

WINDOW = 0.032
"""Seconds of sound of each probability (512 samples at 16 kHz)."""

Change = Literal["onset", "end"]


@dataclass(frozen=True)
class Patience:
    """When speech has begun: `speech` of the last `of` windows are at least `probability` likely and
    `level` loud."""

    probability: float
    speech: int
    of: int
    level: float = 0.0


QUIET = Patience(0.5, 4, 6)
"""While the loudspeaker is silent: 130 ms of speech within 190 ms."""

OVER_ECHO = Patience(0.6, 3, 5, 0.15)
"""While it speaks: what the canceller leaves of an echo is not so certain for so long, nor so loud; and an
interruption is to be quick."""

STAYS = 0.35
"""A window that is at least so likely goes on what has begun."""

SILENCE = 0.6
"""Seconds without speech after which somebody has ended."""


class Onset:
    """Fed with every window in order by one thread."""

    def __init__(self) -> None:
        self._recent: list[tuple[float, float]] = []
        self._speaking = False
        self._quiet = 0

    def feed(self, probability: float, level: float, over_echo: bool) -> Change | None:
        """What changed with a window of this probability and level (0 to 1)."""
        if self._speaking:
            self._quiet = 0 if probability >= STAYS else self._quiet + 1
            if self._quiet * WINDOW < SILENCE:
                return None
            self.reset()
            return "end"
        asked = OVER_ECHO if over_echo else QUIET
        self._recent = [*self._recent[1 - asked.of :], (probability, level)]
        loud = [p >= asked.probability and heard >= asked.level for p, heard in self._recent]
        if loud[-1] and sum(loud) >= asked.speech:
            self._speaking = True
            return "onset"
        return None

    def reset(self) -> None:
        """Begin anew: nobody speaks."""
        self._recent, self._speaking, self._quiet = [], False, 0
