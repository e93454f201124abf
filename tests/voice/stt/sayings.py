"""Speech for tests, made by the bundled voice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tests.voice.spoken import speech
from voice.sound import BLOCK, RATE, Block

if TYPE_CHECKING:
    from voice.sound import Samples


def say(text: str) -> Samples:
    """`text` as 16 kHz sound with 0.3 s of silence before and 0.4 s after it, the same every time."""
    import numpy as np

    spoken = speech(text)
    loud: Samples = 0.5 * spoken / np.abs(spoken).max()
    return np.concatenate((silence(0.3), loud, silence(0.4)))


def silence(seconds: float) -> Samples:
    """Nothing for so long."""
    import numpy as np

    return np.zeros(round(seconds * RATE), np.float32)


def blocks(samples: Samples) -> Iterator[Block]:
    """Sound as it comes from a microphone."""
    import numpy as np

    padded = np.concatenate((samples, np.zeros(-len(samples) % BLOCK, np.float32)))
    for place, block in enumerate(padded.reshape(-1, BLOCK)):
        yield Block(block, place * BLOCK / RATE, 0.0)
