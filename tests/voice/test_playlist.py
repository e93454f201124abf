"""Sound under marks: what is queued is taken in order, and what was heard of each mark is known."""

from __future__ import annotations

import numpy as np
import pytest

from tests.voice.tone import strangeness, tone
from voice.playlist import Playlist

RATE = 48_000


def filled() -> Playlist:
    playlist = Playlist(RATE)
    playlist.add(tone(0.1, RATE), RATE, 1)
    playlist.add(tone(0.1, RATE), RATE, 1)
    playlist.add(tone(0.2, RATE), RATE, 2)
    return playlist


def test_marks_follow_each_other_and_a_new_one_ends_the_last() -> None:
    playlist = filled()
    assert [(each.mark, each.begin, each.end, each.whole) for each in playlist.stretches] == [
        (1, 0, 9600, True),
        (2, 9600, 19200, False),
    ]
    playlist.end()
    assert playlist.stretches[1].whole


def test_pieces_of_one_mark_meet_without_a_click_at_another_rate() -> None:
    playlist, sound = Playlist(RATE), tone(1.0, 24_000)
    for at in range(0, len(sound), 1111):
        playlist.add(sound[at : at + 1111], 24_000, 1)
    playlist.end()
    assert playlist.waiting == pytest.approx(RATE, abs=2)
    made = np.concatenate([playlist.take(100, at) for at in range(0, playlist.waiting, 100)])
    assert strangeness(made[2000:-2000], RATE) < 0.001
    assert playlist.waiting == 0


def test_what_was_heard_counts_only_frames_that_were_played() -> None:
    playlist = filled()
    playlist.take(12_000, 500)
    assert playlist.position(499) == 0
    assert playlist.position(500 + 4800) == 4800
    assert playlist.heard(4800) == [(1, 0.1)]
    assert playlist.heard(9600) == [(1, 0.2)]
    assert playlist.heard(12_000) == [(1, 0.2), (2, 0.05)]
    assert playlist.position(10**9) == 12_000


def test_a_gap_in_the_stream_is_no_progress() -> None:
    playlist = filled()
    playlist.take(1000, 0)
    playlist.take(1000, 5000)
    assert [playlist.position(frame) for frame in (500, 1000, 4999, 5000, 5500, 7000)] == [
        500,
        1000,
        1000,
        1000,
        1500,
        2000,
    ]


def test_stretches_that_were_heard_to_the_end_are_forgotten() -> None:
    playlist = filled()
    playlist.take(19_200, 0)
    playlist.forget(9599)
    assert [each.mark for each in playlist.stretches] == [1, 2]
    playlist.forget(19_200)
    assert [each.mark for each in playlist.stretches] == [2]


@pytest.mark.parametrize("rate", [48_000, 44_100])
def test_the_rest_goes_on_where_the_last_device_stopped(rate: int) -> None:
    playlist = filled()
    playlist.take(12_000, 0)
    rest = playlist.rest(10_800, rate)
    assert rest.rate == rate
    assert rest.waiting == pytest.approx((19_200 - 10_800) * rate / RATE, abs=2)
    assert dict(rest.heard(0)) == pytest.approx({1: 0.2, 2: 0.025}, abs=1e-4)
    rest.take(rest.waiting, 0)
    assert dict(rest.heard(rest.taken)) == pytest.approx({1: 0.2, 2: 0.2}, abs=1e-4)
    assert not rest.stretches[-1].whole
    rest.add(tone(0.1, 24_000), 24_000, 2)
    rest.end()
    assert [(each.mark, each.whole) for each in rest.stretches] == [(1, True), (2, True)]
    assert rest.waiting == pytest.approx(0.1 * rate, abs=2)
