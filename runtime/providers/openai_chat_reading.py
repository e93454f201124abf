"""Reads a streamed chat completion, with everything in which services that speak it differ."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from runtime.messages import JsonObject, StopReason, ToolCall, Usage
from runtime.providers import faults
from runtime.providers.call_arguments import read_arguments
from runtime.providers.openai_wire import usage
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
from runtime.providers.think_tags import ThinkTags

_STOPS: dict[str, StopReason] = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "refused",
    "refusal": "refused",
    "safety": "refused",
}


class _Function(BaseModel):
    name: str | None = None
    arguments: Any = None


class _Called(BaseModel):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Delta(BaseModel):
    content: Any = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: Any = None
    reasoning_details: list[dict[str, Any]] | None = None
    tool_calls: list[_Called] | None = None
    function_call: _Function | None = None


class _Choice(BaseModel):
    index: int | None = None
    delta: _Delta | None = None
    message: _Delta | None = None
    finish_reason: str | None = None


class _Chunk(BaseModel):
    """One event. A service that has no deltas sends the whole message instead."""

    choices: list[_Choice] | None = None
    usage: Any = None
    timings: Any = None


@dataclass(slots=True)
class _Writing:
    """A call that is being written."""

    id: str
    name: str = ""
    text: list[str] = field(default_factory=list)


class ChatReading:
    """Reads one answer of `provider`, given by `model`."""

    def __init__(self, provider: str, model: str) -> None:
        self._provider = provider
        self._model = model
        self._calls: list[_Writing] = []
        self._slots: dict[int, _Writing] = {}
        self._tags = ThinkTags()
        self._thought = ""
        self._details: list[JsonObject] = []
        self._open = False
        self._refused = False
        self._stop: str | None = None
        self._usage: Usage | None = None
        self._speed = 0.0
        self.ended = False

    def take(self, event: JsonObject) -> Iterator[StreamItem]:
        """See Reading."""
        chunk = _Chunk.model_validate(event)
        if chunk.usage:
            self._usage = usage(chunk.usage)
            self.ended = self.ended or not chunk.choices
        if isinstance(chunk.timings, dict):
            self._speed = float(chunk.timings.get("predicted_per_second") or 0.0)
        for choice in chunk.choices or ():
            if choice.index:  # a second answer nobody asked for
                continue
            if (delta := choice.delta or choice.message) is not None:
                yield from self._take(delta)
            if choice.finish_reason is not None:
                self._stop = choice.finish_reason
                self.ended = True

    def rest(self, window: int, notices: Notices) -> Iterator[StreamItem]:
        """See Reading."""
        thought, text = self._tags.rest()
        if thought:
            yield ReasoningDelta(thought)
        yield from self._close()
        if text:
            yield TextDelta(text)
        if self._stop == "error":
            yield Failed(faults.refused(self._provider, self._model, 502, ""))
            return
        reason: StopReason = _STOPS.get((self._stop or "").lower(), "stop")
        for writing in self._calls:
            found, fault = read_arguments("".join(writing.text))
            if fault and reason == "length" and writing is self._calls[-1]:
                found, fault = read_arguments("", whole=False)
            yield CallReady(ToolCall(writing.id, writing.name, found, fault))
        if self._refused:
            reason = "refused"
        elif self._calls and reason == "stop":
            reason = "tool_calls"
        yield Finished(reason, self._usage or Usage(), self._speed, window, notices)

    def _take(self, delta: _Delta) -> Iterator[StreamItem]:
        yield from self._think(delta)
        thought, text = _texts(delta.content)
        if text:
            tagged, text = self._tags.take(text)
            thought += tagged
        if thought:
            yield ReasoningDelta(thought)
        if delta.refusal:
            self._refused = True
            text += delta.refusal
        if text:
            yield from self._close()
            yield TextDelta(text)
        called = list(delta.tool_calls or ())
        if delta.function_call is not None:
            called.append(_Called(index=0, function=delta.function_call))
        for call in called:
            yield from self._close()
            yield self._write(call)

    def _think(self, delta: _Delta) -> Iterator[StreamItem]:
        said = delta.reasoning if isinstance(delta.reasoning, str) else ""
        thought = delta.reasoning_content or said
        if delta.reasoning_details:
            self._open = True
            _gather(self._details, delta.reasoning_details)
            thought = thought or "".join(_told(detail) for detail in delta.reasoning_details)
        if thought:
            self._open = True
            self._thought = "reasoning_content" if delta.reasoning_content else "reasoning"
            yield ReasoningDelta(thought)

    def _close(self) -> Iterator[StreamItem]:
        """End a thought: `opaque` says under which name it came, and has what the service added to it."""
        if not self._open:
            return
        self._open = False
        about: JsonObject = {"as": self._thought, "model": self._model}
        if self._details:
            about["details"] = self._details
            self._details = []
        if self._thought or "details" in about:
            yield ReasoningDelta("", json.dumps(about, ensure_ascii=False))

    def _write(self, called: _Called) -> CallWriting:
        function = called.function or _Function()
        writing = self._slot(called, function.name or "")
        writing.name = writing.name or function.name or ""
        text = function.arguments
        if text is not None and not isinstance(text, str):
            text = json.dumps(text, ensure_ascii=False)
        if text:
            writing.text.append(text)
        return CallWriting(writing.name, text or "")

    def _slot(self, called: _Called, name: str) -> _Writing:
        """The call that a delta goes on with, or a new one. Some services leave out the index or the id, give
        every whole call the index 0, or a new id to every piece: a name is what begins a call."""
        own = called.id or ""
        if called.index is not None:
            found = self._slots.get(called.index)
            if found is not None and not (name and own and own != found.id and found.name):
                return found
        else:
            same = next((writing for writing in self._calls if own and writing.id == own), None)
            if same is not None:
                return same
            if self._calls and not own and not (name and self._calls[-1].name):
                return self._calls[-1]
            if self._calls and own and not name:
                return self._calls[-1]
        taken = {writing.id for writing in self._calls}
        writing = _Writing(own if own and own not in taken else secrets.token_hex(5)[:9])
        self._calls.append(writing)
        if called.index is not None:
            self._slots[called.index] = writing
        return writing


def _texts(content: object) -> tuple[str, str]:
    """Thought and text of a content, which is text or a list of parts."""
    if isinstance(content, str):
        return "", content
    thought, text = "", ""
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, dict):
            continue
        if part.get("type") == "thinking":
            thought += _texts(part.get("thinking"))[1]
        elif isinstance(part.get("text"), str):
            text += part["text"]
    return thought, text


def _told(detail: JsonObject) -> str:
    return str(detail.get("text") or detail.get("summary") or "")


def _gather(details: list[JsonObject], more: list[dict[str, Any]]) -> None:
    """Add pieces to the blocks they belong to: pieces of one block have one type and one index."""
    for piece in more:
        last = details[-1] if details else None
        if last is None or (last.get("type"), last.get("index")) != (piece.get("type"), piece.get("index")):
            details.append(dict(piece))
            continue
        for name, value in piece.items():
            if name in ("text", "summary", "data") and isinstance(value, str):
                last[name] = f"{last.get(name) or ''}{value}"
            elif value is not None:
                last[name] = value
