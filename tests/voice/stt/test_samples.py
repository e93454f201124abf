"""Any row of numbers becomes sound that can be understood; anything else is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from voice.errors import VoiceError
from voice.stt.samples import Centre, clean

WAVE = 0.5 * np.sin(np.arange(1600) / 5)


@pytest.mark.parametrize(
    "given",
    [
        WAVE,
        WAVE.astype(np.float32),
        WAVE.astype(np.float16),
        (WAVE * 32767).astype(np.int16),
        (WAVE * (2**31 - 1)).astype(np.int32),
        (WAVE * 127 + 128).astype(np.uint8),
        WAVE + 0.3,
    ],
)
def test_numbers_of_every_kind_are_the_same_sound(given: Any) -> None:
    cleaned = clean(given)
    assert cleaned.dtype == np.float32
    assert np.abs(cleaned - WAVE).max() < 0.02


def test_what_is_no_number_is_silent() -> None:
    assert not clean(np.array([np.nan, np.inf, -np.inf, 1e300])).any()
    assert len(clean(np.zeros(0, np.float32))) == 0


def test_clipped_sound_stays_within_one() -> None:
    assert np.abs(clean(WAVE * 40)).max() == 1.0


@pytest.mark.parametrize("given", [np.zeros((2, 100)), np.zeros(()), np.array(["a"]), np.zeros(3, complex)])
def test_what_is_no_row_of_numbers_is_refused(given: Any) -> None:
    with pytest.raises(VoiceError, match="sound_unreadable"):
        clean(given)


def test_a_constant_is_taken_out_block_by_block() -> None:
    centre = Centre()
    found = [centre.clean((WAVE[:320] + 0.3).astype(np.float32)) for _ in range(50)]
    assert abs(float(found[-1].mean())) < 0.02
    assert len(centre.clean(np.zeros(0, np.float32))) == 0
