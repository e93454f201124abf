"""Sound of any kind of numbers as the recogniser wants it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voice.errors import VoiceError
from voice.sound import BLOCK, RATE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from voice.sound import Samples

_SLOW = BLOCK / (0.5 * RATE)


def clean(samples: NDArray[np.generic]) -> Samples:
    """`samples` as one row of float32 within -1 and 1 and around 0, silent where they are no numbers.

    Whole numbers are taken as PCM of their width. Raises VoiceError sound_unreadable where it is no row of
    numbers.
    """
    import numpy as np

    found = finite(samples)
    if len(found):
        found -= np.float32(found.mean(dtype=np.float64))
    return np.clip(found, -1.0, 1.0, out=found)


def finite(samples: NDArray[np.generic]) -> Samples:
    """A copy of `samples` as float32, with 0 for what is no number."""
    import numpy as np

    found = np.asarray(samples)
    if found.ndim != 1 or found.dtype.kind not in "fiu":
        raise VoiceError("sound_unreadable", reason="the samples are not one row of numbers")
    with np.errstate(over="ignore"):
        made = found.astype(np.float32)
    if found.dtype.kind in "iu":
        width = np.iinfo(found.dtype)
        middle = (float(width.max) + float(width.min) + 1.0) / 2.0
        made -= np.float32(middle)
        made /= np.float32(width.max - middle)
    return np.nan_to_num(made, copy=False, nan=0.0, posinf=0.0, neginf=0.0)


class Centre:
    """Takes a constant out of sound that comes block by block."""

    def __init__(self) -> None:
        self._mean: float | None = None

    def clean(self, samples: NDArray[np.generic]) -> Samples:
        """The next block, finite, around 0 and within -1 and 1."""
        import numpy as np

        found = finite(samples)
        if not len(found):
            return found
        now = float(found.mean(dtype=np.float64))
        self._mean = now if self._mean is None else self._mean + _SLOW * (now - self._mean)
        found -= np.float32(self._mean)
        return np.clip(found, -1.0, 1.0, out=found)
