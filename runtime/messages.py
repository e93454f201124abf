"""The one canonical form of a conversation; every provider translates from it and back to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

JsonObject = dict[str, Any]

StopReason = Literal["stop", "tool_calls", "length", "cancelled", "error", "refused"]


@dataclass(frozen=True, slots=True)
class Text:
    """A run of text."""

    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class Image:
    """A picture; `data` is base64 of the encoded file."""

    media_type: str
    data: str
    type: Literal["image"] = "image"


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What the model thought before it answered; `opaque` carries a provider's signature untouched."""

    text: str
    opaque: str = ""
    type: Literal["reasoning"] = "reasoning"


Part = Text | Image


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A request to run a tool. `error` is set when the model's arguments could not be read as JSON."""

    id: str
    name: str
    arguments: JsonObject
    error: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call. `prompt` counts all of the prompt: `cached` of it were not evaluated again,
    `cache_written` were stored for later calls. `completion` counts all of the reply, `reasoning` of it."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    reasoning: int = 0
    cache_written: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.cached + other.cached,
            self.reasoning + other.reasoning,
            self.cache_written + other.cache_written,
        )


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the user, or a door speaking for the user, said."""

    parts: tuple[Part, ...]
    role: Literal["user"] = "user"

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """One model reply: reasoning, text and the calls it asked for, in that order.

    `provider` is the name of the one that gave it; only that one can read `opaque` of its reasoning."""

    text: str
    reasoning: tuple[Reasoning, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    provider: str = ""
    role: Literal["assistant"] = "assistant"


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The result of one call, as the model sees it."""

    call_id: str
    name: str
    parts: tuple[Part, ...]
    ok: bool = True
    role: Literal["tool"] = "tool"

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))


Message = UserMessage | AssistantMessage | ToolMessage


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is told of it: name, one-paragraph description, JSON Schema of the arguments.
    `repeats`: the same call again is no sign of going round in circles, since the world has moved on."""

    name: str
    description: str
    parameters: JsonObject = field(default_factory=dict)
    repeats: bool = False


def without_surrogates(text: str) -> str:
    """`text` with lone surrogates replaced, because no model's wire can carry them."""
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text
