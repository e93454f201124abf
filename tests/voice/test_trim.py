"""Silence around speech is cut to what its punctuation asks for; silence inside it stays."""

from __future__ import annotations

import numpy as np
import pytest

from voice.trim import LEAD, PARAGRAPH, PAUSES, SHORTEST, TRAIL, pause_after, trimmed
from voice.tts.voice import Sound

RATE = 1_000


def sound(*stretches: tuple[float, float]) -> Sound:
    """Stretches of (seconds, loudness)."""
    parts = [np.full(round(seconds * RATE), level, np.float32) for seconds, level in stretches]
    return Sound(np.concatenate(parts), RATE)


def lengths(*sounds: Sound, pause: float = 0.1) -> tuple[float, float]:
    """Seconds of all, and of what is audible."""
    whole = np.concatenate([np.zeros(0, np.float32), *(s.samples for s in trimmed(iter(sounds), pause))])
    return len(whole) / RATE, float(np.count_nonzero(whole)) / RATE


def test_the_silence_around_it_is_cut() -> None:
    found = lengths(sound((0.3, 0), (1.0, 0.5), (0.4, 0)))
    assert found == pytest.approx((LEAD + 1.0 + TRAIL + 0.1, 1.0))


def test_silence_inside_stays_also_between_pieces() -> None:
    pieces = [sound((0.3, 0), (0.2, 0.5), (0.2, 0)), sound((0.3, 0)), sound((0.1, 0), (0.2, 0.5), (0.5, 0))]
    assert lengths(*pieces) == pytest.approx((LEAD + 0.2 + 0.6 + 0.2 + TRAIL + 0.1, 0.4))


def test_nothing_is_added_and_nothing_audible_lost() -> None:
    assert lengths(sound((1.0, 0.5))) == (1.0, 1.0)
    assert lengths(sound((0.01, 0), (1.0, -0.5), (0.05, 0))) == pytest.approx((1.06, 1.0))


def test_silence_alone_is_nothing() -> None:
    assert lengths(sound((2.0, 0.001)), sound((1.0, 0))) == (0.0, 0.0)
    assert lengths() == (0.0, 0.0)


@pytest.mark.parametrize(
    ("text", "pause"),
    [
        ("That is all. ", PAUSES["."]),
        ("He said “no.” ", PAUSES["."]),
        ("First of all, ", PAUSES[","]),
        ("and then we go on ", SHORTEST),
        ("The end.\n\n", PARAGRAPH),
        ("one line\n", SHORTEST),
        ("", SHORTEST),
    ],
)
def test_the_pause_is_as_long_as_a_reader_would_make_it(text: str, pause: float) -> None:
    assert pause_after(text) == pause
