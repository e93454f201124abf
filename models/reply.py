"""A reply on its way out: token bytes become frames of whole characters, reasoning and calls apart."""

from __future__ import annotations

import codecs
import time
from collections.abc import Callable
from typing import assert_never

from models.frames import Frame
from models.reasoning import ReasoningSplitter
from models.speech import Prompt
from models.toolformat.items import CallArguments, CallFinished, CallStarted, Item, Text

PACE = 1 / 30
"""Seconds between two frames of text; the first token goes out at once."""

MOST_CALLS = 64
"""Calls of one reply beyond this many are handed on as faults."""


class Reply:
    """Fed one token's bytes at a time by the thread that decodes. `send` takes frames without an id;
    `constrain` is Engine.constrain, or None where calls are only parsed."""

    def __init__(
        self, send: Callable[[Frame], None], prompt: Prompt, constrain: Callable[[str], bool] | None
    ) -> None:
        self._send = send
        self._constrain = constrain
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._parser = prompt.parser()
        self._splitter = ReasoningSplitter("" if self._parser else prompt.opening)
        self._trigger = prompt.trigger() if constrain else None
        self._pending: list[str] = []
        self._due = 0.0
        self._name = ""
        self.calls = 0
        self.tokens = 0

    def add(self, piece: bytes) -> None:
        """The bytes of the next token."""
        self.tokens += 1
        text = self._decoder.decode(piece)
        self._pending.append(text)
        if self._trigger is not None and (grammar := self._trigger.feed(text)):
            self._trigger = None
            if self._constrain is not None:
                self._constrain(grammar)
        now = time.monotonic()
        if now >= self._due:
            self._due = now + PACE
            self._flush(final=False)

    def finish(self) -> None:
        """The reply is whole."""
        self._pending.append(self._decoder.decode(b"", True))
        self._flush(final=True)

    def _flush(self, *, final: bool) -> None:
        text = "".join(self._pending)
        self._pending.clear()
        if self._parser is not None:
            items = self._parser.feed(text)
            for item in items + (self._parser.finish() if final else []):
                self._tell(item)
            return
        spans = self._splitter.feed(text)
        if final:
            spans += self._splitter.finish()
        for kind, span in spans:
            self._send({"t": kind, "text": span, "tokens": self.tokens})

    def _tell(self, item: Item) -> None:
        match item:
            case Text("content", text):
                self._send({"t": "text", "text": text, "tokens": self.tokens})
            case Text(_, text):
                self._send({"t": "reasoning", "text": text, "tokens": self.tokens})
            case CallStarted(_, name):
                self._name = name
                self._send({"t": "writing", "name": name})
            case CallArguments():
                self._send({"t": "writing", "name": self._name})
            case CallFinished(_, call):
                self.calls += 1
                fault = call.fault if self.calls <= MOST_CALLS else "too_many"
                said = {"name": call.name, "arguments": call.arguments, "id": call.id, "fault": fault}
                self._send({"t": "call", "call": said})
            case _:
                assert_never(item)
