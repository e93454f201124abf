"""What was learnt of the models behind one address: from their list, from refusals and from their counts."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from runtime.messages import JsonObject, Usage
from runtime.providers import openai_models
from runtime.providers.openai_history import size
from runtime.providers.openai_models import Kind
from runtime.providers.openai_wire import Refusal
from runtime.providers.provider import ModelInfo, Request

BYTES_PER_TOKEN = 3.0
PICTURE_TOKENS = 1_000
CALIBRATING = 512
"""Tokens of a prompt from which its size says something of the model's tokens."""

_REFUSING = frozenset({400, 404, 415, 422, 500, 501})
_MARKS: dict[str, tuple[str, ...]] = {
    "tools": (
        "support tool", "support function", "support for tool", "tools is not supported",
        "tools are not supported", "function tools", "function calling", "tool use",
        "enable-auto-tool-choice", "tools param requires",
    ),
    "max_tokens": ("max_tokens",),
    "max_completion_tokens": ("max_completion_tokens",),
    "max_output_tokens": ("max_output_tokens",),
    "temperature": ("temperature",),
    "summary": ("reasoning.summary", "reasoning summar"),
    "encrypted": ("encrypted_content", "encrypted content"),
    "effort": ("reasoning_effort", "reasoning.effort", "reasoning effort", "thinking", "'reasoning'"),
    "stream_options": ("stream_options",),
    "parallel_tool_calls": ("parallel_tool_calls", "parallel tool"),
    "prompt_cache_key": ("prompt_cache_key",),
    "tool_choice": ("tool_choice",),
}  # fmt: skip
_PICTURE = ("image", "vision", "multimodal", "mmproj")
_UNSUPPORTED = (
    "not support",
    "unsupported",
    "only supported",
    "n't support",
    "no endpoints",
    "not a multimodal",
)
_BAD_PICTURE = ("format", "media type", "too large", "invalid image")
_WINDOW = re.compile(r'(?:maximum context length (?:is|of) |"n_ctx": ?)(\d{3,8})')


class Lessons:
    """Starts empty and is kept as long as its provider; everything is by the name of the model."""

    def __init__(self) -> None:
        self._refused: set[tuple[str, str]] = set()
        self._listed: dict[str, ModelInfo] = {}
        self._windows: dict[str, int] = {}
        self._density: dict[str, float] = {}

    def takes(self, model: str, what: str) -> bool:
        """Whether `what` (a member of the body, "tools", "images", …) was never refused."""
        return (model, what) not in self._refused

    def learn(self, model: str, refusal: Refusal, sent: Collection[str]) -> bool:
        """Whether the refusal was about something that was sent and can be left out from now on."""
        if refusal.error.code == "context_too_long":
            if found := _WINDOW.search(refusal.said):
                self._windows[model] = int(found[1])
            return False
        if refusal.status not in _REFUSING:
            return False
        for what in (*_MARKS, "images"):
            if what in sent and self.takes(model, what) and _about(what, refusal.said):
                self._refused.add((model, what))
                return True
        return False

    def kind(self, model: str) -> Kind:
        """See openai_models."""
        return openai_models.kind(model)

    def window(self, model: str) -> int:
        """How many tokens a prompt may have; 0 where unknown."""
        listed = self._listed.get(model)
        return self._windows.get(model) or (listed.window if listed else 0) or self.kind(model).window

    def sees(self, model: str) -> bool:
        """Whether pictures may be sent."""
        listed = self._listed.get(model)
        return (self.kind(model).images or (listed is not None and listed.images)) and self.takes(
            model, "images"
        )

    def acts(self, model: str) -> bool:
        """Whether tools may be sent."""
        listed = self._listed.get(model)
        return (listed is None or listed.tools) and self.takes(model, "tools")

    def listed(self, models: list[JsonObject]) -> list[ModelInfo]:
        """The models of a service's list that can talk, by name, with what it says of them."""
        found = [info for model in models if (info := _info(model)) is not None]
        self._listed = {info.name: info for info in found}
        return sorted(
            (
                ModelInfo(
                    info.name,
                    info.title,
                    self.window(info.name),
                    info.size,
                    self.sees(info.name),
                    self.acts(info.name),
                )
                for info in found
            ),
            key=lambda info: info.name,
        )

    def counted(self, request: Request, usage: Usage) -> None:
        """Learn from what a prompt really had."""
        count, pictures = size(request)
        if usage.prompt >= CALIBRATING and not pictures:
            self._density[request.model] = min(BYTES_PER_TOKEN, max(1.0, 0.95 * count / usage.prompt))

    def estimate(self, request: Request) -> int:
        """Tokens of a prompt, rather too many than too few."""
        count, pictures = size(request)
        seen = PICTURE_TOKENS * pictures if self.sees(request.model) else 0
        return int(count / self._density.get(request.model, BYTES_PER_TOKEN)) + seen


def _about(what: str, said: str) -> bool:
    if what != "images":
        return any(mark in said for mark in _MARKS[what])
    if any(mark in said for mark in _BAD_PICTURE):
        return False
    return any(mark in said for mark in _PICTURE) and any(mark in said for mark in (*_UNSUPPORTED, "mmproj"))


def _info(model: JsonObject) -> ModelInfo | None:
    """One entry of a list, in the forms of OpenAI, OpenRouter, vLLM and llama-server."""
    name = model.get("id") or model.get("name")
    if not isinstance(name, str) or not openai_models.talks(name):
        return None
    meta = _object(model.get("meta"))
    windows = (
        model.get("context_length"), model.get("max_model_len"), model.get("context_window"),
        meta.get("n_ctx"), meta.get("n_ctx_train"),
    )  # fmt: skip
    window = next((int(value) for value in windows if isinstance(value, int | float) and value > 0), 0)
    inputs = _list(_object(model.get("architecture")).get("input_modalities"))
    can = _list(model.get("capabilities"))
    parameters = _list(model.get("supported_parameters"))
    title = model.get("name")
    return ModelInfo(
        name,
        title if isinstance(title, str) else "",
        window,
        int(meta["size"]) if isinstance(meta.get("size"), int) else 0,
        images="image" in inputs or "multimodal" in can or "vision" in can,
        tools=not parameters or "tools" in parameters,
    )


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
