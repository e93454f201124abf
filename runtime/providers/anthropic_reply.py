"""Reads the events of a reply of Anthropic's Messages API.

Source of the format: the API reference of version 2026-10-21 and the types of the official client.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from runtime.messages import JsonObject, StopReason, ToolCall, Usage
from runtime.providers import faults
from runtime.providers.anthropic_request import GAP, Prepared, seal
from runtime.providers.call_arguments import read_arguments
from runtime.providers.provider import (
    CallReady,
    CallWriting,
    Failed,
    Finished,
    Notices,
    ReasoningDelta,
    StreamItem,
    TextDelta,
)

_STOPS: dict[str, StopReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "pause_turn": "length",
    "refusal": "refused",
}


@dataclass(slots=True)
class _Block:
    """A block of the reply as it is written."""

    type: str
    name: str = ""
    id: str = ""
    family: str = ""
    input: JsonObject = field(default_factory=dict)
    pieces: list[str] = field(default_factory=list)
    signature: str = ""


@dataclass(slots=True)
class Reading:
    """Turns the events of one reply into the house's items. `begun` once the service answered, `ended` once
    it said that the reply is whole."""

    provider: str
    model: str
    prepared: Prepared
    begun: bool = False
    ended: bool = False
    _blocks: dict[int, _Block] = field(default_factory=dict)
    _chars: int = 0
    _calls: int = 0
    _last: str = ""
    _stop: str = ""
    _explanation: str = ""
    _counts: dict[str, int] = field(default_factory=dict)
    _thought: int = 0
    _first: float = 0.0

    def take(self, event: object) -> Iterator[StreamItem]:
        """The items of one event, in order. OrionError where it cannot be read. Events of unknown kinds are
        passed over, as the service asks of its clients."""
        found = self._object(event)
        match found.get("type"):
            case "message_start":
                self._count(self._object(found.get("message")).get("usage"))
            case "content_block_start":
                yield from self._begin(int(found.get("index") or 0), self._object(found.get("content_block")))
            case "content_block_delta":
                yield from self._grow(int(found.get("index") or 0), self._object(found.get("delta")))
            case "content_block_stop":
                yield from self._close(int(found.get("index") or 0))
            case "message_delta":
                delta = self._object(found.get("delta"))
                self._stop = str(delta.get("stop_reason") or self._stop)
                details = delta.get("stop_details")
                if isinstance(details, dict):
                    self._explanation = str(details.get("explanation") or details.get("category") or "")
                self._count(found.get("usage"))
            case "message_stop":
                for index in list(self._blocks):
                    yield from self._close(index, "the reply ended before the call was complete")
                self.ended = True

    def end(self, window: int) -> Finished | Failed:
        """The last item, once no more events come."""
        if not self.ended:
            return Failed(faults.cut_short(self.provider, self.model))
        usage = self._usage()
        seconds = time.monotonic() - self._first if self._first else 0.0
        stop = _STOPS.get(self._stop, "tool_calls" if self._calls else "stop")
        notices: Notices = self.prepared.notices
        if stop == "refused":
            problem = self._explanation or "no reason given"
            fields: dict[str, str | int | float] = {"provider": self.provider, "model": self.model}
            notices = (*notices, ("request_refused", fields | {"problem": problem}))
        return Finished(stop, usage, usage.completion / seconds if seconds else 0.0, window, notices)

    def _begin(self, index: int, found: JsonObject) -> Iterator[StreamItem]:
        block = _Block(str(found.get("type", "")))
        self._blocks[index] = block
        self._first = self._first or time.monotonic()
        match block.type:
            case "text":
                if self._chars and self._last != "text":
                    yield self._say(GAP)
                if text := found.get("text"):
                    yield self._say(str(text))
            case "thinking":
                if thought := found.get("thinking"):
                    yield ReasoningDelta(str(thought))
                block.signature = str(found.get("signature") or "")
            case "redacted_thinking":
                data = str(found.get("data") or "")
                yield ReasoningDelta("", seal(self.model, self._chars, self._calls, redacted=data))
            case "tool_use":
                block.name, block.id = str(found.get("name") or ""), str(found.get("id") or "")
                block.family = str(found.get("toolset_name") or "")
                block.input = self._object(found.get("input") or {})
                yield CallWriting(self._tool(block), "")
        self._last = block.type

    def _grow(self, index: int, delta: JsonObject) -> Iterator[StreamItem]:
        block = self._blocks.get(index)
        if block is None:
            raise faults.malformed(self.provider, "a piece belongs to no block")
        match delta.get("type"):
            case "text_delta":
                yield self._say(str(delta.get("text") or ""))
            case "thinking_delta":
                yield ReasoningDelta(str(delta.get("thinking") or ""))
            case "signature_delta":
                block.signature += str(delta.get("signature") or "")
            case "input_json_delta" if block.type == "tool_use":
                piece = str(delta.get("partial_json") or "")
                block.pieces.append(piece)
                if piece:
                    yield CallWriting(self._tool(block), piece)

    def _close(self, index: int, fault: str = "") -> Iterator[StreamItem]:
        block = self._blocks.pop(index, None)
        if block is None:
            return
        if block.type == "thinking":
            yield ReasoningDelta("", seal(self.model, self._chars, self._calls, signature=block.signature))
        elif block.type == "tool_use":
            text = "".join(block.pieces)
            arguments, problem = read_arguments(text) if text.strip() else (block.input, "")
            if block.family in self.prepared.families and not problem:
                arguments = {"action": block.name} | arguments
            self._calls += 1
            yield CallReady(ToolCall(block.id, self._tool(block), arguments, fault or problem))

    def _tool(self, block: _Block) -> str:
        """The name under which the house knows what is called."""
        return self.prepared.families.get(block.family) or self.prepared.tools.get(block.name, block.name)

    def _say(self, text: str) -> TextDelta:
        self._chars += len(text)
        return TextDelta(text)

    def _count(self, usage: object) -> None:
        """Figures are running totals; the later ones hold."""
        if isinstance(usage, dict):
            self._counts |= {name: value for name, value in usage.items() if isinstance(value, int)}
            details = usage.get("output_tokens_details")
            if isinstance(details, dict) and isinstance(details.get("thinking_tokens"), int):
                self._thought = details["thinking_tokens"]

    def _usage(self) -> Usage:
        """The service counts apart what it read from its cache and what it wrote into it."""
        cached = self._counts.get("cache_read_input_tokens", 0)
        written = self._counts.get("cache_creation_input_tokens", 0)
        return Usage(
            prompt=self._counts.get("input_tokens", 0) + cached + written,
            completion=self._counts.get("output_tokens", 0),
            cached=cached,
            reasoning=self._thought,
            cache_written=written,
        )

    def _object(self, found: object) -> JsonObject:
        if not isinstance(found, dict):
            raise faults.malformed(self.provider, "an object is missing")
        return found
