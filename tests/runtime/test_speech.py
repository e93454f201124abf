"""Whatever is said, silenced and interrupted in whatever order, what was heard is told of the right reply."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from runtime.conversation_events import ConversationEvent
from runtime.ledger import Ledger
from runtime.session import Session
from runtime.speech import Speech
from runtime.voice_entries import VoiceEntries
from voice.client import VoiceClient
from voice.events import Spoken
from voice.frames import Frame


class Mouth(VoiceClient):
    """A client whose child is a few lines: answers in their order, cut when silenced (see voice/mouth.py)."""

    def __init__(self) -> None:
        super().__init__(("nothing",), lambda event: None)
        self.answers: dict[int, str] = {}
        self.ended: set[int] = set()
        self.muted = 0
        self.told: list[Spoken | None] = []

    @property
    def pid(self) -> int:
        return 1

    def _send(self, frame: Frame) -> None:
        number = frame.get("answer", 0)
        match frame:
            case {"t": "say", "text": text} if number > self.muted:
                self.answers[number] = self.answers.get(number, "") + text
            case {"t": "answer", "do": "end"} if number > self.muted:
                self.answers.setdefault(number, "")
                self.ended.add(number)
            case {"t": "answer", "do": "expect"}:
                self.ended |= {known for known in self.answers if known < number}
            case {"t": "key", "do": "hush"}:
                self.silence(0, number)
            case _:
                pass

    def silence(self, heard: int, number: int = 0) -> None:
        """Silenced after `heard` characters of the oldest answer; None stands for the state that tells it."""
        self.told += [] if number else [None]
        self.muted = max([self.muted, number, *self.answers])
        for text in [self.answers.pop(known) for known in sorted(self.answers)]:
            self.told.append(Spoken(text[:heard], whole=False))
            heard = 0

    def play(self) -> None:
        """Everything that ended is heard to its end."""
        while self.answers and (first := min(self.answers)) in self.ended:
            self.told.append(Spoken(self.answers.pop(first), whole=True))


class Chat:
    """Stands for a session: keeps what is stored."""

    closed = False

    def __init__(self) -> None:
        self.replies: dict[str, str] = {}
        self.heard_of: dict[str, tuple[str, bool]] = {}

    def heard(self, answer: str, text: str, *, whole: bool) -> None:
        assert self.replies[answer].startswith(text)
        assert not whole or text == self.replies[answer]
        self.heard_of[answer] = (text, whole)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("turn"), st.lists(st.sampled_from(["One. ", "Two two. ", "x"]), max_size=4)),
        st.tuples(st.just("reply"), st.lists(st.sampled_from(["Three. ", "Four four. "]), max_size=3)),
        st.tuples(st.just("interrupt"), st.integers(0, 30)),
        st.tuples(st.sampled_from(["end", "play", "hush", "keep", "resume", "status", "aside", "deliver"])),
    ),
    max_size=25,
)


@given(STEPS)
def test_accounts_are_right_in_every_order(tmp_path_factory: Any, steps: list[tuple[Any, ...]]) -> None:
    folder: Path = tmp_path_factory.getbasetemp()
    events: list[ConversationEvent] = []
    mouth, chat = Mouth(), Chat()
    speech = Speech(mouth, events.append, VoiceEntries(Ledger(folder), lambda error: None))
    speech.attach(cast("Session", chat))

    def deliver() -> None:
        while mouth.told:
            if (spoken := mouth.told.pop(0)) is None:
                speech.mute()
            else:
                speech.on_spoken(spoken)

    def reply(pieces: list[str]) -> None:
        record = f"r{len(chat.replies)}"
        chat.replies[record] = "".join(pieces)
        for piece in pieces:
            speech.say(piece)
        speech.named(record)

    for step in steps:
        match step:
            case ("turn", pieces):
                speech.forget()
                speech.begin()
                reply(pieces)
            case ("reply", pieces):
                reply(pieces)
            case ("interrupt", heard):
                if mouth.answers:
                    mouth.silence(heard)
            case ("end",):
                speech.end()
            case ("play",):
                mouth.play()
            case ("hush",):
                speech.hush(keep=False)
            case ("keep",):
                speech.hush()
            case ("resume",):
                deliver()
                speech.resume(more=False)
            case ("status",):
                deliver()
                speech.resume("Busy.", more=True)
            case ("aside",):
                speech.aside("A word.")
            case _:
                deliver()
    speech.end()
    mouth.play()
    deliver()
    assert not speech.speaking
