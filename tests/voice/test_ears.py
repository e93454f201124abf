"""The ears open the microphone when it is needed, lose no syllable, and report every utterance once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from voice.coupling import QUIET_BLOCKS
from voice.ears import ONSET_ROLL, PREROLL, Ears, Report
from voice.errors import VoiceError
from voice.events import Final, Level, VoiceEvent
from voice.hearing import Hearing
from voice.onset import Change
from voice.sound import BLOCK, RATE, Block

Samples = NDArray[np.float32]

SOUND: Samples = np.sin(np.arange(BLOCK) / 3).astype(np.float32) / np.float32(2)


@dataclass(frozen=True)
class Heard:
    text: str
    language: str = "en"


@dataclass
class Words:
    """Understands every block as its number."""

    numbers: list[float] = field(default_factory=list)
    fault: bool = False
    abandoned: bool = False
    go_on: threading.Event = field(default_factory=threading.Event)

    def feed(self, block: Block) -> None:
        self.numbers.append(round(float(block.samples[0]) * 1000))

    def finish(self) -> Heard:
        self.go_on.wait(5)
        if self.fault:
            raise VoiceError("recogniser_unusable", path="", reason="")
        return Heard(f"{len(self.numbers)} blocks")

    def abandon(self) -> None:
        self.abandoned = True
        self.go_on.set()


class Microphone:
    """A microphone that hears what the test lets it hear."""

    def __init__(self, heard: Callable[[Block], None]) -> None:
        self.heard = heard
        self.opened = self.closed = 0
        self.missing = False

    def open(self) -> None:
        if self.missing:
            raise VoiceError("microphone_missing", name="")
        self.opened += 1

    def close(self) -> None:
        self.closed += 1


class Detector:
    """Takes for speech what the test says."""

    speech = 0.0

    def probability(self, samples: Samples) -> float:
        assert len(samples) == 512
        return self.speech

    def reset(self) -> None:
        return


class Canceller:
    """Takes everything out."""

    def __init__(self) -> None:
        self.fars = self.nears = 0

    def far(self, samples: Samples, moment: float) -> None:
        del samples, moment
        self.fars += 1

    def near(self, samples: Samples, moment: float) -> Samples:
        del moment
        self.nears += 1
        return np.zeros_like(samples)


class House:
    """Ears with everything around them."""

    def __init__(self) -> None:
        self.events: list[VoiceEvent] = []
        self.finals: list[tuple[Final, bool]] = []
        self.changes: list[Change] = []
        self.faults: list[VoiceError] = []
        self.openings = 0
        self.microphones: list[Microphone] = []
        self.missing = False
        self.words: list[Words] = []
        self.hearing = Hearing(lambda final, thrown: self.finals.append((final, thrown)), self.faults.append)
        report = Report(self.events.append, self.changes.append, self._fault, self._opened)
        self.ears = Ears(self.make, self.hearing, report)
        self.count = 0
        self.clock = time.monotonic()

    def make(self, heard: Callable[[Block], None], trouble: Callable[[VoiceError], None]) -> Microphone:
        del trouble
        self.microphones.append(Microphone(heard))
        self.microphones[-1].missing = self.missing
        return self.microphones[-1]

    def _fault(self, error: VoiceError, lost: bool) -> None:
        assert lost
        self.faults.append(error)

    def _opened(self) -> None:
        self.openings += 1

    def wait(self, ready: Callable[[], bool]) -> None:
        deadline, pause = time.monotonic() + 5, threading.Event()
        while not ready():
            assert time.monotonic() < deadline
            pause.wait(0.001)

    def listen(self, *, by_key: bool = True) -> Words:
        """Listen, with the microphone open when it returns."""
        made = Words()
        made.go_on.set()
        self.ears.listen(lambda: made, by_key=by_key)
        self.wait(lambda: self.ears.is_open or bool(self.faults))
        return made

    def speak(self, blocks: int, *, late: float = 0.0, level: float = 0.5) -> None:
        """Let the microphone hear so many blocks, numbered from 1, captured `late` seconds from now."""
        for _ in range(blocks):
            self.count += 1
            samples = SOUND.copy()
            samples[0] = self.count / 1000
            self.microphones[-1].heard(Block(samples, time.monotonic() + late, level))


@pytest.fixture
def house() -> Iterator[House]:
    made = House()
    yield made
    made.ears.close()
    made.hearing.close()
    assert all(microphone.closed == microphone.opened for microphone in made.microphones)


def test_the_microphone_is_opened_by_the_first_press_and_stays_open(house: House) -> None:
    assert not house.ears.is_open
    house.listen()
    assert (len(house.microphones), house.openings) == (1, 1)
    house.hearing.finish()
    house.ears.tick()
    house.listen()
    assert len(house.microphones) == 1


def test_it_is_closed_when_nobody_has_used_it_for_long(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.listen()
    monkeypatch.setattr("voice.ears.IDLE", -1.0)
    house.ears.tick()
    house.hearing.finish()
    house.wait(lambda: bool(house.finals))
    assert house.ears.is_open
    house.ears.tick()
    house.wait(lambda: not house.ears.is_open)
    assert (house.microphones[0].closed, house.openings) == (1, 2)


def test_what_was_said_just_before_the_press_belongs_to_it(house: House) -> None:
    house.listen()
    house.hearing.finish()
    house.speak(40)
    words = house.listen()
    house.speak(5)
    assert words.numbers == [*range(41 - PREROLL, 46)]


def test_what_was_captured_before_the_release_belongs_to_it_though_it_comes_later(house: House) -> None:
    words = house.listen()
    house.speak(3)
    house.hearing.finish()
    house.speak(2, late=-0.05)
    house.speak(2, late=0.05)
    house.wait(lambda: bool(house.finals))
    assert words.numbers == [1, 2, 3, 4, 5]
    assert house.finals == [(Final("5 blocks", "en", 0.1), False)]


def test_a_release_without_any_sound_is_not_waited_for_long(house: House) -> None:
    house.listen()
    house.hearing.finish()
    house.wait(lambda: bool(house.finals))
    assert house.finals == [(Final("0 blocks", "en", 0.0), False)]


def test_a_microphone_that_is_gone_is_not_waited_for(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voice.hearing.TAIL", 60.0)
    house.listen()
    house.speak(2)
    house.hearing.finish()
    house.ears.lose()
    house.wait(lambda: len(house.finals) == 1)
    house.listen()
    house.speak(1)
    house.ears.lose()
    house.wait(lambda: not house.ears.is_open)
    house.hearing.finish()
    house.wait(lambda: len(house.finals) == 2)
    assert [final.text for final, _ in house.finals] == ["2 blocks", "1 blocks"]


def test_utterances_are_told_in_order_also_when_the_second_ends_first(house: House) -> None:
    first = house.listen()
    first.go_on.clear()
    house.speak(2)
    house.hearing.finish()
    house.listen()
    house.speak(1)
    house.hearing.finish()
    first.go_on.set()
    house.wait(lambda: len(house.finals) == 2)
    assert [final.text for final, _ in house.finals] == ["2 blocks", "3 blocks"]


def test_the_open_utterance_is_thrown_away_before_those_being_understood(house: House) -> None:
    first = house.listen()
    first.go_on.clear()
    house.hearing.finish()
    second = house.listen()
    house.hearing.abandon()
    assert (first.abandoned, second.abandoned) == (False, True)
    assert house.finals == [(Final(""), True)]
    house.hearing.abandon()
    assert first.abandoned
    assert house.finals == [(Final(""), True)] * 2
    house.hearing.abandon()
    assert len(house.finals) == 2


def test_an_utterance_that_cannot_be_understood_is_empty_and_told(house: House) -> None:
    house.listen().fault = True
    house.hearing.finish()
    house.wait(lambda: bool(house.finals))
    assert (house.finals[0][0].text, [fault.code for fault in house.faults]) == ("", ["recogniser_unusable"])


def test_without_a_microphone_there_is_one_fault_and_an_empty_utterance(house: House) -> None:
    house.missing = True
    house.listen()
    house.hearing.finish()
    house.wait(lambda: bool(house.finals))
    assert [fault.code for fault in house.faults] == ["microphone_missing"]
    assert house.openings == 0
    house.missing = False
    house.faults.clear()
    house.listen()
    assert house.ears.is_open


def test_the_level_is_told_at_most_thirty_times_a_second(house: House) -> None:
    house.listen()
    house.speak(50)
    levels = [event for event in house.events if isinstance(event, Level)]
    assert 20 <= len(levels) <= 30
    assert levels[0] == Level(0.5)


def test_hands_free_it_is_open_and_tells_when_somebody_speaks(house: House) -> None:
    house.ears.detector = Detector()
    house.ears.set_hands_free(True)
    house.wait(lambda: house.ears.is_open)
    house.speak(40)
    assert house.changes == []
    house.ears.detector.speech = 0.9
    house.speak(12)
    assert house.changes == ["onset"]
    house.speak(100)
    words = house.listen(by_key=False)
    onset = 40 + 8
    assert words.numbers[-1] == 152
    assert onset - ONSET_ROLL <= words.numbers[0] <= onset - ONSET_ROLL + 2
    house.ears.detector.speech = 0.0
    house.speak(50)
    assert house.changes == ["onset", "end"]


def test_it_closes_at_once_when_it_is_told_to_listen_no_more(house: House) -> None:
    house.ears.set_hands_free(True)
    house.wait(lambda: house.ears.is_open)
    house.ears.set_hands_free(False)
    house.wait(lambda: not house.ears.is_open)
    assert house.microphones[0].closed == 1


def test_it_stays_open_for_the_key_when_it_is_told_to_listen_no_more(house: House) -> None:
    house.listen()
    house.ears.set_hands_free(True)
    house.ears.set_hands_free(False)
    house.ears.set_source(house.make)
    house.wait(lambda: len(house.microphones) == 2)
    assert house.microphones[0].closed == 1
    assert house.ears.is_open


def test_while_the_key_is_held_it_alone_decides(house: House) -> None:
    house.ears.detector = Detector()
    house.ears.set_hands_free(True)
    house.wait(lambda: house.ears.is_open)
    house.ears.detector.speech = 0.9
    house.listen()
    house.speak(100)
    assert house.changes == []
    assert house.ears.spoke > 0


def test_the_key_takes_over_what_the_voice_began(house: House) -> None:
    house.listen(by_key=False)
    house.ears.listen(lambda: None, by_key=True)
    assert house.hearing.by_key
    house.speak(3)
    house.hearing.finish()
    house.wait(lambda: bool(house.finals))
    assert house.finals == [(Final("3 blocks", "en", 0.06, hands_free=False, overheard=True), False)]


def test_only_what_is_heard_over_the_loudspeaker_is_cleaned(house: House) -> None:
    house.ears.canceller = canceller = Canceller()
    words = house.listen()
    house.speak(2)
    house.ears.far(np.zeros(160, np.float32), time.monotonic())
    house.speak(1)
    house.ears.far(np.ones(160, np.float32), time.monotonic())
    house.speak(2)
    assert words.numbers == [1, 2, 3, 0, 0]
    house.speak(1, late=10.0)
    assert words.numbers == [1, 2, 3, 0, 0, 6]
    assert (canceller.fars, canceller.nears) == (2, 6)


def test_a_microphone_that_does_not_hear_the_loudspeaker_is_left_as_it_is(house: House) -> None:
    house.ears.canceller = Canceller()
    words = house.listen()
    house.ears.far(np.full(5 * RATE, 0.5, np.float32), time.monotonic())
    house.speak(QUIET_BLOCKS + 1, level=0.1)
    house.speak(2)
    assert words.numbers == [0] * (QUIET_BLOCKS - 1) + [*range(QUIET_BLOCKS, QUIET_BLOCKS + 4)]
    house.ears.moved()
    house.speak(1)
    assert words.numbers[-1] == 0


def test_a_loudspeaker_that_is_heard_all_of_a_sudden_is_taken_for_a_speaker_once(house: House) -> None:
    house.ears.canceller = Canceller()
    detector = house.ears.detector = Detector()
    house.ears.set_hands_free(True)
    house.wait(lambda: house.ears.is_open)
    house.ears.far(np.full(60 * RATE, 0.5, np.float32), time.monotonic() - 1.0)
    house.speak(QUIET_BLOCKS + 1, level=0.1)
    detector.speech = 0.9
    house.speak(20)
    assert house.changes == ["onset"]
    house.ears.rest()
    house.speak(200)
    assert house.changes == ["onset"]


def test_another_microphone_is_opened_in_place_of_the_old_one(house: House) -> None:
    house.listen()
    house.ears.set_source(house.make)
    house.wait(lambda: len(house.microphones) == 2 and house.ears.is_open)
    assert house.microphones[0].closed == 1


def test_a_change_of_microphone_opens_none_that_is_not_needed(house: House) -> None:
    house.ears.set_source(house.make)
    house.ears.close()
    assert house.microphones == []
