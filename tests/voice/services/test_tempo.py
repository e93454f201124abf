"""Speech is stretched in time and keeps its pitch."""

from __future__ import annotations

import numpy as np
import pytest

from voice.services.tempo import shares, stretched

RATE = 24_000


@pytest.mark.parametrize(
    ("speed", "expected"),
    [(0.25, (0.5, 0.5)), (0.5, (0.5, 1.0)), (1.0, (1.0, 1.0)), (2.0, (2.0, 1.0)), (4.0, (2.0, 2.0))],
)
def test_what_the_voice_does_and_what_is_left(speed: float, expected: tuple[float, float]) -> None:
    assert shares(speed) == expected


@pytest.mark.parametrize("factor", [0.5, 0.8, 1.3, 2.0])
def test_the_length_changes_and_the_pitch_and_loudness_do_not(factor: float) -> None:
    times = np.arange(3 * RATE) / RATE
    voice = 0.3 * np.sin(2 * np.pi * 150 * times) + 0.1 * np.sin(2 * np.pi * 300 * times)
    made = stretched(voice.astype(np.float32), factor, RATE)
    assert len(made) / RATE == pytest.approx(3 / factor, abs=0.05)
    inner = made[RATE // 10 : -RATE // 10]
    strongest = float(np.abs(np.fft.rfft(inner)).argmax()) * RATE / len(inner)
    assert strongest == pytest.approx(150, abs=3)
    assert inner.std() == pytest.approx(voice.std(), rel=0.1)


def test_what_is_shorter_than_two_windows_stays_as_it_is() -> None:
    short = np.ones(100, np.float32)
    assert stretched(short, 2.0, RATE) is short
