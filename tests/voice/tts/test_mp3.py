"""MP3 that is decoded while it arrives."""

from __future__ import annotations

import numpy as np
import pytest

from tests.wire.edge import RATE, sung
from voice.tts.mp3 import GrowingMp3


@pytest.mark.parametrize("size", [100, 720, 5000])
def test_the_sound_grows_and_what_was_there_stays(size: int) -> None:
    data = sung(6)
    whole = GrowingMp3()
    whole.add(data)
    whole.end()
    growing = GrowingMp3()
    seen = [growing.samples]
    for at in range(0, len(data), size):
        growing.add(data[at : at + size])
        if len(growing.samples) > len(seen[-1]):
            seen.append(growing.samples)
    growing.end()
    assert growing.rate == RATE
    np.testing.assert_allclose(growing.samples, whole.samples, atol=1e-6)
    for earlier in seen:
        np.testing.assert_allclose(earlier, whole.samples[: len(earlier)], atol=1e-6)
    assert len(seen) > (3 if size < 5000 else 1)


def test_nothing_is_silence_and_noise_is_an_error() -> None:
    nothing = GrowingMp3()
    nothing.end()
    assert len(nothing.samples) == 0
    with pytest.raises(ValueError, match="Error opening"):
        GrowingMp3().add(b"no sound " * 400)
