"""Decides from the probability of speech when somebody begins and ends to speak."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

WINDOW = 0.032
"""Seconds of sound of each probability (512 samples at 16 kHz)."""

Change = Literal["onset", "end"]


@dataclass(frozen=True)
class Patience:
    """When speech has begun: `speech` of the last `of` windows are `level` loud and at least `probability`
    likely, or `near` likely where the echo canceller left most of them."""

    probability: float
    speech: int
    of: int
    level: float = 0.0
    near: float = 1.0


QUIET = Patience(0.5, 4, 6)
"""While the loudspeaker is silent: 130 ms of speech within 190 ms."""

OVER_ECHO = Patience(0.6, 3, 5, 0.15, near=0.2)
"""While it speaks: an interruption is to be quick. A voice that comes through a canceller at work sounds less
like one, but little of it is taken out."""

BROKEN_ECHO = Patience(0.6, 2, 3, 0.12)
"""While it speaks, and more is heard than a copy of it: there the canceller need not be believed."""

FRESH = Patience(0.8, 5, 6, 0.15)
"""When it has just begun to speak: the canceller is not sure of the room yet."""

STAYS = 0.35
"""A window that is at least so likely goes on what has begun."""

SILENCE = 0.6
"""Seconds without speech after which somebody has ended."""


class Onset:
    """Fed with every window in order by one thread."""

    def __init__(self) -> None:
        self._recent: list[bool] = []
        self._speaking = False
        self._quiet = 0

    def feed(self, probability: float, level: float, asked: Patience, near: bool = False) -> Change | None:
        """What changed with a window of this probability and level (0 to 1); `near` is whether the canceller
        left most of it."""
        if self._speaking:
            self._quiet = 0 if probability >= STAYS else self._quiet + 1
            if self._quiet * WINDOW < SILENCE:
                return None
            self.reset()
            return "end"
        wanted = min(asked.near, asked.probability) if near else asked.probability
        self._recent = [*self._recent[1 - asked.of :], probability >= wanted and level >= asked.level]
        if self._recent[-1] and sum(self._recent) >= asked.speech:
            self._speaking = True
            return "onset"
        return None

    def withdraw(self) -> None:
        """What was taken for the begin of speech was none, as far as is known; the next window may be one."""
        self._speaking = False

    def reset(self) -> None:
        """Begin anew: nobody speaks."""
        self._recent, self._speaking, self._quiet = [], False, 0
