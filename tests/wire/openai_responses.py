"""The wire format of OpenAI's Responses API, as its API reference and the types of its client give it."""

from __future__ import annotations

import json

from runtime.messages import JsonObject
from runtime.providers.connection import Connection
from runtime.providers.openai import make as made
from runtime.providers.provider import Provider
from tests.wire.openai_chat import CREATED, LISTED, pieces
from tests.wire.server import Call, Play, Say, Think

NAME = "openai-responses"
MODEL = "gpt-5.6-sol"
SUFFIX = "/v1"
SEALED = "gAAAAABsealed"
"""The encrypted form of every thought."""


class Wire:
    """A service that gives reasoning encrypted where it is asked to."""

    content_type = "text/event-stream; charset=utf-8"

    def events(self, play: Play, request: JsonObject) -> list[bytes]:
        """From response.created to response.completed, response.incomplete (`stop` "length" or
        "content_filter") or, with a `problem`, the error in the middle."""
        events: list[JsonObject] = [
            {"type": "response.created", "response": _response(request, "in_progress")},
            {"type": "response.in_progress", "response": _response(request, "in_progress")},
        ]
        output: list[JsonObject] = []
        for item in play.items:
            at = {"output_index": len(output)}
            begun, whole, inner = _item(item, len(output), request)
            events.append({"type": "response.output_item.added", **at, "item": begun})
            events += [event | at | {"item_id": whole["id"]} for event in inner]
            events.append({"type": "response.output_item.done", **at, "item": whole})
            output.append(whole)
        events.append(_end(play, request, output))
        if play.problem:
            told = {"type": "error", "code": play.kind or "server_error", "message": play.problem}
            events = [*events[: len(events) // 2], told | {"param": None}]
        return [_framed(event, number) for number, event in enumerate(events)]

    def ping(self) -> bytes:
        return _framed({"type": "keepalive"}, 0)

    def refusal(self, status: int, problem: str, kind: str) -> bytes:
        error = {"message": problem, "type": "invalid_request_error", "param": None, "code": kind or None}
        return json.dumps({"error": error}).encode()

    def other(self, method: str, path: str, body: JsonObject) -> tuple[int, JsonObject] | None:
        if (method, path) == ("GET", f"{SUFFIX}/models"):
            own = {"id": MODEL, "object": "model", "created": CREATED, "owned_by": "system"}
            return 200, {"object": "list", "data": [own, *LISTED]}
        return None


def _framed(event: JsonObject, number: int) -> bytes:
    data = json.dumps(event | {"sequence_number": number}, ensure_ascii=False, separators=(",", ":"))
    return f"event: {event['type']}\ndata: {data}\n\n".encode()


def _response(request: JsonObject, status: str) -> JsonObject:
    return {
        "id": "resp_0123456789",
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "model": request["model"],
        "output": [],
        "parallel_tool_calls": True,
        "store": request.get("store", True),
        "usage": None,
    }


def _end(play: Play, request: JsonObject, output: list[JsonObject]) -> JsonObject:
    cause = {"length": "max_output_tokens"}.get(play.stop, play.stop)
    status = "incomplete" if cause else "completed"
    whole = _response(request, status) | {
        "output": output,
        "usage": {
            "input_tokens": play.prompt,
            "input_tokens_details": {"cached_tokens": play.cached, "cache_write_tokens": 0},
            "output_tokens": play.completion,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": play.prompt + play.completion,
        },
    }
    if cause:
        whole["incomplete_details"] = {"reason": cause}
    return {"type": f"response.{status}", "response": whole}


Item = tuple[JsonObject, JsonObject, list[JsonObject]]
"""An output as it begins and as it ends, and the events in between."""


def _item(item: Say | Think | Call, at: int, request: JsonObject) -> Item:
    match item:
        case Say(text):
            return _message(text, at)
        case Think(text):
            return _reasoning(text, at, request)
        case Call():
            return _call(item, at)


def _message(text: str, at: int) -> Item:
    own: JsonObject = {"id": f"msg_{at}", "type": "message", "role": "assistant"}
    empty: JsonObject = {"type": "output_text", "annotations": [], "logprobs": [], "text": ""}
    place = {"content_index": 0}
    events: list[JsonObject] = [{"type": "response.content_part.added", **place, "part": empty}]
    deltas = [{"delta": piece, "logprobs": [], "obfuscation": "x"} for piece in pieces(text)]
    events += [{"type": "response.output_text.delta", **place, **delta} for delta in deltas]
    events.append({"type": "response.output_text.done", **place, "text": text, "logprobs": []})
    events.append({"type": "response.content_part.done", **place, "part": empty | {"text": text}})
    whole = own | {"status": "completed", "content": [empty | {"text": text}]}
    return own | {"status": "in_progress", "content": []}, whole, events


def _reasoning(text: str, at: int, request: JsonObject) -> Item:
    own: JsonObject = {"id": f"rs_{at}", "type": "reasoning", "summary": []}
    place = {"summary_index": 0}
    part = {"type": "summary_text", "text": ""}
    name = "response.reasoning_summary"
    events: list[JsonObject] = [{"type": f"{name}_part.added", **place, "part": part}]
    events += [{"type": f"{name}_text.delta", **place, "delta": piece} for piece in pieces(text)]
    events.append({"type": f"{name}_text.done", **place, "text": text})
    events.append({"type": f"{name}_part.done", **place, "part": part | {"text": text}})
    whole = own | {"summary": [part | {"text": text}]}
    if "reasoning.encrypted_content" in request.get("include", []):
        whole["encrypted_content"] = SEALED
    return own, whole, events


def _call(call: Call, at: int) -> Item:
    text = json.dumps(call.arguments, ensure_ascii=False)
    own = {"id": f"fc_{at}", "type": "function_call", "call_id": call.id, "name": call.name}
    name = "response.function_call_arguments"
    events: list[JsonObject] = [{"type": f"{name}.delta", "delta": piece} for piece in pieces(text)]
    events.append({"type": f"{name}.done", "arguments": text, "name": call.name})
    whole = own | {"arguments": text, "status": "completed"}
    return own | {"arguments": "", "status": "in_progress"}, whole, events


def make(connection: Connection) -> Provider:
    return made(connection, "responses")
