"""Everything the agent does, as a closed union of frozen dataclasses that every door draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from runtime.messages import JsonObject

State = Literal["IDLE", "PLANNING", "THINKING", "TOOL_CALLING", "OBSERVING", "COMPILING", "PAUSED"]
Risk = Literal["low", "medium", "high"]
Trust = Literal["once", "5min", "session", "always"]

# --- the turn ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StateChange:
    """The state machine moved."""

    old: State
    new: State
    type: Literal["state_change"] = "state_change"


@dataclass(frozen=True, slots=True)
class UserSaid:
    """A message entered the conversation; `id` is its journal record, `source` the door it came through."""

    id: str
    text: str
    source: str
    steering: bool = False
    type: Literal["user_message"] = "user_message"


@dataclass(frozen=True, slots=True)
class Queued:
    """A message was accepted while the agent works; it enters before the next model call."""

    text: str
    type: Literal["queued"] = "queued"


@dataclass(frozen=True, slots=True)
class Paused:
    """The session was paused (`paused` true) or goes on (false), and why."""

    paused: bool
    reason: str
    type: Literal["paused"] = "paused"


@dataclass(frozen=True, slots=True)
class ModeChanged:
    """The mode of work or of autonomy, the profile or the model of this session changed."""

    mode: str
    profile: str
    model: str
    type: Literal["mode_changed"] = "mode_changed"


@dataclass(frozen=True, slots=True)
class Done:
    """The turn ended; `usage` sums all its model calls, `seconds` is its wall time."""

    reason: Literal["complete", "cancelled", "error", "iterations", "budget", "stopped"]
    iterations: int
    usage: dict[str, int]
    seconds: float
    model: str
    type: Literal["done"] = "done"


@dataclass(frozen=True, slots=True)
class ErrorRaised:
    """Something failed; `code` and `fields` are phrased by the door, `fault` says whose it is."""

    code: str
    fields: dict[str, str | int | float]
    fault: str
    type: Literal["error"] = "error"


# --- the plan ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlanCreated:
    """The model broke the task into steps: {id, title, status, tools}."""

    steps: list[JsonObject]
    type: Literal["plan_created"] = "plan_created"


@dataclass(frozen=True, slots=True)
class PlanUpdated:
    """A step of the plan changed."""

    steps: list[JsonObject]
    type: Literal["plan_updated"] = "plan_updated"


@dataclass(frozen=True, slots=True)
class TaskUpdate:
    """The task tree changed."""

    tasks: list[JsonObject]
    summary: str
    type: Literal["task_update"] = "task_update"


# --- the model --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ThinkingStart:
    """The model began to reason."""

    type: Literal["thinking_start"] = "thinking_start"


@dataclass(frozen=True, slots=True)
class ThinkingChunk:
    """More of the reasoning."""

    text: str
    type: Literal["thinking_chunk"] = "thinking_chunk"


@dataclass(frozen=True, slots=True)
class ThinkingComplete:
    """The reasoning ended after `seconds`."""

    seconds: float
    type: Literal["thinking_complete"] = "thinking_complete"


@dataclass(frozen=True, slots=True)
class ResponseChunk:
    """More of the answer."""

    text: str
    type: Literal["response_chunk"] = "response_chunk"


@dataclass(frozen=True, slots=True)
class ResponseComplete:
    """One reply is whole; `final` is false when tool calls follow, `id` is its journal record."""

    id: str
    text: str
    final: bool
    stop_reason: str
    type: Literal["response_complete"] = "response_complete"


@dataclass(frozen=True, slots=True)
class AnswerHeard:
    """Of the spoken answer `id` only its beginning `text` was heard; `whole` takes an earlier cut back."""

    id: str
    text: str
    whole: bool
    type: Literal["heard"] = "heard"


@dataclass(frozen=True, slots=True)
class UsageReport:
    """Tokens of one model call and how fast they came; `local` says whether they stayed on this machine.
    `cost` is what the call cost in US dollars, `turn_cost` and `session_cost` what the turn and the session
    cost up to now; None where a price is not known."""

    prompt: int
    completion: int
    cached: int
    reasoning: int
    tokens_per_second: float
    window: int
    local: bool
    cache_written: int = 0
    provider: str = ""
    model: str = ""
    cost: float | None = None
    turn_cost: float | None = None
    session_cost: float | None = None
    type: Literal["usage"] = "usage"


@dataclass(frozen=True, slots=True)
class ModelState:
    """Where the model is: starting, loading, waiting, evaluating (with `progress` 0–1), ready, restarted."""

    state: Literal["starting", "loading", "waiting", "evaluating", "ready", "restarted", "unloaded"]
    model: str
    progress: float = 0.0
    type: Literal["model_state"] = "model_state"


@dataclass(frozen=True, slots=True)
class Fallback:
    """Another model answers from the beginning, because of the fault `code` with its `fields`. `text` is
    what `old` had said of its answer until then."""

    old: str
    new: str
    code: str
    fields: dict[str, str | int | float] = field(default_factory=dict)
    text: str = ""
    type: Literal["fallback"] = "fallback"


@dataclass(frozen=True, slots=True)
class Retry:
    """A service failed for a passing reason and is asked again after `seconds`; nothing was shown yet."""

    code: str
    fields: dict[str, str | int | float]
    attempt: int
    seconds: float
    type: Literal["retry"] = "retry"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know once, phrased by the door from `code` and `fields`."""

    code: str
    fields: dict[str, str | int | float]
    type: Literal["notice"] = "notice"


@dataclass(frozen=True, slots=True)
class Compaction:
    """Older messages were summarised for the model; the stored transcript is whole at `archive`."""

    before: int
    after: int
    archive: str
    type: Literal["compaction"] = "compaction"


# --- tools ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ToolWriting:
    """The model is writing a call: the tool's `name`, if known yet, and more `text` of its arguments."""

    name: str
    text: str
    type: Literal["tool_call_writing"] = "tool_call_writing"


@dataclass(frozen=True, slots=True)
class ToolStart:
    """A tool began to run."""

    id: str
    name: str
    arguments: JsonObject
    risk: Risk
    type: Literal["tool_call_start"] = "tool_call_start"


@dataclass(frozen=True, slots=True)
class ToolChunk:
    """Output of a running tool."""

    id: str
    text: str
    type: Literal["tool_call_chunk"] = "tool_call_chunk"


@dataclass(frozen=True, slots=True)
class ToolComplete:
    """A tool succeeded; `text` is what the model sees, `details` is for the window (diff, files, change)."""

    id: str
    name: str
    text: str
    details: JsonObject
    seconds: float
    type: Literal["tool_call_complete"] = "tool_call_complete"


@dataclass(frozen=True, slots=True)
class ToolFailed:
    """A tool did not do its work; `kind` is invalid, denied, error, timeout, cancelled, unknown or bug."""

    id: str
    name: str
    kind: str
    text: str
    seconds: float
    type: Literal["tool_call_failed"] = "tool_call_failed"


@dataclass(frozen=True, slots=True)
class Boundary:
    """The policy refused a call; `rule` names what refused it."""

    id: str
    name: str
    rule: str
    type: Literal["boundary"] = "boundary"


@dataclass(frozen=True, slots=True)
class ApprovalRequired:
    """The user must decide. `digest` is the hash of the exact call, `rules` maps each trust duration on offer
    to the rule it would make, `preview` is a diff or the like; `why_once` is a sentence's code."""

    id: str
    name: str
    arguments: JsonObject
    digest: str
    risk: Risk
    summary: str
    preview: str
    rules: dict[str, str]
    why_once: str = ""
    type: Literal["approval_required"] = "approval_required"


@dataclass(frozen=True, slots=True)
class ApprovalReceived:
    """A decision arrived, through which door, and for how long it holds."""

    id: str
    decision: Literal["approve", "deny", "edit", "expired"]
    trust: Trust
    door: str
    type: Literal["approval_received"] = "approval_received"


@dataclass(frozen=True, slots=True)
class Undone:
    """The user took back a change; `files` are the paths restored."""

    change: str
    files: list[str]
    type: Literal["undo"] = "undo"


Body = (
    StateChange
    | UserSaid
    | Queued
    | Paused
    | ModeChanged
    | Done
    | ErrorRaised
    | PlanCreated
    | PlanUpdated
    | TaskUpdate
    | ThinkingStart
    | ThinkingChunk
    | ThinkingComplete
    | ResponseChunk
    | ResponseComplete
    | AnswerHeard
    | UsageReport
    | ModelState
    | Fallback
    | Retry
    | Notice
    | Compaction
    | ToolWriting
    | ToolStart
    | ToolChunk
    | ToolComplete
    | ToolFailed
    | Boundary
    | ApprovalRequired
    | ApprovalReceived
    | Undone
)


@dataclass(frozen=True, slots=True)
class Event:
    """A body with its envelope: `seq` counts per session from 1, `time` is seconds since the epoch."""

    seq: int
    session: str
    turn: str
    time: float
    body: Body = field()

    def as_dict(self) -> dict[str, Any]:
        """The flat wire form {"type", "seq", "session", "turn", "time", …}; JSON-serialisable."""
        body = asdict(self.body)
        envelope = {"type": body.pop("type"), "seq": self.seq, "session": self.session, "turn": self.turn}
        return envelope | {"time": round(self.time, 3)} | body


Listener = Callable[[Event], None]
