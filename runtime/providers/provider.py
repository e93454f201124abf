"""What a language-model client is: a method that streams a reply, its measures, and data about its quirks."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Literal, Protocol

from runtime.errors import Field, OrionError
from runtime.messages import JsonObject, Message, StopReason, ToolCall, ToolSpec, Usage

PRIVATE = "private"
"""The key of sessions of which no provider writes anything to disk."""


Effort = Literal["", "off", "low", "medium", "high"]
"""How long a reasoning model should think; empty leaves it to the model."""


@dataclass(frozen=True, slots=True)
class NativeTool:
    """A tool a service defines itself: its type, the members beside it on the wire, and the beta header it
    needs. `name` is under which the model calls it. Providers that do not know the type leave it out."""

    name: str
    type: str
    params: JsonObject
    beta: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """One model call. `session` is a stable key under which a provider may keep a warm prompt cache;
    `replies` is the number of replies in the conversation so far, those included that are no longer shown.
    `answer` asks for words: a provider that can keeps the model from calling tools, which it still knows."""

    session: str
    model: str
    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    temperature: float = 0.7
    max_tokens: int = 1024
    replies: int = 0
    answer: bool = False
    effort: Effort = ""
    native: tuple[NativeTool, ...] = ()


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More of the reasoning; `opaque` is a provider's signature of the block it closes."""

    text: str
    opaque: str = ""


@dataclass(frozen=True, slots=True)
class CallWriting:
    """The model is writing a call: `name` of the tool where it is known already, more `text` of the
    arguments. Not a promise that the call comes; CallReady alone is."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class CallReady:
    """A tool call is whole."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class Progress:
    """What the provider is doing before the first token; `fraction` is 0–1 while evaluating."""

    state: Literal["starting", "loading", "waiting", "evaluating", "ready", "restarted"]
    fraction: float = 0.0


@dataclass(frozen=True, slots=True)
class Retrying:
    """The call failed before anything of the reply came, for a passing reason (`code` and `fields` as in
    OrionError), and is sent again after `seconds`; `attempt` counts from 1."""

    code: str
    fields: dict[str, Field]
    attempt: int
    seconds: float


Notices = tuple[tuple[str, dict[str, Field]], ...]
"""Codes and fields of sentences."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The reply is whole. Always the last item of a good stream. `notices` tell the user what could not be
    carried over to this model; `prefill_per_second` is how fast the prompt was evaluated, 0 where unknown."""

    stop_reason: StopReason
    usage: Usage
    tokens_per_second: float = 0.0
    window: int = 0
    notices: Notices = ()
    prefill_per_second: float = 0.0


@dataclass(frozen=True, slots=True)
class Failed:
    """The reply broke off. Always the last item of a failed stream; text before it stays valid."""

    error: OrionError


StreamItem = TextDelta | ReasoningDelta | CallWriting | CallReady | Progress | Retrying | Finished | Failed


@dataclass(frozen=True, slots=True)
class Traits:
    """Quirks of a provider and one of its models as data. `local`: nothing leaves this machine; else `host`
    is where words are sent. `calls`: how sure its tool calls are: held to the schemas by a grammar, parsed
    and repaired, or asked for in words."""

    name: str
    local: bool
    tools: bool = True
    images: bool = False
    calls: Literal["", "guaranteed", "parsed", "fallback"] = ""
    host: str = ""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model a provider offers; 0 and empty where the service does not say."""

    name: str
    title: str = ""
    window: int = 0
    size: int = 0
    images: bool = False
    tools: bool = True


class Provider(Protocol):
    """A language-model client. Owned and closed by the runtime; used from its event loop only."""

    def traits(self, model: str) -> Traits:
        """What is known of `model` without asking the network; cheap enough for every turn."""
        ...

    async def models(self) -> list[ModelInfo]:
        """What can be asked for by name, by the service's own list. Raises OrionError as `stream` fails."""
        ...

    def stream(self, request: Request) -> AsyncGenerator[StreamItem, None]:
        """Yield the reply as it comes; the last item is Finished or Failed, and nothing is raised for a
        fault of the world. Closing the iterator (aclose) cancels the call within 200 ms."""
        ...

    def window(self, model: str) -> int:
        """How many tokens the model reads at once, as far as is known without asking it; 0 where unknown.
        Cheap enough for every turn."""
        ...

    def tools_on_demand(self, model: str) -> bool:
        """Whether the model is so small that only tools a message calls for should be offered to it."""
        ...

    async def count(self, request: Request) -> int:
        """Prompt tokens of the request: exact where the model is on this machine, else a careful estimate.
        Raises OrionError when the model cannot be asked."""
        ...

    async def close(self) -> None:
        """Free processes and connections; idempotent."""
        ...
