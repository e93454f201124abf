"""Tells whether the microphone hears nothing but a delayed copy of what the loudspeaker plays.

An echo canceller is lost for some time when sound is held up on its way out; a copy stays a copy. It is
looked for at every delay at once, in two halves, so that one leap of time cannot hide it. A room that answers
with many echoes is no copy: there the canceller alone has to know.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from voice.sound import RATE

if TYPE_CHECKING:
    from voice.sound import Samples

_HALF = 2048
"""Samples of each of the two halves: 128 ms."""

_BEFORE, _AFTER = 0.35, 0.06
"""Seconds by which the loudspeaker's sound may be earlier than its echo, or later where times are wrong."""

_HALF_COPY, _USUAL = 0.5, 0.85
"""The share that is left where somebody speaks as loud as the echo, and one that shows a plain copy."""

_LEARN = 0.1
"""How much each look changes what is usual."""

_KEPT = 1.5
"""Seconds of the loudspeaker's sound that are remembered."""


class Likeness:
    """`far` may be called in another thread than the rest; times are time.monotonic()."""

    def __init__(self) -> None:
        self._far: deque[tuple[float, Samples]] = deque()
        self._near: deque[Samples] = deque(maxlen=2 * _HALF // 320 + 1)
        self._end = 0.0
        self._usual = 0.0
        self.share = 0.0
        """What `is_broken` found last, 0 to 1."""

    def far(self, samples: Samples, time: float) -> None:
        """The loudspeaker plays this from `time` on."""
        self._far.append((time, samples))
        while self._far and self._far[0][0] < time - _KEPT:
            self._far.popleft()

    def near(self, samples: Samples, time: float) -> None:
        """The microphone heard this block from `time` on."""
        self._near.append(samples)
        self._end = time + len(samples) / RATE

    def is_broken(self, late: bool) -> bool:
        """Look again, and whether somebody speaks over what otherwise is a copy; never in a room where there
        is none, and never while what is played is known too `late`."""
        self.share = 0.0 if late else self._share()
        if self.share > _HALF_COPY:
            self._usual += _LEARN * (self.share - self._usual)
        return self._usual > _USUAL and self.share < _HALF_COPY and not late

    def _share(self) -> float:
        """How much of the energy of the last quarter of a second, 0 to 1, is a delayed copy of what was
        played; 0 before there is so much."""
        import numpy as np

        heard = np.concatenate([np.zeros(0, np.float32), *self._near])[-2 * _HALF :]
        energy = float(heard @ heard)
        if len(heard) < 2 * _HALF or energy <= 0.0:
            return 0.0
        begin = self._end - 2 * _HALF / RATE
        return sum(self._copied(heard[at : at + _HALF], begin + at / RATE) for at in (0, _HALF)) / energy

    def _copied(self, heard: Samples, begin: float) -> float:
        """The energy in `heard` that the best stretch of the loudspeaker's sound explains."""
        import numpy as np

        played = self._line(begin - _BEFORE, _HALF + round((_BEFORE + _AFTER) * RATE))
        size = 1 << (len(played) + _HALF - 1).bit_length()
        product = np.fft.rfft(played, size) * np.conj(np.fft.rfft(heard, size))
        likeness = np.fft.irfft(product, size)[: len(played) - _HALF + 1]
        sums = np.concatenate(([0.0], np.cumsum(np.square(played, dtype=np.float64))))
        energy = sums[_HALF:] - sums[:-_HALF]
        return float(np.max(np.square(likeness) / np.maximum(energy, 1e-3)))

    def _line(self, begin: float, count: int) -> Samples:
        """`count` samples of what was played from `begin` on; silence where nothing was."""
        import numpy as np

        line = np.zeros(count, np.float32)
        for time, samples in list(self._far):
            at = round((time - begin) * RATE)
            first, last = max(0, at), min(count, at + len(samples))
            if first < last:
                line[first:last] = samples[first - at : last - at]
        return line
