"""Anthropic's Messages API as its documents describe it, event by event, for the local server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

from runtime.messages import JsonObject
from runtime.providers.anthropic import AnthropicProvider
from runtime.providers.connection import Connection
from runtime.providers.provider import Provider
from tests.wire.server import Call, Play, Say, Think

NAME = "anthropic"
MODEL = "claude-sonnet-5-5"
SUFFIX = ""
OLDER = "claude-haiku-4-5"

PIECE = 5
_MARKS = 4


def make(connection: Connection) -> Provider:
    """A client of the service."""
    return AnthropicProvider(connection)


def framed(event: JsonObject) -> bytes:
    """An event as the service sends it."""
    return f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


class Wire:
    """The streaming form. A request the real service would not accept is answered by an error."""

    content_type = "text/event-stream; charset=utf-8"

    def events(self, play: Play, request: JsonObject) -> list[bytes]:
        """See WireFormat."""
        if wrong := list(complaints(request)):
            error = {"type": "invalid_request_error", "message": "; ".join(wrong)}
            return [framed({"type": "error", "error": error})]
        return [framed(event) for event in _reply(play, str(request.get("model")))]

    def ping(self) -> bytes:
        """See WireFormat."""
        return framed({"type": "ping"})

    def refusal(self, status: int, problem: str, kind: str) -> bytes:
        """See WireFormat."""
        error = {"type": kind or _KINDS.get(status, "api_error"), "message": problem}
        return json.dumps({"type": "error", "error": error, "request_id": "req_011CSHoEeq"}).encode()

    def other(self, method: str, path: str, body: JsonObject) -> tuple[int, JsonObject] | None:
        """See WireFormat; the list of models comes in pages of two."""
        place = urlsplit(path)
        if (method, place.path) != ("GET", "/v1/models"):
            return None
        names = [entry["id"] for entry in MODELS]
        after = parse_qs(place.query).get("after_id", [""])[0]
        start = names.index(after) + 1 if after else 0
        page = MODELS[start : start + 2]
        ids = {"first_id": page[0]["id"], "last_id": page[-1]["id"]}
        return 200, {"data": page, "has_more": start + 2 < len(MODELS)} | ids


_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def _model(name: str, title: str, window: int, output: int, *types: str) -> JsonObject:
    kinds = {kind: {"supported": kind in types} for kind in ("adaptive", "enabled", "disabled")}
    return {
        "type": "model",
        "id": name,
        "display_name": title,
        "created_at": "2026-10-06T00:00:00Z",
        "lifecycle": "active",
        "max_input_tokens": window,
        "max_tokens": output,
        "capabilities": {
            "image_input": {"supported": True},
            "thinking": {"supported": bool(types), "types": kinds},
        },
    }


MODELS = [
    _model(MODEL, "Claude Sonnet 5.5", 1_000_000, 128_000, "adaptive"),
    _model("claude-novel-7", "Claude Novel 7", 2_000_000, 256_000, "adaptive", "disabled"),
    _model(OLDER, "Claude Haiku 4.5", 200_000, 64_000, "enabled", "disabled"),
]


def _reply(play: Play, model: str) -> Iterator[JsonObject]:
    usage = {
        "input_tokens": play.prompt - play.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": play.cached,
    }
    message: JsonObject = {
        "id": "msg_01XFDUDYJgAACzvnptvVoYEL",
        "type": "message",
        "role": "assistant",
        "content": [],
    }
    message |= {"model": model, "stop_reason": None, "stop_sequence": None}
    yield {"type": "message_start", "message": message | {"usage": usage | {"output_tokens": 1}}}
    for index, item in enumerate(play.items):
        start, deltas = _block(item, index)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    calls = any(isinstance(item, Call) for item in play.items)
    stop = play.stop or ("tool_use" if calls else "end_turn")
    thinking = sum(isinstance(item, Think) for item in play.items)
    counts = usage | {
        "output_tokens": play.completion,
        "output_tokens_details": {"thinking_tokens": thinking},
    }
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": stop, "stop_sequence": None},
        "usage": counts,
    }
    yield {"type": "message_stop"}


def _block(item: Say | Think | Call, index: int) -> tuple[JsonObject, list[JsonObject]]:
    """How a block begins, and its deltas."""
    match item:
        case Say(text):
            return {"type": "text", "text": ""}, [
                {"type": "text_delta", "text": piece} for piece in _pieces(text)
            ]
        case Think(text):
            thoughts = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(text)]
            signed = {"type": "signature_delta", "signature": f"signature-of-{index}=="}
            return {"type": "thinking", "thinking": "", "signature": ""}, [*thoughts, signed]
        case Call(id, name, arguments):
            pieces = ["", *_pieces(json.dumps(arguments, ensure_ascii=False))]
            return {"type": "tool_use", "id": id, "name": name, "input": {}}, [
                {"type": "input_json_delta", "partial_json": piece} for piece in pieces
            ]


def _pieces(text: str) -> list[str]:
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


def complaints(body: JsonObject) -> Iterator[str]:
    """What the service would not accept in a request."""
    for member in ("model", "max_tokens", "messages"):
        if not body.get(member):
            yield f"{member}: field required"
    for member in ("temperature", "top_p", "top_k"):
        if member in body and "claude" in str(body.get("model")):
            yield f"{member}: extra inputs are not permitted"
    yield from _about_thinking(body)
    if json.dumps(body).count('"cache_control"') > _MARKS:
        yield "a maximum of 4 blocks with cache_control may be provided"
    for tool in body.get("tools", []):
        if "type" not in tool and tool["input_schema"].get("type") != "object":
            yield f"tools: {tool['name']}: input_schema must be of type object"
        if {"oneOf", "anyOf", "allOf"} & tool.get("input_schema", {}).keys():
            yield f"tools: {tool['name']}: input_schema does not support anyOf at the top level"
    if "tools" not in body and '"tool_use"' in json.dumps(body["messages"]):
        yield "requests which have tool_use or tool_result blocks in messages must define tools"
    yield from _about_messages(body["messages"])


def _about_thinking(body: JsonObject) -> Iterator[str]:
    thinking = body.get("thinking", {})
    budget = thinking.get("budget_tokens", 0)
    if thinking.get("type") == "enabled" and not 1024 <= budget < body["max_tokens"]:
        yield "max_tokens must be greater than thinking.budget_tokens, which must be at least 1024"
    if thinking.get("type") == "disabled" and str(body["model"]).startswith(("claude-opus-5-5", MODEL)):
        yield "thinking.type: disabled is not accepted by this model"
    if thinking.get("type") == "enabled" and "-5" in str(body["model"]).removesuffix("4-5"):
        yield "thinking.type: enabled is not accepted by this model"


def _about_messages(messages: list[JsonObject]) -> Iterator[str]:
    asked: list[str] = []
    seen: set[str] = set()
    for place, message in enumerate(messages):
        if message["role"] != ("assistant" if place % 2 else "user"):
            yield f"messages.{place}: roles must alternate"
        results = [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
        if sorted(results) != sorted(asked):
            yield f"messages.{place}: each tool_use block must have a tool_result in the next message"
        for block in message["content"]:
            if block.get("is_error") and any(part["type"] != "text" for part in block["content"]):
                yield f"messages.{place}: all content must be type text if is_error is true"
        kinds = [block["type"] for block in message["content"]]
        if kinds != sorted(kinds, key=lambda kind: kind != "tool_result"):
            yield f"messages.{place}: tool_result blocks must come first"
        asked = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
        if seen & set(asked) or len(set(asked)) < len(asked):
            yield f"messages.{place}: tool_use ids must be unique"
        if any(not identifier.replace("-", "").replace("_", "").isalnum() for identifier in asked):
            yield f"messages.{place}: tool_use ids must match ^[a-zA-Z0-9_-]+$"
        if any(not identifier.isascii() for identifier in asked):
            yield f"messages.{place}: tool_use ids must match ^[a-zA-Z0-9_-]+$"
        seen |= set(asked)
        if not message["content"]:
            yield f"messages.{place}: content must not be empty"
        for block in _texts(message["content"]):
            if not block["text"].strip():
                yield f"messages.{place}: text content blocks must contain non-whitespace text"
    if messages[-1]["role"] != "user":
        yield "the conversation must end with a user message"


def _texts(blocks: list[JsonObject]) -> Iterator[JsonObject]:
    for block in blocks:
        if block["type"] == "text":
            yield block
        elif block["type"] == "tool_result":
            yield from _texts(block.get("content", []))
