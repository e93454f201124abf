"""A reply on its way out: token bytes become frames of whole characters, reasoning and calls apart."""

from __future__ import annotations

import codecs
import json
import time
from collections.abc import Callable, Mapping
from typing import assert_never

from models.frames import Frame
from models.reasoning import ReasoningSplitter
from models.speech import Prompt
from models.toolformat.grounds import Grounds
from models.toolformat.items import CallArguments, CallFinished, CallStarted, Item, Text, ToolCall

PACE = 1 / 30
"""Seconds between two frames of text; the first token goes out at once."""

MOST_CALLS = 64
"""Calls of one reply beyond this many are handed on as faults."""


CIRCLES = 2
"""Repeated calls after which a reply is taken to go round in a circle."""


class Reply:
    """Fed one token's bytes at a time by the thread that decodes. `send` takes frames without an id;
    `constrain` is Engine.constrain, or None where calls are only parsed.

    Where calls are constrained, one that repeats an earlier call of the reply is left out, and the reply is
    `over` when that happens again; one that does not follow from the conversation is left out as well
    (`unfounded` counts these), and optional arguments that do not.
    """

    def __init__(
        self,
        send: Callable[[Frame], None],
        prompt: Prompt,
        constrain: Callable[[str, Mapping[str, float]], bool] | None,
    ) -> None:
        self._send = send
        self._constrain = constrain
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._parser = prompt.parser()
        self._splitter = ReasoningSplitter("" if self._parser else prompt.opening)
        self._trigger = prompt.trigger(self._concerned) if constrain else None
        self._prompt = prompt
        self._grounds: Grounds | None = None
        self._made: set[tuple[str, str]] = set()
        self._repeated = 0
        self._pending: list[str] = []
        self._due = 0.0
        self._name = ""
        self.calls = 0
        self.unfounded = 0
        self.tokens = 0

    @property
    def over(self) -> bool:
        """Whether nothing but the same calls again is to be expected."""
        return self._repeated >= CIRCLES

    def add(self, piece: bytes) -> None:
        """The bytes of the next token."""
        self.tokens += 1
        text = self._decoder.decode(piece)
        self._pending.append(text)
        if self._trigger is not None and (grammar := self._trigger.feed(text)):
            if self._constrain is not None:
                self._constrain(grammar, self._trigger.weights)
            self._trigger = None
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
                arguments = self._settled(call)
                if arguments is not None:
                    self.calls += 1
                    fault = call.fault if self.calls <= MOST_CALLS else "too_many"
                    said = {"name": call.name, "arguments": arguments, "id": call.id, "fault": fault}
                    self._send({"t": "call", "call": said})
            case _:
                assert_never(item)

    def _judge(self) -> Grounds | None:
        self._grounds = self._grounds or self._prompt.grounds()
        return self._grounds

    def _concerned(self) -> Mapping[str, float]:
        """The tools that may be called, and how far the question speaks for each."""
        grounds = self._judge()
        return grounds.concerned() if grounds else {}

    def _settled(self, call: ToolCall) -> str | None:
        """The arguments with which to hand a call on, None where it is left out."""
        if self._constrain is None:
            return call.arguments
        if self.over or (call.fault and self.unfounded):
            return None
        if call.fault:
            return call.arguments
        grounds = self._judge()
        settled = grounds.settle(call.name, call.arguments) if grounds else call.arguments
        made = (call.name, _canonical(settled or call.arguments))
        if made in self._made:
            self._repeated += 1
            return None
        self._made.add(made)
        self.unfounded += settled is None
        return settled


def _canonical(arguments: str) -> str:
    """JSON text in one order and spacing."""
    return json.dumps(json.loads(arguments), sort_keys=True)
