"""A delayed copy of what is played is told from a voice, where it leaps and where somebody speaks over it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.voice.spoken import speech
from voice.likeness import Likeness
from voice.sound import BLOCK, RATE

Samples = NDArray[np.float32]

PLAYED = speech("The quick brown fox jumps over the lazy dog near the river bank.")[: 2 * RATE]
VOICE = speech("No, wait, I wanted to ask you something else before that.")[: 2 * RATE]
AT = 1000.0


def share(heard: Samples, at: float = 0.0) -> float:
    """What is found in `heard` while PLAYED is played; its first sample is `at` seconds later."""
    likeness = Likeness()
    for begin in range(0, len(PLAYED), 700):
        likeness.far(PLAYED[begin : begin + 700], AT + begin / RATE)
    for begin in range(0, len(heard) - BLOCK + 1, BLOCK):
        likeness.near(heard[begin : begin + BLOCK], AT + at + begin / RATE)
    likeness.is_broken(late=False)
    return likeness.share


@pytest.mark.parametrize("gain", [1.0, 0.5, 0.05])
@pytest.mark.parametrize("delay", [-0.05, 0.0, 0.08, 0.25])
def test_an_echo_is_a_copy_at_every_gain_and_delay(gain: float, delay: float) -> None:
    begin = RATE // 2
    assert share(gain * PLAYED[begin : begin + RATE // 2], begin / RATE + delay) > 0.95


def test_an_echo_that_leaps_in_time_is_one_still() -> None:
    first, second = PLAYED[RATE // 2 : RATE // 2 + 2200], PLAYED[RATE // 2 + 3000 : RATE // 2 + 3000 + 2200]
    assert share(np.concatenate((first, second)), 0.55) > 0.7


def test_a_voice_is_no_copy() -> None:
    for begin in range(RATE // 4, RATE, RATE // 8):
        assert share(VOICE[begin : begin + RATE // 2], begin / RATE) < 0.5


def test_a_voice_as_loud_as_the_echo_is_heard_over_it() -> None:
    level = float(np.std(VOICE))
    mixed = 0.5 * PLAYED / float(np.std(PLAYED)) * level + VOICE
    found = [
        share(mixed[begin : begin + RATE // 2], begin / RATE + 0.08) for begin in range(4000, 14_000, 2000)
    ]
    assert min(found) < 0.4
    assert sorted(found)[len(found) // 2] < 0.7


def test_nothing_is_known_before_there_is_enough_sound() -> None:
    assert share(PLAYED[: BLOCK * 5]) == 0.0
    assert share(np.zeros(RATE // 2, np.float32)) == 0.0


def test_a_voice_over_a_plain_copy_breaks_it_and_over_a_room_it_does_not() -> None:
    level = float(np.std(VOICE))
    echo = (0.5 * PLAYED / float(np.std(PLAYED)) * level).astype(np.float32)
    over = echo.copy()
    over[RATE:] += VOICE[: len(over) - RATE]
    assert broken(over)
    assert not broken(echo)
    room = np.convolve(echo, np.random.default_rng(0).normal(size=4000) * np.geomspace(1, 0.01, 4000))
    loud = (room[: len(echo)] / np.std(room) * level).astype(np.float32)
    loud[RATE:] += VOICE[: len(over) - RATE]
    assert not broken(loud)


def broken(heard: Samples) -> bool:
    """Whether a voice is noticed anywhere in `heard`, which begins with PLAYED."""
    likeness, found = Likeness(), False
    for begin in range(0, len(heard) - BLOCK + 1, BLOCK):
        likeness.far(PLAYED[begin : begin + BLOCK], AT + begin / RATE)
        likeness.near(heard[begin : begin + BLOCK], AT + begin / RATE)
        found = likeness.is_broken(late=begin < RATE // 4) or found
    return found


def test_nothing_is_noticed_while_it_is_not_known_what_is_played() -> None:
    likeness = Likeness()
    for begin in range(0, RATE, BLOCK):
        likeness.far(PLAYED[begin : begin + BLOCK], AT + begin / RATE)
        likeness.near(PLAYED[begin : begin + BLOCK], AT + begin / RATE)
        likeness.is_broken(late=False)
    likeness.near(VOICE[:BLOCK], AT + 1.0)
    assert not likeness.is_broken(late=True)
