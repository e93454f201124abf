"""A real microphone of a private sound server: what it hears, and what happens when it goes away."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from tests.sound_stage import SoundStage
from tests.voice.tone import sounding, strangeness, tone
from voice.errors import VoiceError
from voice.microphone import Microphone
from voice.sound import BLOCK, RATE, Block

REPETITIONS = 4
"""The best of so many counts, since on a busy machine the sound server itself leaves gaps."""


class Heard:
    """What a microphone called back with."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.troubles: list[VoiceError] = []

    def samples(self, since: int = 0) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        return np.concatenate([np.zeros(0, np.float32), *(block.samples for block in self.blocks[since:])])


@contextmanager
def listening(sound: SoundStage, device: str = "") -> Iterator[tuple[Microphone, Heard]]:
    heard = Heard()
    microphone = Microphone(device, heard.blocks.append, heard.troubles.append)
    microphone.open()
    try:
        sound.wait(lambda: len(heard.blocks) > 5, "the first blocks")
        yield microphone, heard
    finally:
        microphone.close()


def goes_on(sound: SoundStage, heard: Heard) -> None:
    before = len(heard.blocks)
    sound.wait(lambda: len(heard.blocks) > before + 10, "more blocks")


def told(sound: SoundStage, heard: Heard) -> tuple[str, float]:
    """The one trouble that comes now, and in how many seconds."""
    begun = time.monotonic()
    sound.wait(lambda: bool(heard.troubles), "trouble")
    assert len(heard.troubles) == 1
    return str(heard.troubles.pop()), time.monotonic() - begun


def until(sound: SoundStage, ready: Callable[[], bool]) -> None:
    sound.wait(ready, "the microphone")


@pytest.mark.parametrize("rate", [44_100, 48_000, 96_000])
def test_any_device_is_heard_at_16_khz_without_clicks(sound: SoundStage, rate: int) -> None:
    sound.add("other", "Other", "microphone", rate)
    with listening(sound, "pulse:other") as (microphone, heard):
        assert microphone.device is not None
        assert (microphone.device.name, microphone.device.rate) == ("Other", rate)
        clicks = []
        for _ in range(REPETITIONS):
            since = len(heard.blocks)
            sound.say(tone(0.5, rate), rate, into="other_sink")
            goes_on(sound, heard)
            samples = sounding(heard.samples(since))
            assert len(samples) == pytest.approx(RATE / 2, rel=0.1)
            clicks.append(strangeness(samples[800:-800], RATE))
        assert min(clicks) < 0.01
        assert microphone.overruns == 0


def test_blocks_are_20_ms_with_times_in_step(sound: SoundStage) -> None:
    with listening(sound) as (_, heard):
        goes_on(sound, heard)
        now = time.monotonic()
        blocks = list(heard.blocks)
    assert {(len(block.samples), block.samples.dtype.name) for block in blocks} == {(BLOCK, "float32")}
    steps = np.diff([block.time for block in blocks])
    assert np.median(steps) == pytest.approx(0.02, abs=0.002)
    assert -0.05 < now - blocks[-1].time - 0.02 < 1.0
    assert all(block.level == 0.0 for block in blocks)


def test_a_program_that_did_not_get_to_run_loses_nothing_and_knows_when_it_was(sound: SoundStage) -> None:
    library = ctypes.PyDLL(None)  # what it does is done while no other thread of Python runs
    leaps, lost = [], []
    with listening(sound) as (microphone, heard):
        for seconds in (0.4,) * REPETITIONS + (2.5,):
            since = len(heard.blocks)
            goes_on(sound, heard)
            library.usleep(int(seconds * 1e6))
            now = time.monotonic()
            sound.wait(lambda now=now: heard.blocks[-1].time > now, "what came since")  # type: ignore[misc]
            times = [block.time for block in heard.blocks[since:]]
            leaps.append(np.abs(np.diff(times) - BLOCK / RATE).max())
            lost.append(times[-1] - times[0] - (len(times) - 1) * BLOCK / RATE)
        assert microphone.overruns == 0
    assert min(leaps) < 0.05
    assert min(np.abs(lost[:REPETITIONS])) < 0.1
    assert abs(lost[-1]) < 0.5


def test_both_channels_are_heard_and_the_level_rises(sound: SoundStage) -> None:
    sides = np.stack([tone(0.5, 48_000), np.zeros(24_000, np.float32)], axis=1)
    with listening(sound) as (_, heard):
        since = len(heard.blocks)
        sound.say(sides, 48_000)
        goes_on(sound, heard)
        assert np.abs(heard.samples(since)).max() == pytest.approx(0.15, abs=0.02)
        assert max(block.level for block in heard.blocks) > 0.5


def test_without_a_microphone_it_says_so_and_works_when_there_is_one(sound: SoundStage) -> None:
    sound.unplug("microphone")
    microphone = Microphone("", lambda block: None, lambda trouble: None)
    with pytest.raises(VoiceError) as error:
        microphone.open()
    assert error.value.code == "microphone_missing"
    sound.plug("microphone")
    microphone.open()
    microphone.close()


def test_a_chosen_microphone_that_is_not_there_is_not_replaced(sound: SoundStage) -> None:
    with pytest.raises(VoiceError) as error:
        Microphone("pulse:headset", lambda block: None, lambda trouble: None).open()
    assert (error.value.code, error.value.fields) == ("microphone_unplugged", {"name": "headset"})


def test_pulling_it_out_is_told_once_within_a_second_and_plugging_in_helps(sound: SoundStage) -> None:
    with listening(sound) as (microphone, heard):
        sound.unplug("microphone")
        trouble, seconds = told(sound, heard)
        assert trouble == "microphone_gone(name=Desk Microphone)"
        assert seconds < 1
        assert microphone.device is None
        sound.plug("microphone")
        microphone.open()
        goes_on(sound, heard)
        assert heard.troubles == []


def test_the_systems_own_is_followed(sound: SoundStage) -> None:
    sound.add("second", "Second", "microphone")
    with listening(sound) as (microphone, heard):
        sound.unplug("microphone")
        trouble, _ = told(sound, heard)
        assert trouble == "microphone_replaced(name=Desk Microphone, other=Second)"
        since = len(heard.blocks)
        sound.say(tone(0.3, 48_000), 48_000, into="second_sink")
        goes_on(sound, heard)
        assert len(sounding(heard.samples(since))) > 0.2 * RATE
        sound.plug("microphone")
        until(sound, lambda: microphone.device is not None and microphone.device.id == "pulse:microphone")
        goes_on(sound, heard)
        assert heard.troubles == []


def test_a_chosen_one_stays_when_the_systems_own_changes(sound: SoundStage) -> None:
    sound.add("second", "Second", "microphone")
    with listening(sound, "pulse:microphone") as (microphone, heard):
        sound.pactl("set-default-source", "second")
        until(sound, lambda: microphone.device is not None and not microphone.device.default)
        goes_on(sound, heard)
        since = len(heard.blocks)
        sound.say(tone(0.3, 48_000), 48_000)
        goes_on(sound, heard)
        assert len(sounding(heard.samples(since))) > 0.2 * RATE
        assert heard.troubles == []


def test_being_muted_is_said(sound: SoundStage) -> None:
    with listening(sound) as (_, heard):
        sound.pactl("set-source-mute", "microphone", "1")
        assert told(sound, heard)[0] == "microphone_muted(name=Desk Microphone)"
        sound.pactl("set-source-mute", "microphone", "0")
        goes_on(sound, heard)
    sound.pactl("set-source-mute", "microphone", "1")
    with listening(sound) as (_, heard):
        assert told(sound, heard)[0] == "microphone_muted(name=Desk Microphone)"


def test_one_that_stands_still_is_given_up(sound: SoundStage) -> None:
    with listening(sound) as (microphone, heard):
        sound.pactl("suspend-source", "microphone", "1")
        assert told(sound, heard)[0] == "microphone_gone(name=Desk Microphone)"
        assert microphone.device is None


def test_a_sound_server_that_dies_is_one_trouble(sound: SoundStage) -> None:
    with listening(sound) as (microphone, heard):
        sound.crash()
        assert told(sound, heard)[0] == "microphone_gone(name=Desk Microphone)"
        assert microphone.device is None


def test_a_sound_server_that_hangs_is_one_trouble_and_nothing_hangs_with_it(
    sound: SoundStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("voice.pulse.PATIENCE", 0.2)
    with listening(sound) as (microphone, heard), sound.hanging():
        assert told(sound, heard)[0] == "microphone_gone(name=Desk Microphone)"
        microphone.close()


def test_what_nobody_takes_is_counted_and_then_it_goes_on(
    sound: SoundStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("voice.microphone._HELD", 0.25)
    held, blocks = threading.Event(), list[Block]()

    def slowly(block: Block) -> None:
        blocks.append(block)
        held.wait(10)

    microphone = Microphone("", slowly, lambda trouble: None)
    microphone.open()
    sound.wait(lambda: microphone.overruns > 0, "an overrun")
    held.set()
    lost = microphone.overruns
    before = len(blocks)
    sound.wait(lambda: len(blocks) > before + 30, "more blocks")
    microphone.close()
    assert microphone.overruns >= lost
    assert np.all(np.diff([block.time for block in blocks]) > 0)


def test_closing_twice_and_before_opening_does_nothing() -> None:
    microphone = Microphone("", lambda block: None, lambda trouble: None)
    microphone.close()
    microphone.close()
    assert microphone.device is None
