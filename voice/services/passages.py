"""A long recording is cut where it is quiet into passages that the recogniser hears in one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from voice.errors import VoiceError
from voice.services.engine import Steps
from voice.services.sound_file import open_sound
from voice.sound import RATE

if TYPE_CHECKING:
    from voice.sound import Samples

_LONGEST = 28 * RATE
"""A pass sees thirty seconds; what is longer is cut."""

_SHORTEST = 15 * RATE
_FRAME = RATE // 50
_PAUSE = 15
"""Frames, 0.3 s, over which a place has to be quiet."""


@dataclass(frozen=True)
class Passage:
    """Mono float32 at 16,000 samples a second that begin `start` seconds into the recording."""

    samples: Samples
    start: float

    @property
    def end(self) -> float:
        """Seconds into the recording."""
        return self.start + len(self.samples) / RATE


class Passages:
    """The passages of the sound in `file`, in order and without gaps (Steps); takes over the file.

    Steps raise what `open_sound` and its reader raise.
    """

    def __init__(self, file: IO[bytes], most: float) -> None:
        import numpy as np

        self._file = file
        self._most = most
        self._sound: Steps[Samples] | None = None
        self._kept: Samples = np.zeros(0, np.float32)
        self._start = 0
        self._more = True

    def __next__(self) -> Passage:
        import numpy as np

        if self._sound is None:
            self._sound = open_sound(self._file, self._most)
        while self._more and len(self._kept) <= _LONGEST:
            try:
                self._kept = np.concatenate((self._kept, self._sound.__next__()))
            except StopIteration:
                self._more = False
        if len(self._kept) == 0:
            if self._start == 0:
                raise VoiceError("sound_empty")
            raise StopIteration
        cut = len(self._kept) if len(self._kept) <= _LONGEST else _quiet_place(self._kept)
        passage = Passage(self._kept[:cut].copy(), self._start / RATE)
        self._kept = self._kept[cut:].copy()
        self._start += cut
        return passage

    def close(self) -> None:
        """Close the sound and its file; may be called twice."""
        if self._sound is not None:
            self._sound.close()
        self._file.close()


def _quiet_place(samples: Samples) -> int:
    """The sample in the middle of the quietest pause between _SHORTEST and _LONGEST, the later of equals."""
    import numpy as np

    part = samples[_SHORTEST:_LONGEST]
    frames = part[: len(part) // _FRAME * _FRAME].reshape(-1, _FRAME)
    power = np.convolve(np.square(frames).mean(axis=1), np.ones(_PAUSE) / _PAUSE, "valid")
    last_quietest = len(power) - 1 - int(np.argmin(power[::-1]))
    return _SHORTEST + (last_quietest + _PAUSE // 2) * _FRAME
