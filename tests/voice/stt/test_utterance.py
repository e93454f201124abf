"""Words appear while they are spoken, little is left to do at the end, and nothing waits for nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from tests.voice.stt.sayings import blocks, say, silence
from voice.errors import VoiceError
from voice.events import Partial
from voice.stt.reading import Reading, Wish
from voice.stt.recogniser import Recogniser
from voice.stt.silence import Activity
from voice.stt.utterance import Utterance

TEXT = "Please open the report and tell me what changed since last week."
OTHER = "Rename every picture in the folder by the day it was taken."


class Watched:
    """The recogniser, with every reading counted and one that can be held up."""

    def __init__(self, recogniser: Recogniser) -> None:
        self._recogniser = recogniser
        self.cost = 0.0
        self.readings: list[tuple[bool, float]] = []
        self.changed = threading.Condition()
        self.go = threading.Event()
        self.go.set()

    def load(self) -> None:
        self._recogniser.load()

    def activity(self) -> Activity:
        return self._recogniser.activity()

    def decode(self, tokens: Sequence[int]) -> str:
        return self._recogniser.decode(tokens)

    def read(
        self,
        samples: np.ndarray[tuple[int, ...], np.dtype[np.float32]],
        wish: Wish,
        hints: Sequence[str],
        speech: float,
        stop: Callable[[], bool] = lambda: False,
    ) -> Reading | None:
        self.go.wait(20)
        found = self._recogniser.read(samples, wish, hints, speech, stop)
        with self.changed:
            self.readings.append((wish.quick, len(samples) / 16000))
            self.changed.notify_all()
        return found

    def wait_for(self, quick: bool, number: int = 1) -> None:
        """Until so many readings of a kind were made."""
        with self.changed:
            assert self.changed.wait_for(lambda: sum(one == quick for one, _ in self.readings) >= number, 20)


@pytest.fixture
def watched(recogniser: Recogniser) -> Watched:
    return Watched(recogniser)


def fed(utterance: Utterance, samples: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> None:
    for block in blocks(samples):
        utterance.feed(block)


def test_what_was_said_is_heard(recogniser: Recogniser) -> None:
    utterance = Utterance(recogniser)
    fed(utterance, say(TEXT))
    heard = utterance.finish()
    assert (heard.text, heard.language) == (TEXT, "en")
    (segment,) = heard.segments
    assert 0.0 <= segment.start < segment.end <= 5.0


def test_words_appear_while_somebody_speaks(watched: Watched) -> None:
    told: list[Partial] = []
    utterance = Utterance(watched, on_partial=told.append)
    samples = say(TEXT)
    for number, part in enumerate(np.array_split(samples, 4)[:3], 1):
        fed(utterance, part)
        watched.wait_for(quick=True, number=number)
    fed(utterance, np.array_split(samples, 4)[3])
    assert utterance.finish().text == TEXT
    assert len(told) >= 2
    assert told[0].stable == 0
    assert TEXT.startswith(told[-1].text[:11])
    assert all(0 <= partial.stable <= len(partial.text) for partial in told)
    assert any(partial.stable > 0 for partial in told)


def test_a_reading_made_ahead_is_the_final_one(watched: Watched) -> None:
    utterance = Utterance(watched)
    fed(utterance, np.concatenate((say(TEXT), silence(0.3))))
    watched.wait_for(quick=False)
    made = len(watched.readings)
    fed(utterance, silence(0.2))
    assert utterance.finish().text == TEXT
    assert len(watched.readings) == made


def test_words_after_a_reading_made_ahead_are_not_lost(watched: Watched) -> None:
    utterance = Utterance(watched)
    fed(utterance, say("Stop the music."))
    watched.wait_for(quick=False)
    fed(utterance, say("Read the next message aloud."))
    assert utterance.finish().text == "Stop the music. Read the next message aloud."


def test_a_long_utterance_is_kept_piece_by_piece(watched: Watched) -> None:
    utterance = Utterance(watched)
    for _ in range(3):
        fed(utterance, np.concatenate((say(TEXT), say(OTHER), say(TEXT), silence(0.5))))
    heard = utterance.finish()
    assert heard.text == " ".join([TEXT, OTHER, TEXT] * 3)
    assert len(heard.segments) >= 3
    assert max(seconds for _, seconds in watched.readings) < 26
    assert len(utterance._sound) < 800


def test_minutes_of_silence_are_not_kept(recogniser: Recogniser) -> None:
    utterance = Utterance(recogniser)
    for _ in range(10):
        fed(utterance, silence(30))
    fed(utterance, say("Stop the music."))
    heard = utterance.finish()
    assert heard.text == "Stop the music."
    assert heard.segments[0].start == pytest.approx(300, abs=1)
    assert len(utterance._sound) < 200


def test_silence_is_never_read(watched: Watched) -> None:
    utterance = Utterance(watched)
    fed(utterance, silence(20))
    assert utterance.finish().text == ""
    assert watched.readings == []


@pytest.mark.parametrize("count", [0, 1, 100, 320])
def test_next_to_nothing_is_nothing(recogniser: Recogniser, count: int) -> None:
    utterance = Utterance(recogniser)
    fed(utterance, np.full(count, np.nan, np.float32))
    assert utterance.finish().text == ""


def test_a_short_word_up_to_the_last_sample_is_heard(recogniser: Recogniser) -> None:
    utterance = Utterance(recogniser)
    samples = say("Stop.")
    fed(utterance, samples[: len(samples) - 5600])
    assert utterance.finish().text.strip(".!").lower() == "stop"


def test_a_constant_in_the_sound_changes_nothing(recogniser: Recogniser) -> None:
    utterance = Utterance(recogniser)
    fed(utterance, say(TEXT) + np.float32(0.3))
    assert utterance.finish().text == TEXT


def test_what_is_abandoned_is_not_heard(watched: Watched) -> None:
    told: list[Partial] = []
    utterance = Utterance(watched, on_partial=told.append)
    watched.go.clear()
    fed(utterance, say(TEXT))
    utterance.abandon()
    utterance.abandon()
    watched.go.set()
    assert utterance.finish().text == ""
    assert told == []


def test_feeding_does_not_wait_for_a_reading(watched: Watched) -> None:
    utterance = Utterance(watched)
    watched.go.clear()
    fed(utterance, say(TEXT))
    fed(utterance, silence(60))
    watched.go.set()
    assert utterance.finish().text == TEXT


def test_a_slow_recogniser_is_not_held_up_by_quick_readings(watched: Watched) -> None:
    watched.cost = 2.0
    utterance = Utterance(watched)
    fed(utterance, say(TEXT))
    assert utterance.finish().text == TEXT
    assert not any(quick for quick, _ in watched.readings)


def test_an_unusable_recogniser_is_told_at_the_end() -> None:
    utterance = Utterance(Recogniser("nowhere"))
    fed(utterance, silence(1))
    with pytest.raises(VoiceError, match="recogniser_unusable"):
        utterance.finish()


def test_two_utterances_do_not_mix(recogniser: Recogniser) -> None:
    first, second = Utterance(recogniser), Utterance(recogniser)
    for one, other in zip(blocks(say(TEXT)), blocks(say(OTHER)), strict=False):
        first.feed(one)
        second.feed(other)
    fed(second, silence(0.1))
    assert first.finish().text.startswith("Please open the report and tell me what")
    assert second.finish().text.startswith("Rename every picture in the folder")
