"""Tones for tests of sound, and how far something heard is from one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]


def tone(seconds: float, rate: int, hertz: float = 440.0, height: float = 0.3) -> Samples:
    """A sine of amplitude `height`."""
    return (height * np.sin(2 * np.pi * hertz * np.arange(int(seconds * rate)) / rate)).astype(np.float32)


def sounding(samples: Samples, floor: float = 0.003) -> Samples:
    """From the first to the last sample above `floor`."""
    loud = np.flatnonzero(np.abs(samples) > floor)
    return samples[loud[0] : loud[-1] + 1] if len(loud) else samples[:0]


def strangeness(samples: Samples, rate: int, hertz: float = 440.0) -> float:
    """The largest difference of `samples` from the sine of `hertz` that fits best; a click is large."""
    angles = 2 * np.pi * hertz * np.arange(len(samples)) / rate
    waves = np.stack([np.sin(angles), np.cos(angles)], axis=1)
    fitting, *_ = np.linalg.lstsq(waves, samples.astype(np.float64), rcond=None)
    return float(np.abs(samples - waves @ fitting).max())
