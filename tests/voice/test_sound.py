"""Loudness as it is felt."""

from __future__ import annotations

import numpy as np
import pytest

from tests.voice.tone import tone
from voice.sound import BLOCK, RATE, loudness


def test_a_block_is_20_ms() -> None:
    assert BLOCK / RATE == 0.02


def test_silence_and_nothing_have_no_loudness() -> None:
    assert loudness(np.zeros(BLOCK, np.float32)) == 0.0
    assert loudness(np.zeros(0, np.float32)) == 0.0
    assert loudness(np.full(BLOCK, np.nan, np.float32)) == 0.0


def test_loudness_grows_in_even_steps_of_decibels_up_to_1() -> None:
    levels = [loudness(tone(0.02, RATE, 500, height)) for height in (0.003, 0.03, 0.3)]
    assert 0 < levels[0] < levels[1] < levels[2] < 1
    assert levels[1] - levels[0] == pytest.approx(levels[2] - levels[1], abs=0.01)
    assert loudness(np.ones(BLOCK, np.float32)) == 1.0
