"""The stream of a loudspeaker itself: it starts with the first frames, fades, and follows nothing."""

from __future__ import annotations

import threading
import time

import numpy as np

from tests.sound_stage import RATE, SoundStage
from tests.voice.tone import sounding, tone
from voice.devices import devices, find
from voice.output import LONG, SHORT, Far, Output
from voice.playlist import Playlist


def test_a_halted_device_starts_with_the_first_frames(sound: SoundStage) -> None:
    wake, delays = threading.Event(), []
    output = Output(find("loudspeaker", "", devices()), None, LONG, wake)
    with sound.record() as record:
        for number in range(4):
            since = len(record.samples)
            output.playlist.add(tone(0.2, 48_000), 48_000, number)
            output.playlist.end()
            begun = time.monotonic()
            output.run()
            delays.append(record.arrival(record.wait_for_sound(after=since)) - begun)
            sound.wait(output.is_quiet, "quiet")
            output.halt()
            assert output.position() == output.playlist.taken
            assert not output.is_broken()
    output.close()
    assert min(delays) < LONG / 2


def test_a_list_that_is_exchanged_fades_out_and_the_next_follows(sound: SoundStage) -> None:
    wake = threading.Event()
    output = Output(find("loudspeaker", "", devices()), None, SHORT, wake)
    steps = []
    with sound.record() as record:
        for _ in range(4):
            since = len(record.samples)
            old = output.playlist
            old.add(tone(2, 48_000), 48_000, 1)
            output.run()
            first = record.wait_for_sound(after=since)
            record.wait_for_more(first + RATE // 10)
            new = Playlist(output.rate)
            output.playlist = new
            record.wait_for_silence(0.05)
            heard = sounding(record.samples[first:])
            steps.append(float(np.abs(np.diff(heard)).max()))
            assert old.waiting > 0
            output.halt()
    output.close()
    assert min(steps) < 0.03


def test_what_was_played_becomes_16_khz_with_times(sound: SoundStage) -> None:
    output, far = Output(find("loudspeaker", "", devices()), None, SHORT, threading.Event()), Far()
    output.playlist.add(tone(0.5, 48_000), 48_000, 1)
    output.playlist.end()
    output.run()
    pieces = []
    while not output.is_quiet():
        pieces += list(far.of(output))
    output.close()
    samples = sounding(np.concatenate([samples for samples, _ in pieces]))
    assert abs(len(samples) - 8000) < 400
    assert all(0 < heard - pieces[0][1] + 1 < 10 for _, heard in pieces)
