"""Pieces of any length give the same sound as the whole."""

from __future__ import annotations

import numpy as np
import pytest

from tests.voice.tone import strangeness, tone
from voice.resample import Resampler


@pytest.mark.parametrize(
    ("source", "target"),
    [(44_100, 16_000), (48_000, 16_000), (96_000, 16_000), (24_000, 48_000), (22_050, 44_100)],
)
@pytest.mark.parametrize("piece", [7, 240, 5000])
def test_nothing_clicks_where_pieces_meet(source: int, target: int, piece: int) -> None:
    whole, resampler = tone(1.0, source), Resampler(source, target)
    pieces = [resampler.feed(whole[at : at + piece]) for at in range(0, len(whole), piece)]
    made = np.concatenate([*pieces, resampler.feed(np.zeros(0, np.float32), last=True)])
    assert len(made) == pytest.approx(target, abs=2)
    assert made.dtype == np.float32
    assert strangeness(made[target // 20 : -target // 20], target) < 0.001


def test_the_same_rate_passes_through() -> None:
    samples = tone(0.1, 16_000)
    assert Resampler(16_000, 16_000).feed(samples) is samples


def test_after_the_last_piece_it_begins_anew() -> None:
    resampler, samples = Resampler(48_000, 16_000), tone(0.5, 48_000)
    first = resampler.feed(samples, last=True)
    assert np.array_equal(first, resampler.feed(samples, last=True))
