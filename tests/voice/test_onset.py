"""When somebody begins and ends to speak, told from probabilities alone."""

from __future__ import annotations

from voice.onset import FRESH, OVER_ECHO, QUIET, SILENCE, WINDOW, Onset, Patience


def changes(
    *windows: tuple[float, float], asked: Patience = QUIET, near: bool = False
) -> list[tuple[int, str]]:
    onset = Onset()
    found = [(number, onset.feed(*window, asked, near)) for number, window in enumerate(windows)]
    return [(number, change) for number, change in found if change]


def test_speech_begins_after_a_few_windows_and_ends_after_the_pause() -> None:
    pause = round(SILENCE / WINDOW + 0.5)
    windows = [(0.0, 0.0)] * 10 + [(0.9, 0.5)] * 20 + [(0.1, 0.0)] * (pause + 5)
    assert changes(*windows) == [(10 + QUIET.speech - 1, "onset"), (29 + pause, "end")]


def test_it_is_noticed_within_two_hundred_milliseconds() -> None:
    assert 0.1 <= QUIET.speech * WINDOW <= 0.2
    assert OVER_ECHO.speech * WINDOW <= 0.2


def test_a_click_is_not_speech_and_a_gap_in_speech_is_no_end() -> None:
    assert changes(*[(0.9, 0.5), (0.0, 0.0), (0.0, 0.0)] * 10) == []
    windows = [(0.9, 0.5)] * 10 + [(0.0, 0.0)] * 15 + [(0.9, 0.5)] * 5
    assert [change for _, change in changes(*windows)] == ["onset"]


def test_over_an_echo_it_has_to_be_certain_and_loud() -> None:
    assert changes(*[(0.55, 0.6)] * 20, asked=OVER_ECHO) == []
    assert changes(*[(0.95, OVER_ECHO.level / 2)] * 20, asked=OVER_ECHO, near=True) == []
    assert changes(*[(0.95, 0.6)] * 20, asked=OVER_ECHO) == [(OVER_ECHO.speech - 1, "onset")]


def test_what_the_canceller_leaves_need_not_be_so_certain() -> None:
    assert changes(*[(0.3, 0.6)] * 20, asked=OVER_ECHO, near=True) == [(OVER_ECHO.speech - 1, "onset")]
    assert changes(*[(0.3, 0.6)] * 20, asked=QUIET, near=True) == []


def test_when_the_loudspeaker_has_just_begun_it_has_to_be_certain_for_longer() -> None:
    assert changes(*[(0.7, 0.6)] * 20, asked=FRESH, near=True) == []
    assert changes(*[(0.9, 0.6)] * 20, asked=FRESH, near=True) == [(FRESH.speech - 1, "onset")]


def test_afterwards_it_begins_anew() -> None:
    onset = Onset()
    for _ in range(20):
        onset.feed(0.9, 0.5, QUIET)
    onset.reset()
    assert [onset.feed(0.9, 0.5, QUIET) for _ in range(QUIET.speech)][-1] == "onset"
