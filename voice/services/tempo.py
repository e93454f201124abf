"""Speech is made slower or faster than its voice can speak, without changing its pitch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from voice.sound import Samples

SLOWEST, FASTEST = 0.5, 2.0
"""The speeds at which voices speak by themselves."""

_WINDOW_SECONDS = 0.04
_SEARCH_SECONDS = 0.01


def shares(speed: float) -> tuple[float, float]:
    """The part of `speed` that a voice does by itself, and the factor that is left for `stretched`."""
    spoken = min(max(speed, SLOWEST), FASTEST)
    return spoken, speed / spoken


def stretched(samples: Samples, factor: float, rate: int) -> Samples:
    """`samples` at `factor` times their pace (waveform similarity overlap-add).

    Windows are laid down at even steps; each is taken from where, near its due place, it continues the one
    before it best.
    """
    import numpy as np

    size = int(rate * _WINDOW_SECONDS) // 2 * 2
    step, search = size // 2, int(rate * _SEARCH_SECONDS)
    if factor == 1.0 or len(samples) < 2 * size:
        return samples
    window = np.hanning(size + 1)[:size].astype(np.float32)
    padded = np.concatenate((np.zeros(search, np.float32), samples, np.zeros(size + 2 * search, np.float32)))
    count = int(len(samples) / factor) // step
    made = np.zeros(count * step + size, np.float32)
    at = search
    for number in range(count):
        due = min(int(number * step * factor), len(samples) - step)
        if number:
            near = padded[due : due + 2 * search + step]
            at = due + int(np.argmax(np.correlate(near, padded[at + step : at + size], "valid")))
        made[number * step : number * step + size] += window * padded[at : at + size]
    return made[: count * step]
