"""The approval that is being asked for by voice, and what an utterance means for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from runtime.conversation_events import Asking, ConversationEvent
from runtime.events import ApprovalRequired
from runtime.spoken_approval import TRIES, Reading, again, by_hand, given_up, reading, with_the_key
from runtime.spoken_words import phrases, words
from runtime.tools.tool import Tool

Outcome = Literal["approve", "deny", "again", "by hand", "none"]


@dataclass(slots=True)
class _Open:
    """The question that is open, and how many answers to it were not understood."""

    reading: Reading
    tries: int = 0


class Questions:
    """At most one question is open at a time. `say` says a sentence, `emit` tells the door."""

    def __init__(self, say: Callable[[str], None], emit: Callable[[ConversationEvent], None]) -> None:
        self._say = say
        self._emit = emit
        self._open: _Open | None = None

    @property
    def open(self) -> Reading | None:
        """The question that an utterance may answer."""
        return self._open.reading if self._open is not None else None

    def ask(self, asked: ApprovalRequired, tool: Tool | None) -> None:
        """Read a question aloud, or say that it needs the hand."""
        definition = tool.definition() if tool is not None else None
        about = ""
        if definition is not None:
            about = definition.path_argument or definition.host_argument or definition.command_argument
        made = reading(asked, about)
        self._open = _Open(made) if made is not None else None
        self._emit(Asking(asked.id, made.key_words if made is not None else "", by_hand=made is None))
        self._say(made.ask if made is not None else by_hand(asked))

    def repeat(self) -> None:
        """Read the open question once more."""
        if self._open is not None:
            self._say(self._open.reading.ask)

    def answer(self, said: str, language: str, pending: list[ApprovalRequired], *, by_key: bool) -> Outcome:
        """What `said` means while `pending` questions wait; "none" where no question is open. What is not
        understood is asked again, and left to the hand after TRIES times.

        Nothing is allowed without the key: a microphone that listens by itself hears everybody in the room,
        and the loudspeaker, so that a model could allow its own call by saying the key words.
        """
        if self._open is None:
            return "none"
        made = self._open.reading
        if not any(waiting.id == made.id and waiting.digest == made.digest for waiting in pending):
            self._open = None
            return "none"
        judged = made.judge(said, language)
        if judged == "deny" or (judged == "approve" and by_key):
            self._open = None
            return judged
        if judged == "approve":
            self._say(with_the_key())
            return "again"
        self._open.tries += 1
        if self._open.tries < TRIES:
            self._say(again())
            return "again"
        self._open = None
        self._emit(Asking(made.id, made.key_words, by_hand=True))
        self._say(given_up())
        return "by hand"

    def forget(self) -> None:
        """The question was answered elsewhere or withdrawn."""
        self._open = None


def remark(said: str) -> str:
    """What of a refusal the model should hear: nothing of a bare no."""
    return "" if words(said) in phrases("no", "en") else said.strip()
