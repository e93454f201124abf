"""Sound as the voice room hands it around: mono blocks of 20 ms at 16 kHz with their time and loudness."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]
    """One dimension, float32, within -1 and 1."""

RATE = 16_000
"""Samples a second on the microphone's side."""

BLOCK = 320
"""Samples of a block: 20 ms."""

_FLOOR_DB = -60.0
_FULL_DB = -6.0


@dataclass(frozen=True)
class Block:
    """20 ms from the microphone. `samples` has BLOCK values; `time` is when the first of them was captured
    (time.monotonic); `level` is its felt loudness, 0 to 1.
    """

    samples: Samples
    time: float
    level: float


def loudness(samples: Samples) -> float:
    """How loud `samples` are felt, 0 (at most -60 dB below full scale) to 1 (speech close to clipping)."""
    import numpy as np

    if not len(samples):
        return 0.0
    power = float(np.dot(samples, samples)) / len(samples)
    if not 0.0 < power < math.inf:
        return 0.0
    decibels = 10.0 * math.log10(power)
    return min(1.0, max(0.0, (decibels - _FLOOR_DB) / (_FULL_DB - _FLOOR_DB)))
