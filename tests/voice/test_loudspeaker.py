"""A real loudspeaker of a private sound server: what it got is recorded and compared with what is told."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from tests.sound_stage import RATE, SoundStage
from tests.voice.tone import Samples, sounding, strangeness, tone
from voice.errors import VoiceError
from voice.loudspeaker import Loudspeaker, Moment

STEP = 0.3 * 2 * np.pi * 440 / RATE
"""The largest difference between neighbouring samples of the tone that is played."""

REPETITIONS = 6
"""The best of so many counts, since on a busy machine the sound server itself leaves gaps."""


class Said:
    """What a loudspeaker called back with."""

    def __init__(self) -> None:
        self.marks: list[tuple[int, Moment]] = []
        self.times: list[float] = []
        self.far: list[tuple[Samples, float]] = []
        self.troubles: list[VoiceError] = []

    def on_mark(self, mark: int, moment: Moment) -> None:
        self.times.append(time.monotonic())
        self.marks.append((mark, moment))

    def on_far(self, samples: Samples, heard: float) -> None:
        self.far.append((samples, heard))


@contextmanager
def speaking(device: str = "", volume: float = 1.0) -> Iterator[tuple[Loudspeaker, Said]]:
    said = Said()
    loudspeaker = Loudspeaker(device, said.on_mark, said.on_far, said.troubles.append, volume)
    try:
        yield loudspeaker, said
    finally:
        loudspeaker.close()


def over(sound: SoundStage, said: Said, count: int) -> None:
    """Wait until `count` marks were told."""
    sound.wait(lambda: len(said.marks) >= count, f"{count} marks; there are {said.marks}")


def told(sound: SoundStage, said: Said) -> str:
    """The one trouble that comes now."""
    sound.wait(lambda: bool(said.troubles), "trouble")
    assert len(said.troubles) == 1
    return str(said.troubles.pop())


def test_everything_is_heard_in_order_without_clicks_and_marks_tell_when(sound: SoundStage) -> None:
    clicks, late = [], []
    with speaking() as (loudspeaker, said), sound.record() as record:
        loudspeaker.open()
        for _ in range(REPETITIONS):
            said.marks.clear()
            said.times.clear()
            since = len(record.samples)
            speech = tone(0.5, 24_000)
            for at in range(0, len(speech), 5000):
                assert loudspeaker.play(speech[at : at + 5000], 24_000, 1)
            loudspeaker.play(tone(0.25, 24_000), 24_000, 2)
            loudspeaker.end(2)
            over(sound, said, 4)
            assert said.marks == [(1, "begun"), (1, "ended"), (2, "begun"), (2, "ended")]
            first = record.wait_for_sound(after=since)
            record.wait_for_silence(0.1)
            heard = sounding(record.samples[since:])
            clicks.append(float(np.abs(np.diff(heard)).max()) if len(heard) < 0.76 * RATE else 1.0)
            late.append(abs(said.times[0] - record.arrival(first)))
            assert said.times[1] - said.times[0] == pytest.approx(0.5, abs=0.3)
    assert min(clicks) < 1.3 * STEP
    assert min(late) < 0.03


def test_stopping_is_silent_within_30_ms_without_a_click_and_knows_what_was_heard(sound: SoundStage) -> None:
    silent, clicks, wrong = [], [], []
    with speaking() as (loudspeaker, said), sound.record() as record:
        loudspeaker.open()
        for number in range(REPETITIONS):
            since = len(record.samples)
            loudspeaker.play(tone(3, 24_000), 24_000, number)
            first = record.wait_for_sound(after=since)
            record.wait_for_more(first + 9600)
            begun = time.monotonic()
            ((mark, seconds),) = loudspeaker.stop()
            assert time.monotonic() - begun < 0.5
            assert mark == number
            record.wait_for_silence(0.1)
            heard = sounding(record.samples[first:])
            silent.append(record.arrival(first + len(heard)) - begun)
            clicks.append(float(np.abs(np.diff(heard)).max()))
            wrong.append(abs(seconds - len(heard) / RATE))
        assert loudspeaker.stop() == []
        assert loudspeaker.played() is None
    print(f"silent after {[round(each * 1000) for each in silent]} ms, seconds wrong by {wrong}")
    # The recorder gets sound in steps of 5 ms and the server makes it in steps of 10 ms.
    assert min(silent) < 0.03 + 0.015
    assert min(clicks) < 1.3 * STEP
    assert min(wrong) < 0.01
    assert [moment for _, moment in said.marks] == ["begun"] * REPETITIONS


def test_after_a_stop_the_next_sound_comes_whole(sound: SoundStage) -> None:
    with speaking() as (loudspeaker, said), sound.record() as record:
        loudspeaker.play(tone(2, 24_000), 24_000, 1)
        over(sound, said, 1)
        loudspeaker.stop()
        loudspeaker.play(tone(0.5, 24_000, 880), 24_000, 2)
        loudspeaker.end(2)
        over(sound, said, 3)
        record.wait_for_silence(0.1)
        assert said.marks[1:] == [(2, "begun"), (2, "ended")]
        tail = sounding(record.samples)[-int(0.3 * RATE) :]
        assert strangeness(tail[: -RATE // 50], RATE, 880) < 0.15


def test_what_is_played_and_how_far(sound: SoundStage) -> None:
    with speaking() as (loudspeaker, said):
        assert loudspeaker.played() is None
        loudspeaker.play(tone(2, 24_000), 24_000, 7)
        over(sound, said, 1)

        def seconds() -> float:
            played = loudspeaker.played()
            assert played is not None
            assert played[0] == 7
            return played[1]

        sound.wait(lambda: seconds() > 0.3, "progress")
        assert seconds() < 1.9


def test_a_mark_ends_only_when_nothing_more_belongs_to_it(sound: SoundStage) -> None:
    with speaking() as (loudspeaker, said):
        loudspeaker.play(tone(0.1, 24_000), 24_000, 1)
        over(sound, said, 1)
        sound.wait(lambda: (loudspeaker.played() or (0, 0.0))[1] > 0.05, "the end of the sound")
        assert said.marks == [(1, "begun")]
        loudspeaker.play(tone(0.1, 24_000), 24_000, 1)
        loudspeaker.end(1)
        over(sound, said, 2)
        assert said.marks == [(1, "begun"), (1, "ended")]


def test_volume_counts_at_once_and_never_clips_wildly(sound: SoundStage) -> None:
    with speaking(volume=0.5) as (loudspeaker, said), sound.record() as record:
        loudspeaker.play(tone(0.3, 24_000), 24_000, 1)
        loudspeaker.end(1)
        over(sound, said, 2)
        record.wait_for_silence(0.1)
        assert np.abs(record.samples).max() == pytest.approx(0.15, abs=0.01)
        loudspeaker.volume = 10.0
        loudspeaker.play(tone(0.3, 24_000), 24_000, 2)
        loudspeaker.end(2)
        over(sound, said, 4)
        record.wait_for_silence(0.1)
        assert np.abs(record.samples).max() == pytest.approx(1.0, abs=0.01)


def test_what_is_heard_is_told_beforehand_for_the_echo(sound: SoundStage) -> None:
    wrong, lengths = [], []
    with speaking() as (loudspeaker, said), sound.record() as record:
        for number in range(REPETITIONS):
            since, known = len(record.samples), len(said.far)
            loudspeaker.play(tone(0.4, 24_000), 24_000, number)
            loudspeaker.end(number)
            over(sound, said, 2 * number + 2)
            first = record.wait_for_sound(after=since)
            record.wait_for_silence(0.1)
            far, heard = zip(*said.far[known:], strict=True)
            lengths.append(len(sounding(np.concatenate(far))))
            loud = next(place for place, samples in enumerate(far) if np.abs(samples).max() > 0.01)
            begun = heard[loud] + float(np.argmax(np.abs(far[loud]) > 0.01)) / 16_000
            wrong.append(abs(begun - record.arrival(first)))
    assert min(wrong) < 0.02
    assert min(abs(length - 6400) for length in lengths) < 64


def test_a_loudspeaker_of_another_rate_sounds_the_same(sound: SoundStage) -> None:
    sound.add("second", "Second", rate=44_100)
    with speaking("pulse:second") as (loudspeaker, said), sound.record("second.monitor") as record:
        loudspeaker.open()
        assert loudspeaker.device is not None
        assert loudspeaker.device.rate == 44_100
        clicks = []
        for number in range(REPETITIONS):
            since = len(record.samples)
            loudspeaker.play(tone(0.5, 24_000), 24_000, number)
            loudspeaker.end(number)
            over(sound, said, 2 * number + 2)
            record.wait_for_silence(0.1)
            heard = sounding(record.samples[since:])
            clicks.append(strangeness(heard[2400:-2400], RATE))
        assert min(clicks) < 0.01


def test_pulling_it_out_is_told_once_and_nothing_is_lost(sound: SoundStage) -> None:
    with speaking() as (loudspeaker, said):
        loudspeaker.play(tone(1.5, 24_000), 24_000, 1)
        loudspeaker.end(1)
        over(sound, said, 1)
        begun = time.monotonic()
        sound.unplug("loudspeaker")
        assert told(sound, said) == "loudspeaker_gone(name=Desk Speaker)"
        assert time.monotonic() - begun < 1
        ((_, heard),) = [played for played in [loudspeaker.played()] if played]
        assert heard < 1.2
        with pytest.raises(VoiceError, match="loudspeaker_missing"):
            loudspeaker.open()
        sound.plug("loudspeaker")
        with sound.record() as record:
            loudspeaker.open()
            over(sound, said, 2)
            record.wait_for_silence(0.1)
            assert len(sounding(record.samples)) / RATE == pytest.approx(1.5 - heard, abs=0.1)
        assert said.marks == [(1, "begun"), (1, "ended")]
        assert said.troubles == []


def test_after_it_is_gone_the_owner_can_ask_what_was_heard(sound: SoundStage) -> None:
    with speaking() as (loudspeaker, said):
        loudspeaker.play(tone(5, 24_000), 24_000, 1)
        over(sound, said, 1)
        sound.wait(lambda: (loudspeaker.played() or (0, 0.0))[1] > 0.2, "progress")
        sound.crash()
        assert told(sound, said) == "loudspeaker_gone(name=Desk Speaker)"
        ((mark, seconds),) = loudspeaker.stop()
        assert mark == 1
        assert 0.2 < seconds < 4
        assert loudspeaker.stop() == []
        with pytest.raises(VoiceError, match="loudspeaker_missing"):
            loudspeaker.play(tone(1, 24_000), 24_000, 2)


def test_a_sound_server_that_hangs_is_one_trouble_and_nothing_hangs_with_it(
    sound: SoundStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("voice.pulse.PATIENCE", 0.2)
    with speaking() as (loudspeaker, said):
        loudspeaker.play(tone(20, 24_000), 24_000, 1)
        over(sound, said, 1)
        with sound.hanging():
            assert told(sound, said) == "loudspeaker_gone(name=Desk Speaker)"
            ((mark, seconds),) = loudspeaker.stop()
            assert mark == 1
            assert seconds < 10
            loudspeaker.close()


def test_the_systems_own_is_followed_in_the_middle_of_a_word(sound: SoundStage) -> None:
    sound.add("second", "Second", rate=44_100)
    with speaking() as (loudspeaker, said), sound.record() as first, sound.record("second.monitor") as second:
        loudspeaker.play(tone(2, 24_000), 24_000, 1)
        loudspeaker.end(1)
        over(sound, said, 1)
        sound.wait(lambda: len(sounding(first.samples)) > 0.3 * RATE, "the first part")
        sound.unplug("loudspeaker")
        assert told(sound, said) == "loudspeaker_replaced(name=Desk Speaker, other=Second)"
        over(sound, said, 2)
        second.wait_for_silence(0.1)
        parts = len(sounding(first.samples)) + len(sounding(second.samples))
        assert parts / RATE == pytest.approx(2, abs=0.2)


def test_a_chosen_one_is_never_replaced(sound: SoundStage) -> None:
    sound.add("second", "Second")
    with speaking("pulse:second") as (loudspeaker, said):
        loudspeaker.play(tone(2, 24_000), 24_000, 1)
        over(sound, said, 1)
        sound.remove("second")
        assert told(sound, said) == "loudspeaker_gone(name=Second)"
        with pytest.raises(VoiceError, match="loudspeaker_unplugged"):
            loudspeaker.open()


def test_being_muted_is_said(sound: SoundStage) -> None:
    sound.pactl("set-sink-mute", "speaker", "1")
    with speaking() as (loudspeaker, said):
        loudspeaker.open()
        assert told(sound, said) == "loudspeaker_muted(name=Desk Speaker)"


def test_it_sleeps_when_nothing_is_said_and_wakes_by_itself(
    sound: SoundStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("voice.loudspeaker.IDLE", 0.2)
    with speaking() as (loudspeaker, said):
        loudspeaker.open()
        assert loudspeaker.device is not None
        sound.wait(lambda: loudspeaker.device is None, "sleep")
        loudspeaker.play(tone(0.1, 24_000), 24_000, 1)
        loudspeaker.end(1)
        over(sound, said, 2)
        sound.wait(lambda: sound.pactl("list", "short", "sink-inputs") == "", "the end of the stream")
        loudspeaker.play(tone(0.1, 24_000), 24_000, 2)
        loudspeaker.end(2)
        over(sound, said, 4)


def test_the_queue_is_bounded(sound: SoundStage) -> None:
    with speaking() as (loudspeaker, _):
        minute = np.zeros(48_000 * 60, np.float32)
        taken = [loudspeaker.play(minute, 48_000, number) for number in range(5)]
        assert taken == [True, True, True, False, False]
        loudspeaker.stop()
        assert loudspeaker.play(minute, 48_000, 9)


def test_calls_from_within_and_many_threads_do_not_lock(sound: SoundStage) -> None:
    done = threading.Event()
    held: list[Loudspeaker] = []

    def on_mark(mark: int, moment: Moment) -> None:
        if moment == "ended" and mark < 3:
            held[0].play(tone(0.05, 24_000), 24_000, mark + 1)
            held[0].end(mark + 1)
        elif moment == "ended":
            held[0].stop()
            done.set()

    loudspeaker = Loudspeaker("", on_mark, None, lambda trouble: None)
    held.append(loudspeaker)
    loudspeaker.play(tone(0.05, 24_000), 24_000, 1)
    loudspeaker.end(1)
    askers = [threading.Thread(target=loudspeaker.played) for _ in range(20)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert done.wait(10)
    loudspeaker.close()
    loudspeaker.close()
