"""The wire format of Chat Completions, as OpenAI's API reference and the types of its client give it."""

from __future__ import annotations

import json

from runtime.messages import JsonObject
from runtime.providers.connection import Connection
from runtime.providers.openai import make as made
from runtime.providers.provider import Provider
from tests.wire.server import Call, Play, Say, Think

NAME = "openai-chat"
MODEL = "qwen/qwen3-vl-32b-thinking"
SUFFIX = "/v1"

PIECE = 5
CREATED = 1_790_000_000
LISTED: tuple[JsonObject, ...] = (
    {"id": MODEL, "object": "model", "created": CREATED, "owned_by": "qwen"},
    {"id": "text-embedding-3-small", "object": "model", "created": CREATED, "owned_by": "system"},
    {"id": "gpt-4o", "object": "model", "created": CREATED, "owned_by": "system"},
)


class Wire:
    """A service that thinks in `thought`, the member of a delta for reasoning."""

    content_type = "text/event-stream; charset=utf-8"

    def __init__(self, thought: str = "reasoning_content") -> None:
        self.thought = thought
        self.listed = list(LISTED)

    def events(self, play: Play, request: JsonObject) -> list[bytes]:
        """The chunks and the mark that ends them; usage comes only where it was asked for. `problem` with a
        good status is an error inside."""
        deltas: list[JsonObject] = [{"role": "assistant", "content": "", "refusal": None}]
        index = 0
        for item in play.items:
            match item:
                case Say(text):
                    deltas += [{"content": piece} for piece in pieces(text)]
                case Think(text):
                    deltas += [{self.thought: piece} for piece in pieces(text)]
                case Call():
                    deltas += _call(index, item)
                    index += 1
        counted = bool(request.get("stream_options", {}).get("include_usage"))
        bare: JsonObject = {"usage": None} if counted else {}
        chunks = [chunk(request, [_choice(delta)]) | bare for delta in deltas]
        reason = play.stop or ("tool_calls" if index else "stop")
        chunks.append(chunk(request, [_choice({}, reason)]) | bare)
        if counted:
            chunks.append(chunk(request, []) | {"usage": usage(play)})
        if play.problem:
            told = {"message": play.problem, "type": play.kind or "server_error", "code": play.kind or None}
            chunks = [*chunks[: len(chunks) // 2], {"error": told}]
        return [*map(framed, chunks), b"data: [DONE]\n\n"]

    def ping(self) -> bytes:
        return b": keep-alive\n\n"

    def refusal(self, status: int, problem: str, kind: str) -> bytes:
        error = {"message": problem, "type": "invalid_request_error", "param": None, "code": kind or None}
        return json.dumps({"error": error}).encode()

    def other(self, method: str, path: str, body: JsonObject) -> tuple[int, JsonObject] | None:
        if (method, path) == ("GET", f"{SUFFIX}/models"):
            return 200, {"object": "list", "data": self.listed}
        return None


def framed(data: JsonObject) -> bytes:
    """An event of a stream."""
    return b"data: " + json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode() + b"\n\n"


def chunk(request: JsonObject, choices: list[JsonObject]) -> JsonObject:
    """What every event of a chat completion has."""
    return {
        "id": "chatcmpl-0123456789",
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": request["model"],
        "system_fingerprint": None,
        "choices": choices,
    }


def usage(play: Play) -> JsonObject:
    return {
        "prompt_tokens": play.prompt,
        "completion_tokens": play.completion,
        "total_tokens": play.prompt + play.completion,
        "prompt_tokens_details": {"cached_tokens": play.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }


def pieces(text: str) -> list[str]:
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


def _choice(delta: JsonObject, reason: str | None = None) -> JsonObject:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}


def _call(index: int, call: Call) -> list[JsonObject]:
    """The name comes first, then the arguments in pieces."""
    text = json.dumps(call.arguments, ensure_ascii=False)
    begun = {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
    more = [{"index": index, "function": {"arguments": piece}} for piece in pieces(text)]
    return [{"tool_calls": [part]} for part in ({"index": index} | begun, *more)]


def make(connection: Connection) -> Provider:
    return made(connection, "chat")
