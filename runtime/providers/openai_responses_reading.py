"""Reads the events of OpenAI's Responses API."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from runtime.messages import JsonObject, StopReason, ToolCall
from runtime.providers.call_arguments import read_arguments
from runtime.providers.openai_wire import Service, usage
from runtime.providers.provider import (
    CallReady,
    CallWriting,
    Finished,
    Notices,
    ReasoningDelta,
    StreamItem,
    TextDelta,
)

_PASSED_OVER = frozenset(
    {
        "response.created",
        "response.in_progress",
        "response.content_part.added",
        "response.content_part.done",
        "response.output_text.done",
    }
)


class _Part(BaseModel):
    text: str | None = None
    refusal: str | None = None


class _Item(BaseModel):
    """An output: a message, a call or a reasoning."""

    type: str
    id: str | None = None
    status: str | None = None
    name: str = ""
    call_id: str | None = None
    arguments: str | None = None
    content: list[_Part] | None = None
    summary: list[dict[str, Any]] | None = None
    encrypted_content: str | None = None


class _Details(BaseModel):
    reason: str | None = None


class _Response(BaseModel):
    output: list[_Item] | None = None
    usage: Any = None
    error: dict[str, Any] | None = None
    incomplete_details: _Details | None = None


class _Event(BaseModel):
    """The members of all events that are read here."""

    type: str
    delta: Any = None
    output_index: int = 0
    summary_index: int = 0
    item: _Item | None = None
    response: _Response | None = None


class ResponsesReading:
    """Reads one answer of `service`, given by `model`."""

    def __init__(self, service: Service, model: str) -> None:
        self._service = service
        self._model = model
        self._names: dict[int, str] = {}
        self._said: set[int] = set()
        self._done: set[int] = set()
        self._called = False
        self._refused = False
        self._end = _Response()
        self.ended = False

    def take(self, event: JsonObject) -> Iterator[StreamItem]:
        """See Reading."""
        if event.get("type") == "error":
            raise self._fault(event)
        if event.get("type") in _PASSED_OVER:
            return
        found = _Event.model_validate(event)
        at = found.output_index
        match found.type:
            case "response.output_text.delta" | "response.refusal.delta":
                self._said.add(at)
                self._refused = self._refused or "refusal" in found.type
                yield TextDelta(str(found.delta or ""))
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                self._said.add(at)
                yield ReasoningDelta(str(found.delta or ""))
            case "response.reasoning_summary_part.added" if found.summary_index:
                yield ReasoningDelta("\n\n")
            case "response.output_item.added" if (
                found.item is not None and found.item.type == "function_call"
            ):
                self._names[at] = found.item.name
                yield CallWriting(found.item.name, found.item.arguments or "")
            case "response.function_call_arguments.delta":
                yield CallWriting(self._names.get(at, ""), str(found.delta or ""))
            case "response.output_item.done" if found.item is not None:
                yield from self._whole(at, found.item)
            case "response.completed" | "response.incomplete" | "response.done":
                self._end = found.response or _Response()
                self.ended = True
            case "response.failed":
                response = found.response or _Response()
                raise self._fault(response.error or {})

    def rest(self, window: int, notices: Notices) -> Iterator[StreamItem]:
        """See Reading. What came in no event of its own is taken from the last one."""
        for at, item in enumerate(self._end.output or ()):
            yield from self._whole(at, item)
        for at, name in self._names.items():
            if at not in self._done:
                _arguments, fault = read_arguments("", whole=False)
                self._called = True
                yield CallReady(ToolCall(secrets.token_hex(5)[:9], name, {}, fault))
        details = self._end.incomplete_details
        cause = details.reason if details is not None else None
        reason: StopReason = "tool_calls" if self._called else "stop"
        if cause == "max_output_tokens":
            reason = "length"
        elif cause == "content_filter" or self._refused:
            reason = "refused"
        yield Finished(reason, usage(self._end.usage), 0.0, window, notices)

    def _fault(self, error: JsonObject) -> Exception:
        begun = bool(self._said or self._names or self._done)
        return self._service.told(error, self._model, begun)

    def _whole(self, at: int, item: _Item) -> Iterator[StreamItem]:
        """An output that is complete."""
        if at in self._done:
            return
        self._done.add(at)
        if item.type == "function_call":
            self._called = True
            found, fault = read_arguments(item.arguments or "", whole=item.status != "incomplete")
            yield CallReady(ToolCall(item.call_id or secrets.token_hex(5)[:9], item.name, found, fault))
        elif item.type == "reasoning":
            yield from self._thought(at, item)
        elif item.type == "message" and at not in self._said:
            for part in item.content or ():
                self._refused = self._refused or bool(part.refusal)
                if part.text or part.refusal:
                    yield TextDelta(part.text or part.refusal or "")

    def _thought(self, at: int, item: _Item) -> Iterator[StreamItem]:
        """The end of a thought, with what the model wants back to think on."""
        text = ""
        if at not in self._said:
            text = "\n\n".join(str(part.get("text", "")) for part in item.summary or ())
        opaque = ""
        if item.encrypted_content:
            kept = {"type": "reasoning", "id": item.id, "summary": item.summary or []}
            kept["encrypted_content"] = item.encrypted_content
            opaque = json.dumps({"model": self._model, "item": kept}, ensure_ascii=False)
        if text or opaque:
            yield ReasoningDelta(text, opaque)
