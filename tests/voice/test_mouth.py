"""The mouth says answers in order, keeps back what it may not say, and knows what was heard."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np
import pytest

from voice.answer import share_of
from voice.clauses import Clause
from voice.errors import VoiceError
from voice.events import Speaking, Spoken, VoiceEvent
from voice.mouth import AHEAD, Mouth
from voice.tts.voice import Sound

RATE = 1_000


class Tongue:
    """Makes a hundred samples of every word, in stretches of one word."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.go_on = threading.Event()
        self.go_on.set()
        self.warmed = self.closed = self.stops = 0

    def warm(self) -> None:
        self.warmed += 1

    def speak(self, clause: Clause) -> Iterator[Sound]:
        self.said.append(clause.spoken)
        for _word in clause.spoken.split():
            self.go_on.wait(5)
            if "unspeakable" not in clause.spoken:
                yield Sound(np.full(100, 0.5, np.float32), RATE)

    def stop(self) -> None:
        self.stops += 1

    def close(self) -> None:
        self.closed += 1


class Horn:
    """A loudspeaker that plays when the test says so."""

    def __init__(self, on_mark: Callable[[int, Literal["begun", "ended"]], None]) -> None:
        self.queue: list[list[float]] = []
        self.heard: dict[int, float] = {}
        self.ended: set[int] = set()
        self.broken = self.full = False
        self._on_mark = on_mark

    def play(self, samples: object, rate: int, mark: int) -> bool:
        if self.broken:
            raise VoiceError("loudspeaker_missing", name="")
        if not self.full:
            self.queue.append([mark, len(samples) / rate])  # type: ignore[arg-type]
        return not self.full

    def end(self, mark: int) -> None:
        self.ended.add(mark)
        if mark in self.heard and all(other[0] != mark for other in self.queue):
            self._on_mark(mark, "ended")

    def stop(self) -> list[tuple[int, float]]:
        self.queue.clear()
        heard, self.heard = self.heard, {}
        return [*heard.items()]

    def hear(self, seconds: float) -> None:
        """Play so much of the queue."""
        while self.queue and seconds > 1e-9:
            mark, left = int(self.queue[0][0]), self.queue[0][1]
            if mark not in self.heard:
                self._on_mark(mark, "begun")
            part = min(left, seconds)
            seconds -= part
            self.heard[mark] = self.heard.get(mark, 0.0) + part
            self.queue[0][1] -= part
            if self.queue[0][1] < 1e-9:
                self.queue.pop(0)
                if mark in self.ended and all(other[0] != mark for other in self.queue):
                    self._on_mark(mark, "ended")


class Stage:
    """A mouth with its tongue and horn, and what it told."""

    def __init__(self) -> None:
        self.events: list[VoiceEvent] = []
        self.moves: list[bool] = []
        self.faults: list[VoiceError] = []
        self.tongue = Tongue()
        self.mouth = Mouth(self.events.append, self.moves.append, self.faults.append)
        self.horn = Horn(self.mouth.on_mark)
        self.mouth.speak_with(self.tongue)
        self.mouth.play_on(self.horn)

    def wait(self, ready: Callable[[], bool]) -> None:
        deadline, pause = time.monotonic() + 5, threading.Event()
        while not ready():
            assert time.monotonic() < deadline, (self.events, self.tongue.said, self.horn.queue)
            pause.wait(0.002)

    def answer(self, text: str, number: int = 1, *, clauses: int | None = None) -> None:
        """Say a whole answer and wait until `clauses` of it are on the loudspeaker."""
        self.mouth.say(text, number)
        self.mouth.end(number)
        self.mouth.gate(True)
        if clauses is not None:
            self.wait(lambda: len(self.horn.ended) >= clauses)

    def hear_all(self, answers: int = 1) -> None:
        """Play until so many answers have been told as spoken."""

        def played() -> bool:
            self.horn.hear(60.0)
            return len(self.spoken) >= answers

        self.wait(played)

    @property
    def spoken(self) -> list[Spoken]:
        return [event for event in self.events if isinstance(event, Spoken)]

    @property
    def captions(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, Speaking)]


@pytest.fixture
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.mouth.close()
    assert made.tongue.closed == 1


ANSWER = (
    "This is the first sentence of it. Here is the second one, a bit longer. And this is the last of all."
)


def test_an_answer_is_heard_clause_by_clause_and_told(stage: Stage) -> None:
    stage.answer(ANSWER)
    stage.hear_all()
    assert stage.spoken == [Spoken(ANSWER, whole=True)]
    assert "".join(stage.captions) == ANSWER
    assert len(stage.captions) >= 3
    assert stage.events[-1] == stage.spoken[0]


def test_the_first_clause_is_made_before_the_answer_is_written(stage: Stage) -> None:
    stage.mouth.gate(True)
    stage.mouth.say("This is the first sentence of it. Here", 1)
    stage.wait(lambda: bool(stage.horn.ended))
    assert stage.tongue.said == ["This is the first sentence of it."]


def test_nothing_is_made_while_the_gate_is_closed(stage: Stage) -> None:
    stage.mouth.say(ANSWER, 1)
    stage.wait(lambda: stage.mouth.unheard and bool(stage.moves))
    assert (stage.tongue.said, stage.horn.queue) == ([], [])
    stage.mouth.gate(True)
    stage.wait(lambda: bool(stage.horn.queue))


def test_only_a_few_clauses_are_made_ahead(stage: Stage) -> None:
    stage.answer("One more sentence of many. " * 20, clauses=AHEAD + 1)
    stage.mouth.gate(True)
    stage.horn.hear(0.1)
    assert len(stage.tongue.said) == AHEAD + 1
    stage.horn.hear(60.0)
    stage.wait(lambda: len(stage.tongue.said) == 2 * (AHEAD + 1))


def test_silence_tells_the_clauses_and_the_words_that_were_heard(stage: Stage) -> None:
    stage.answer(ANSWER, clauses=2)
    stage.horn.hear(0.7 + 0.35)
    stage.mouth.silence(1)
    assert stage.spoken == [Spoken("This is the first sentence of it. Here is the", whole=False)]
    assert (stage.horn.queue, stage.mouth.unheard) == ([], False)


def test_what_was_not_begun_is_not_heard(stage: Stage) -> None:
    stage.answer(ANSWER, clauses=2)
    stage.mouth.silence(1)
    assert stage.spoken == [Spoken("", whole=False)]


def test_chunks_of_a_silenced_answer_are_dropped_and_the_next_is_said(stage: Stage) -> None:
    stage.mouth.gate(True)
    stage.mouth.say("This is the first sentence of it. And", 1)
    stage.wait(lambda: bool(stage.horn.ended))
    stage.mouth.silence(1)
    stage.mouth.say(" much more of it follows here.", 1)
    assert not stage.mouth.end(1)
    stage.answer("This is another answer altogether.", 2, clauses=2)
    stage.hear_all(2)
    assert [event.whole for event in stage.spoken] == [False, True]
    assert stage.tongue.said[1:] == ["This is another answer altogether."]


def test_silence_also_mutes_an_answer_that_is_still_on_its_way(stage: Stage) -> None:
    stage.mouth.silence(3)
    stage.mouth.say("Too late.", 3)
    assert not stage.mouth.unheard
    assert stage.spoken == []


def test_silence_in_the_middle_of_a_clause_that_is_being_made(stage: Stage) -> None:
    stage.tongue.go_on.clear()
    stage.answer(ANSWER)
    stage.wait(lambda: bool(stage.tongue.said))
    stage.mouth.silence(1)
    stage.tongue.go_on.set()
    stage.answer("The next one.", 2, clauses=1)
    stage.hear_all(2)
    assert stage.spoken == [Spoken("", whole=False), Spoken("The next one.", whole=True)]
    assert stage.tongue.stops > 0


def test_two_answers_are_said_in_order(stage: Stage) -> None:
    stage.mouth.say("The first one.", 1)
    stage.mouth.expect(2)
    stage.answer("The second one.", 2)
    stage.hear_all(2)
    assert stage.spoken == [Spoken("The first one.", whole=True), Spoken("The second one.", whole=True)]
    assert stage.captions == ["The first one.", "The second one."]


def test_what_is_not_read_aloud_is_passed_over_in_its_place(stage: Stage) -> None:
    text = "Look here.\n\n---\n\nThat was a line."
    stage.answer(text)
    stage.hear_all()
    assert stage.spoken == [Spoken(text, whole=True)]


def test_an_answer_without_words_is_over_at_once(stage: Stage) -> None:
    stage.mouth.end(1)
    stage.wait(lambda: bool(stage.spoken))
    assert stage.spoken == [Spoken("", whole=True)]
    assert stage.moves[-1]


def test_a_clause_that_no_voice_can_say_does_not_stop_the_answer(stage: Stage) -> None:
    text = "This here is an unspeakable thing. But this one can be said."
    stage.answer(text)
    stage.hear_all()
    assert stage.spoken == [Spoken(text, whole=True)]


def test_another_loudspeaker_begins_with_the_clause_that_was_cut(stage: Stage) -> None:
    stage.answer(ANSWER, clauses=2)
    stage.horn.hear(1.0)
    before, stage.horn = stage.horn, Horn(stage.mouth.on_mark)
    stage.mouth.play_on(stage.horn)
    stage.mouth.gate(True)
    assert before.queue == []
    stage.hear_all()
    assert stage.spoken == [Spoken(ANSWER, whole=True)]
    repeated = [text for text in stage.captions if stage.captions.count(text) == 2]
    assert len(repeated) == 2  # told again because it is heard again
    assert stage.faults == []


def test_what_the_old_loudspeaker_played_counts_where_the_new_one_fails(stage: Stage) -> None:
    stage.answer("Here is the one and only sentence.", clauses=1)
    stage.horn.hear(0.35)
    stage.horn = Horn(stage.mouth.on_mark)
    stage.horn.broken = True
    stage.mouth.play_on(stage.horn)
    stage.mouth.gate(True)
    stage.wait(lambda: bool(stage.faults))
    stage.mouth.silence(1)
    assert stage.spoken == [Spoken("Here is the", whole=False)]


def test_a_loudspeaker_that_fails_is_told_once_and_nothing_is_lost(stage: Stage) -> None:
    stage.horn.broken = True
    stage.answer(ANSWER)
    stage.wait(lambda: bool(stage.faults))
    assert len(stage.faults) == 1
    stage.horn = Horn(stage.mouth.on_mark)
    stage.mouth.play_on(stage.horn)
    stage.mouth.gate(True)
    stage.hear_all()
    assert stage.spoken == [Spoken(ANSWER, whole=True)]


def test_a_full_loudspeaker_is_waited_for(stage: Stage) -> None:
    stage.horn.full = True
    stage.answer("Here is a sentence.")
    stage.wait(lambda: bool(stage.tongue.said))
    stage.horn.full = False
    stage.hear_all()


def test_another_voice_takes_over_between_two_clauses() -> None:
    stage = Stage()
    stage.answer(ANSWER, clauses=1)
    first, stage.tongue = stage.tongue, Tongue()
    stage.mouth.speak_with(stage.tongue)
    stage.hear_all()
    stage.wait(lambda: bool(stage.spoken) and first.closed == 1)
    assert stage.tongue.warmed == 1
    stage.mouth.close()
    assert (stage.tongue.closed, stage.spoken) == (1, [Spoken(ANSWER, whole=True)])


@pytest.mark.parametrize(
    ("share", "heard"),
    [
        (0.0, ""),
        (0.24, ""),
        (0.25, "one"),
        (0.5, "one  two,"),
        (0.99, "one  two, three"),
        (1.0, "one  two, three four."),
    ],
)
def test_a_share_of_the_sound_is_that_share_of_the_words(share: float, heard: str) -> None:
    assert share_of("one  two, three four. ", share) == heard
