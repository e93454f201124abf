"""Finds in the probabilities of speech where a stretch of speech begins and where it can be cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from voice.sound import RATE
from voice.stt.heard import Part
from voice.stt.reading import Reading
from voice.stt.silence import WINDOW, Activity

if TYPE_CHECKING:
    from voice.sound import Samples

BEGINS = 0.5
"""A window that is at least so likely is speech."""

STAYS = 0.35
"""One that is so likely goes on what has begun."""

LEAST = 2
"""Windows of speech below which nothing was said: 64 ms."""

BEFORE = 20
"""Windows before speech that belong to it, since words begin softly: 640 ms."""

AFTER = 12
"""Windows after it: 380 ms."""

SOFT = 0.15
"""Seconds that a word may be softer than speech at its ends."""

_PAUSES = ((1.5, 0.0), (0.5, 8.0), (0.25, 16.0))
"""A pause of so many seconds ends a stretch of at least so many."""

_LONGEST = 25.0
_SEARCHED = 8.0
_AT_ONCE = 20 * RATE // WINDOW * WINDOW


def windows(seconds: float) -> int:
    """How many windows are so long."""
    return round(seconds * RATE / WINDOW)


class Stretch:
    """Fed with the probability of each window; places are counted in windows."""

    def __init__(self) -> None:
        self.likely: list[float] = []
        """The probabilities so far."""
        self.begin = -1
        """The first window of speech; -1 as long as there was none."""
        self.end = 0
        """The window after the last of speech."""
        self.spoken = 0
        """How many windows were speech."""

    def feed(self, probability: float) -> None:
        """Take the next window."""
        self.likely.append(probability)
        if probability >= BEGINS:
            self.spoken += 1
            if self.begin < 0:
                self.begin = len(self.likely) - 1
        if self.begin >= 0 and probability >= STAYS:
            self.end = len(self.likely)

    @property
    def heard(self) -> bool:
        """Whether there was enough speech to ask what was said."""
        return self.spoken >= LEAST

    def part(self, reading: Reading, passed: int) -> Part:
        """What was read of this stretch, which begins `passed` windows after the beginning of all."""
        places = (self.span[0], self.begin, self.end, len(self.likely))
        start, first, last, end = ((passed + place) * WINDOW / RATE for place in places)
        return Part(reading, start, max(start, first - SOFT), min(end, last + SOFT))

    @property
    def until(self) -> float:
        """The second, from the beginning of `span`, at which speech ends."""
        return (self.end - self.span[0]) * WINDOW / RATE

    @property
    def speech(self) -> float:
        """Seconds of speech."""
        return self.spoken * WINDOW / RATE

    @property
    def pause(self) -> int:
        """How many windows since the last speech."""
        return len(self.likely) - self.end if self.begin >= 0 else 0

    @property
    def span(self) -> tuple[int, int]:
        """First and last but one window of what has to be understood."""
        return max(0, self.begin - BEFORE), min(len(self.likely), self.end + AFTER)

    @property
    def cut(self) -> int:
        """Where the stretch ends and another begins; 0 as long as it goes on."""
        if self.begin < 0:
            return 0
        long = self.end - self.begin
        if any(self.pause >= windows(pause) and long >= windows(least) for pause, least in _PAUSES):
            return len(self.likely) - min(BEFORE, self.pause // 2)
        if len(self.likely) - self.begin < windows(_LONGEST):
            return 0
        first = len(self.likely) - windows(_SEARCHED)
        return first + min(range(windows(_SEARCHED)), key=lambda place: self.likely[first + place])

    def parted(self, cut: int) -> tuple[Stretch, Stretch]:
        """The stretches before and from window `cut` on."""
        return _of(self.likely[:cut]), _of(self.likely[cut:])


def stretches(samples: Samples, activity: Activity) -> Iterator[tuple[int, Stretch]]:
    """Each stretch of speech, after how many windows it begins."""
    import numpy as np

    stretch, base = Stretch(), 0
    for start in range(0, len(samples), _AT_ONCE):
        some = samples[start : start + _AT_ONCE]
        padded = np.pad(some, (0, -len(some) % WINDOW))
        for probability in activity.probabilities(padded):
            stretch.feed(float(probability))
            if cut := stretch.cut:
                ended, stretch = stretch.parted(cut)
                yield from _found(ended, base)
                base += cut
    yield from _found(stretch, base)


def _of(probabilities: Sequence[float]) -> Stretch:
    found = Stretch()
    for probability in probabilities:
        found.feed(probability)
    return found


def _found(stretch: Stretch, passed: int) -> Iterator[tuple[int, Stretch]]:
    if stretch.heard:
        yield passed, stretch
