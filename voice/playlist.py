"""Sound that waits for the loudspeaker, under marks, and how much of each mark was heard."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from voice.resample import Resampler

if TYPE_CHECKING:
    from voice.sound import Samples


_RUNS = 32
"""Remembered runs of frames without a gap between them."""


@dataclass
class Stretch:
    """What belongs to a mark: the frames from `begin` to `end`, which grows until it is `whole`.

    `begin` is negative where the stretch began on another device. `told` is for whoever tells that it is
    heard.
    """

    mark: int
    begin: int
    end: int
    whole: bool = False
    told: bool = False


class Playlist:
    """A queue of mono frames at `rate`, filled by one thread and emptied by a sound callback.

    Frames are numbered from 0 in the order they were added. `take` is for the callback and waits for
    nothing; `add` and `end` are for one thread at a time; the questions are for any.
    """

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self.taken = 0
        self.stretches: list[Stretch] = []
        self._pieces: deque[Samples] = deque()
        self._kept: deque[Samples] = deque()
        self._keeping = 0
        self._runs: list[tuple[int, int, int]] = []
        self._resampler: Resampler | None = None
        self._source = 0
        self._added = 0

    @property
    def waiting(self) -> int:
        """How many frames were not yet taken."""
        return self._added - self.taken

    def add(self, samples: Samples, rate: int, mark: int) -> None:
        """Append `samples`, at `rate`, to the stretch of `mark`; another open stretch is whole then."""
        if not self.stretches or self.stretches[-1].mark != mark or self.stretches[-1].whole:
            self.end()
            self.stretches.append(Stretch(mark, self._added, self._added))
        if self._resampler is None or self._source != rate:
            self._flush()
            self._resampler, self._source = Resampler(rate, self.rate), rate
        self._append(self._resampler.feed(samples))

    def end(self) -> None:
        """Nothing more belongs to the newest stretch."""
        if self.stretches and not self.stretches[-1].whole:
            self._flush()
            self.stretches[-1].whole = True

    def take(self, count: int, frame: int) -> Samples:
        """Up to `count` frames, which are the frames of the stream from number `frame` on."""
        import numpy as np

        taken: list[Samples] = []
        left = count
        while left and self._pieces:
            piece = self._pieces.popleft()
            if len(piece) > left:
                self._pieces.appendleft(piece[left:])
                piece = piece[:left]
            taken.append(piece)
            left -= len(piece)
        made: Samples = taken[0] if len(taken) == 1 else np.concatenate([np.zeros(0, np.float32), *taken])
        if len(made):
            self._remember(frame, len(made))
            self.taken += len(made)
            self._keep(made)
        return made

    def position(self, frame: float) -> int:
        """How many frames were heard when the stream's frame number `frame` is heard."""
        for begun, at, count in reversed(tuple(self._runs)):
            if frame >= at:
                return begun + min(count, int(frame - at))
        return 0

    def heard(self, position: int) -> list[tuple[int, float]]:
        """The marks that were begun, with the seconds of each, when `position` frames were heard."""
        begun = [stretch for stretch in self.stretches if stretch.begin < position]
        return [(each.mark, (min(each.end, position) - each.begin) / self.rate) for each in begun]

    def forget(self, position: int) -> None:
        """Drop the stretches that are whole and heard."""
        while self.stretches and self.stretches[0].whole and self.stretches[0].end <= position:
            del self.stretches[0]

    def rest(self, position: int, rate: int) -> Playlist:
        """What was not yet heard, as a new list at `rate`; nothing may take from or add to this one now."""
        import numpy as np

        self._flush()
        kept = np.concatenate([np.zeros(0, np.float32), *self._kept])
        unheard = kept[len(kept) - min(len(kept), self.taken - position) :]
        made, scale = Playlist(rate), rate / self.rate
        samples = np.concatenate([unheard, *self._pieces])
        if len(samples):
            samples = Resampler(self.rate, rate).feed(samples, last=True)
            made._pieces.append(samples)
        made._added = len(samples)
        for each in self.stretches:
            begin, end = round((each.begin - position) * scale), round((each.end - position) * scale)
            made.stretches.append(Stretch(each.mark, begin, min(end, made._added), each.whole, each.told))
        return made

    def _remember(self, frame: int, count: int) -> None:
        if self._runs:
            begun, at, length = self._runs[-1]
            if at + length == frame:
                self._runs[-1] = (begun, at, length + count)
                return
        del self._runs[:-_RUNS]
        self._runs.append((self.taken, frame, count))

    def _keep(self, taken: Samples) -> None:
        """Hold what was taken for a second, since a device that goes away has not yet played all of it."""
        self._kept.append(taken)
        self._keeping += len(taken)
        while self._keeping - len(self._kept[0]) > self.rate:
            self._keeping -= len(self._kept.popleft())

    def _flush(self) -> None:
        import numpy as np

        if self._resampler is not None:
            self._append(self._resampler.feed(np.zeros(0, np.float32), last=True))
            self._resampler = None

    def _append(self, samples: Samples) -> None:
        if len(samples):
            self._added += len(samples)
            self.stretches[-1].end = self._added
            self._pieces.append(samples)
