"""Uneven reports of a sound system become an even clock."""

from __future__ import annotations

import random

import pytest

from voice.timeline import Timeline


def test_before_the_first_report_nothing_is_known() -> None:
    timeline = Timeline(48_000)
    assert timeline.time_of(0) is None
    assert timeline.frame_at(1.0) is None


def test_frames_and_times_map_to_each_other() -> None:
    timeline = Timeline(48_000)
    timeline.tick(480, 10.0)
    assert timeline.time_of(480 + 4800) == pytest.approx(10.1)
    assert timeline.frame_at(10.1) == pytest.approx(480 + 4800)


def test_jitter_is_averaged() -> None:
    timeline, chance = Timeline(48_000), random.Random(7)
    for frame in range(0, 48_000 * 10, 480):
        timeline.tick(frame, 100 + frame / 48_000 + chance.uniform(-0.008, 0.008))
        if frame > 48_000:
            assert timeline.time_of(frame) == pytest.approx(100 + frame / 48_000, abs=0.002)


def test_a_clock_that_runs_differently_is_followed() -> None:
    timeline = Timeline(48_000)
    for frame in range(0, 48_000 * 60, 480):
        timeline.tick(frame, frame / 48_000 * 1.0002)
    assert timeline.time_of(frame) == pytest.approx(frame / 48_000 * 1.0002, abs=0.002)


def test_a_leap_is_believed_at_once() -> None:
    timeline = Timeline(48_000)
    for frame in range(0, 48_000, 480):
        timeline.tick(frame, frame / 48_000)
    timeline.tick(48_000, 1.25)
    assert timeline.time_of(48_000) == 1.25


def test_after_a_restart_the_next_report_is_believed() -> None:
    timeline = Timeline(48_000)
    timeline.tick(0, 0.0)
    timeline.restart(480, 5.0)
    assert timeline.time_of(480) == 5.0
    timeline.tick(960, 5.03)
    assert timeline.time_of(960) == 5.03
