"""The private sound server itself: alone, exact, and gone afterwards."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import psutil
import pytest

from tests.sound_stage import RATE, SoundStage, StageError
from tests.voice.tone import Samples, sounding, strangeness, tone


def click() -> Samples:
    made = np.zeros(RATE // 10, np.float32)
    made[:200] = 0.5
    return made


def test_nothing_of_it_is_left(tmp_path: Path) -> None:
    before, others = dict(os.environ), psutil.Process().children(recursive=True)
    with SoundStage(tmp_path) as stage, stage.record("microphone") as record:
        stage.say(tone(5, 16_000), wait=False)
        record.wait_for_sound()
        children = [one for one in psutil.Process().children(recursive=True) if one not in others]
        assert {child.name() for child in children} >= {"pulseaudio", "parec", "pacat"}
    assert psutil.wait_procs(children, timeout=10)[1] == []
    assert dict(os.environ) == before


def test_what_is_said_reaches_the_microphone_whole(sound: SoundStage) -> None:
    with sound.record("microphone") as record:
        strange = []
        for _ in range(4):
            since = len(record.samples)
            sound.say(tone(0.5, 16_000))
            record.wait_for_silence(0.1)
            heard = sounding(record.samples[since:])
            assert len(heard) / RATE == pytest.approx(0.5, abs=0.1)
            strange.append(strangeness(heard[2400:-2400], RATE))
        assert min(strange) < 0.01


def test_the_microphone_hears_the_loudspeaker_only_through_the_loopback(sound: SoundStage) -> None:
    with sound.record() as speaker, sound.record("microphone") as microphone:
        sound.say(click(), RATE, into="speaker")
        speaker.wait_for_silence(0.2)
        assert not len(sounding(microphone.samples))
        delays, since = [], len(microphone.samples)
        with sound.loopback(gain_db=-6, delay_ms=80):
            for _ in range(4):
                begins = len(speaker.samples), len(microphone.samples)
                sound.say(click(), RATE, into="speaker")
                played = speaker.arrival(speaker.wait_for_sound(0.1, begins[0]))
                delays.append(microphone.arrival(microphone.wait_for_sound(0.1, begins[1])) - played)
                microphone.wait_for_silence(0.1)
        assert min(abs(delay - 0.08) for delay in delays) < 0.02
        assert np.abs(microphone.samples[since:]).max() == pytest.approx(0.25, abs=0.05)


def test_a_stage_that_cannot_be_made_says_why(sound: SoundStage) -> None:
    with pytest.raises(StageError, match="nonsense"):
        sound.pactl("load-module", "nonsense")
    with pytest.raises(StageError, match="in vain for a miracle"):
        sound.wait(lambda: False, "a miracle", 0.01)
