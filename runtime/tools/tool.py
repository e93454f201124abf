"""What a tool is: a definition with a typed arguments class, and one coroutine that returns a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from runtime.events import Risk
from runtime.messages import Image, JsonObject, Part, Text, ToolSpec
from runtime.workspace import Workspace

if TYPE_CHECKING:
    from runtime.agent_computer import AgentComputer

FailureKind = Literal["invalid", "denied", "error", "timeout", "cancelled", "unknown", "bug"]


class Arguments(BaseModel):
    """The arguments of a tool; unknown names are refused so that a model learns of its slip."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NoArguments(Arguments):
    """For tools that take none."""


@dataclass(frozen=True, slots=True)
class Ok:
    """It worked. `parts` is for the model; `details` is for the window: {"diff", "files", "change", …}."""

    parts: tuple[Part, ...]
    details: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failure:
    """It did not. `message` tells the model what was wrong and what to try instead."""

    kind: FailureKind
    message: str
    details: JsonObject = field(default_factory=dict)


Result = Ok | Failure


def ok(text: str, *images: Image, **details: Any) -> Ok:
    """A success whose content is `text` and pictures."""
    return Ok((Text(text), *images), details)


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a call may know and use, passed explicitly to every call.

    `emit` streams output to the doors. `facts` describes the run for runtime_info. A tool runs on the
    event loop and moves blocking work to a thread; cancelling its task stops it. `computer` is the one of
    this process, for tools that are `sandboxed`.
    """

    session: str
    turn: str
    call: str
    workspace: Workspace
    home: Path
    facts: JsonObject
    emit: Callable[[str], None]
    computer: AgentComputer | None = None


@dataclass(frozen=True, slots=True)
class Definition:
    """The data of a tool. `undoable`: its effect can be taken back by the workspace. `idempotent`: running
    it twice is the same as once, so it may run again after a crash. `path_argument`, `host_argument` and
    `command_argument` name the argument that a trust rule is bound to. `sandboxed`: it works on the agent's
    own computer, where calls are run one after the other, are allowed all together, and may be repeated.
    `foreign`: its results are text from outside this machine, which may be written to steer the agent.
    `audience`: only models that see pictures, or that do not, are told of it."""

    name: str
    description: str
    arguments: type[Arguments]
    risk: Risk
    undoable: bool = False
    idempotent: bool = False
    requires_approval: bool = False
    timeout: float = 120.0
    path_argument: str = ""
    host_argument: str = ""
    command_argument: str = ""
    sandboxed: bool = False
    foreign: bool = False
    audience: Literal["", "seeing", "unseeing"] = ""

    def spec(self) -> ToolSpec:
        """The tool as a model sees it: a JSON Schema without titles, to spare tokens."""
        schema = self.arguments.model_json_schema()
        return ToolSpec(self.name, self.description, _untitled(schema), repeats=self.sandboxed)


class Tool(Protocol):
    """One capability of the agent."""

    def definition(self) -> Definition: ...

    async def execute(self, arguments: Any, context: ToolContext) -> Result:
        """Run with validated `arguments` (an instance of the definition's class). A fault of the user or
        of the world is a Failure; any exception is a bug and is reported as one."""
        ...

    async def preview(self, arguments: Any, context: ToolContext) -> str:
        """What the call would change, as a diff or exact text for the approval dialogue; may be empty."""
        ...


def _untitled(schema: Any) -> Any:
    if isinstance(schema, dict):
        named = "properties" in schema
        return {
            key: (
                {name: _untitled(sub) for name, sub in value.items()}
                if key == "properties" and named
                else _untitled(value)
            )
            for key, value in schema.items()
            if not (key == "title" and isinstance(value, str))
        }
    if isinstance(schema, list):
        return [_untitled(item) for item in schema]
    return schema
