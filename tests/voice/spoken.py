"""Speech for tests, made by the bundled voice, and words compared as a listener would."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]

RATE = 16_000


@cache
def speech(text: str) -> Samples:
    """`text` spoken by the bundled voice at 16 kHz, without the silence around it; always the same."""
    import soxr

    engine = _engine()
    samples = engine(text, seed=0)
    loud = np.flatnonzero(np.abs(samples) > 0.004)
    found: Samples = soxr.resample(samples[loud[0] : loud[-1]], engine.sample_rate, RATE).astype(np.float32)
    return found


@cache
def _engine() -> Any:
    from hibari import Hibari  # type: ignore[import-untyped]

    return Hibari("heart", threads=1)


def words(text: str) -> list[str]:
    """The words of `text` without case and punctuation."""
    return re.findall(r"[a-z0-9']+", text.lower())


def missing(wanted: str, found: str) -> int:
    """How many words of `wanted` are not in `found` in their order."""
    left, right = words(wanted), words(found)
    row = [0] * (len(right) + 1)
    for one in left:
        above = list(row)
        for place, other in enumerate(right, 1):
            row[place] = above[place - 1] + 1 if one == other else max(above[place], row[place - 1])
    return len(left) - row[-1]
