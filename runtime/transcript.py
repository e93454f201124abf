"""The fold of a session's records into what the loop goes on from."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from runtime.exchange import Exchange
from runtime.journal import Record
from runtime.messages import Message, ToolCall
from runtime.stimulus import Stimulus


class Transcript:
    """State of a conversation, kept up to date record by record.

    `queued` are messages that were accepted and have not entered yet. `turn` is the id of the user record
    whose turn has not ended, `iterations` its model calls. `told` are the notices that were given. `tainted`
    once there is text from outside in it, also where a model no longer sees it. What a model sees is folded
    when it is first looked at, so that a long conversation opens without it.
    """

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.queued: dict[str, Stimulus] = {}
        self.turn: str = ""
        self.iterations = 0
        self.settings: dict[str, str] = {}
        self.told: set[str] = set()
        self.tainted = False
        self._exchange = Exchange()
        self._unread: deque[Record] = deque()
        for record in records:
            self.apply(record)

    def apply(self, record: Record) -> None:
        """Take one more record into account."""
        self._unread.append(record)
        self.tainted = self.tainted or is_foreign(record)
        match record.type:
            case "user":
                self.queued.pop(str(record.data.get("queued", "")), None)
                if not self.turn:
                    self.turn, self.iterations = record.id, 0
            case "assistant":
                self.iterations += 1
            case "done":
                self.turn = ""
            case "queued":
                self.queued[record.id] = Stimulus.from_data(record.data)
            case "mode":
                self.settings |= {key: str(value) for key, value in record.data.items()}
            case "notice":
                self.told.add(record.data["key"])

    @property
    def exchange(self) -> Exchange:
        """What a model sees, with every record in it."""
        while self._unread:
            self._exchange.apply(self._unread[0])
            self._unread.popleft()
        return self._exchange

    @property
    def messages(self) -> list[Message]:
        """See Exchange, as for all that follows."""
        return self.exchange.messages

    @property
    def open_calls(self) -> dict[str, ToolCall]:
        return self.exchange.open_calls

    @property
    def started(self) -> set[str]:
        return self.exchange.started

    @property
    def asked(self) -> dict[str, dict[str, Any]]:
        return self.exchange.asked

    @property
    def decided(self) -> dict[str, dict[str, Any]]:
        return self.exchange.decided

    @property
    def replies(self) -> int:
        return self.exchange.replies

    @property
    def summary(self) -> str:
        return self.exchange.summary

    @property
    def left_out(self) -> list[str]:
        return self.exchange.left_out

    @property
    def recalled(self) -> str:
        return self.exchange.recalled

    def places(self) -> list[tuple[str, int]]:
        """The record and the place in `messages` of each message at which a cut may be made, in order."""
        return list(self.exchange.places.items())

    def size(self) -> int:
        """Characters of all messages together."""
        return sum(len(message.text) for message in self.messages)


def is_foreign(record: Record) -> bool:
    """Whether a record brings text from outside: the result of a tool that says so or says nothing of it,
    pictures of the agent's computer, and what came from a file that was imported."""
    if record.type == "tool_result":
        return bool(record.data.get("foreign", True))
    return bool(record.data.get("foreign", False) or (record.type == "note" and record.data.get("images")))
