"""Speech is found between pauses and cut where that hurts least."""

from __future__ import annotations

import pytest

from voice.stt.stretch import AFTER, BEFORE, Stretch, windows


def fed(*parts: tuple[float, float]) -> Stretch:
    """A stretch that took (seconds, probability) after one another."""
    stretch = Stretch()
    for seconds, probability in parts:
        for _ in range(windows(seconds)):
            stretch.feed(probability)
    return stretch


def test_silence_holds_nothing() -> None:
    stretch = fed((60, 0.1))
    assert (stretch.heard, stretch.pause, stretch.cut, stretch.speech) == (False, 0, 0, 0.0)


def test_one_window_is_not_speech() -> None:
    stretch = fed((1, 0.0))
    stretch.feed(0.9)
    assert not stretch.heard
    stretch.feed(0.9)
    assert stretch.heard


def test_softer_sound_goes_on_but_does_not_begin() -> None:
    assert not fed((2, 0.4)).heard
    stretch = fed((1, 0.0), (1, 0.9), (0.5, 0.4), (0.3, 0.1))
    assert stretch.pause == windows(0.3)
    first, last = stretch.span
    assert (first, last) == (windows(1) - BEFORE, len(stretch.likely))
    assert stretch.until == pytest.approx(0.64 + 1.5, abs=0.1)


def test_a_span_stays_within_what_was_fed() -> None:
    assert fed((1, 0.9), (3, 0.0)).span == (0, windows(1) + AFTER)


@pytest.mark.parametrize(
    ("speech", "pause", "cut"),
    [(1, 1.2, False), (1, 1.6, True), (7, 0.6, False), (9, 0.3, False), (9, 0.6, True), (17, 0.3, True)],
)
def test_the_longer_a_stretch_the_shorter_the_pause_that_ends_it(
    speech: float, pause: float, cut: bool
) -> None:
    assert bool(fed((speech, 0.9), (pause, 0.0)).cut) is cut


def test_a_cut_leaves_silence_for_the_words_behind_it() -> None:
    stretch = fed((9, 0.9), (0.6, 0.0))
    ended, rest = stretch.parted(stretch.cut)
    assert ended.speech == pytest.approx(9, abs=0.1)
    assert not rest.heard
    assert len(rest.likely) == windows(0.6) // 2


def test_speech_without_a_pause_is_cut_at_its_softest() -> None:
    stretch = fed((20, 0.9), (0.1, 0.36), (6, 0.9))
    assert 20 <= stretch.cut * 0.032 <= 20.2
    ended, rest = stretch.parted(stretch.cut)
    assert ended.heard
    assert rest.heard
