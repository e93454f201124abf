"""Ollama's native wire format: lines of JSON over HTTP, as its docs/api.md and api/types.go give them."""

from __future__ import annotations

import json

from runtime.messages import JsonObject
from runtime.providers.connection import Connection
from runtime.providers.ollama import OllamaProvider
from tests.wire.server import Call, Play, Say, Think

NAME = "ollama"
MODEL = "qwen3-vl:8b"
SUFFIX = ""

PIECE = 5
TIME = "2026-01-05T10:00:00.000000001Z"
DIGEST = "sha256:" + "0123456789abcdef" * 4
TOTAL = 1_000

_SHOWN: dict[str, JsonObject] = {
    MODEL: {
        "details": {"family": "qwen3vl", "parameter_size": "8.8B", "quantization_level": "Q4_K_M"},
        "model_info": {"general.architecture": "qwen3vl", "qwen3vl.context_length": 262_144},
        "capabilities": ["completion", "vision", "tools", "thinking"],
    },
    "gemma:2b": {
        "details": {"family": "gemma", "parameter_size": "3B", "quantization_level": "Q4_0"},
        "model_info": {"general.architecture": "gemma", "gemma.context_length": 8_192},
        "capabilities": ["completion"],
    },
    "mine:latest": {
        "details": {"family": "llama", "parameter_size": "3.2B", "quantization_level": "Q4_K_M"},
        "model_info": {"general.architecture": "llama", "llama.context_length": 131_072},
        "parameters": 'num_ctx                        4096\nstop                           "<|eot|>"',
        "capabilities": ["completion", "tools"],
    },
    "all-minilm:latest": {
        "details": {"family": "bert", "parameter_size": "23M", "quantization_level": "F16"},
        "model_info": {"general.architecture": "bert", "bert.context_length": 256},
        "capabilities": ["embedding"],
    },
}


class Wire:
    """An Ollama server that keeps the models of `shown`."""

    content_type = "application/x-ndjson"

    def __init__(self) -> None:
        self.shown = dict(_SHOWN)

    def events(self, play: Play, request: JsonObject) -> list[bytes]:
        """The lines of a chat, or of a pull; `problem` with a good status is an error inside, whose status is
        `kind`, as newer servers say it."""
        lines = _chat(play, request) if "messages" in request else _pull()
        status = {"status": int(play.kind)} if play.kind else {}
        if play.problem:
            lines = [*lines[: len(lines) // 2], {"error": play.problem} | status]
        return [
            json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for line in lines
        ]

    def ping(self) -> bytes:
        """Ollama has no sign of life between its lines."""
        return b""

    def refusal(self, status: int, problem: str, kind: str) -> bytes:
        return json.dumps({"error": problem}).encode()

    def other(self, method: str, path: str, body: JsonObject) -> tuple[int, JsonObject] | None:
        """Everything but chat and pull, which stream."""
        name = str(body.get("model", ""))
        missing: tuple[int, JsonObject] = (404, {"error": f"model '{name}' not found"})
        match method, path:
            case "GET", "/api/tags":
                return 200, {"models": [_listed(model, shown) for model, shown in self.shown.items()]}
            case "POST", "/api/show":
                return (200, {"modified_at": TIME} | self.shown[name]) if name in self.shown else missing
            case "DELETE", "/api/delete":
                return (200, {}) if self.shown.pop(name, None) else missing
            case "POST", "/api/embed":
                vectors = [[float(len(text)), 0.5] for text in body["input"]]
                return 200, {"model": name, "embeddings": vectors, "prompt_eval_count": 3}
        return None


def _listed(name: str, shown: JsonObject) -> JsonObject:
    return {
        "name": name,
        "model": name,
        "modified_at": TIME,
        "size": 3_000_000_000,
        "digest": DIGEST.removeprefix("sha256:"),
        "details": shown["details"],
    }


def _chat(play: Play, request: JsonObject) -> list[JsonObject]:
    lines: list[JsonObject] = []
    index = 0
    for item in play.items:
        match item:
            case Say(text):
                lines += [_line(request, content=piece) for piece in _pieces(text)]
            case Think(text):
                lines += [_line(request, thinking=piece) for piece in _pieces(text)]
            case Call(own, name, arguments):
                call: JsonObject = {"function": {"index": index, "name": name, "arguments": arguments}}
                lines.append(_line(request, tool_calls=[({"id": own} if own else {}) | call]))
                index += 1
    counts = {"prompt_eval_count": play.prompt, "eval_count": play.completion}
    durations = {
        "total_duration": 900_000_000,
        "load_duration": 1_000_000,
        "prompt_eval_duration": 300_000_000,
    }
    end = {"done": True, "done_reason": play.stop or "stop"} | counts | durations
    return [*lines, _line(request) | end | {"eval_duration": 500_000_000}]


def _line(request: JsonObject, **said: object) -> JsonObject:
    message = {"role": "assistant", "content": ""} | said
    return {"model": request["model"], "created_at": TIME, "message": message, "done": False}


def _pieces(text: str) -> list[str]:
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


def _pull() -> list[JsonObject]:
    layer: JsonObject = {"status": f"pulling {DIGEST[7:19]}", "digest": DIGEST, "total": TOTAL}
    return [
        {"status": "pulling manifest"},
        layer,
        *(layer | {"completed": done} for done in (TOTAL // 4, TOTAL // 2, TOTAL)),
        {"status": "verifying sha256 digest"},
        {"status": "writing manifest"},
        {"status": "success"},
    ]


def make(connection: Connection) -> OllamaProvider:
    return OllamaProvider(connection)
