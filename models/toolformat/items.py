"""What a reply is made of, and the pieces in which a parser hands it out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Text:
    """More of the answer or of the reasoning."""

    kind: Literal["content", "reasoning"]
    text: str


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A call of the tool `name` begins; `index` counts the calls of a reply from 0."""

    index: int
    name: str


@dataclass(frozen=True, slots=True)
class CallArguments:
    """More of the JSON text of a call's arguments, for display; the finished call has the exact ones."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call. `arguments` is the JSON text of an object unless `fault` says what is wrong with it.

    Faults: "unclosed" (the reply ended inside the call), "not_json", "not_an_object", "not_finite" (NaN or an
    infinity, replaced by null), "too_deep". With unclosed, not_json and not_an_object, `arguments` is the
    model's own text. `id` is the one the model wrote, or "". `known` says whether such a tool was offered.
    """

    name: str
    arguments: str
    id: str = ""
    fault: str = ""
    known: bool = True


@dataclass(frozen=True, slots=True)
class CallFinished:
    """The call that `index` numbers is complete, or the reply ended inside it."""

    index: int
    call: ToolCall


Item = Text | CallStarted | CallArguments | CallFinished


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply, or what is certain of it so far."""

    content: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
