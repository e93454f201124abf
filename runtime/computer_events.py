"""What the agent's computer tells those who watch it: frozen, serialisable, told on the runtime's loop."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from runtime.errors import Field

Phase = Literal["off", "unavailable", "no_image", "building", "starting", "running", "lost", "stopping"]
Remedy = Literal["build", "start", "stop", "restart", "reset", "retry"]
"""What a door may offer in a phase; each is the method of that name of AgentComputer, `retry` is `start`."""

Holder = Literal["nobody", "agent", "user"]

REMEDIES: dict[Phase, tuple[Remedy, ...]] = {
    "off": ("start",),
    "unavailable": ("retry",),
    "no_image": ("build",),
    "building": (),
    "starting": ("stop",),
    "running": ("stop", "restart", "reset"),
    "lost": ("retry", "reset"),
    "stopping": (),
}


@dataclass(frozen=True, slots=True)
class ComputerState:
    """Where the computer is. `code` and `fields` make the sentence of what is wrong, empty where nothing is;
    `detail` is a line of what is being done just now, `progress` 0–1 of it while building."""

    phase: Phase
    code: str = ""
    fields: dict[str, Field] = field(default_factory=dict)
    detail: str = ""
    progress: float = 0.0

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """What can be done now, the likeliest first."""
        return ("start",) if self.phase == "off" and not self.code else _remedies(self)


def _remedies(state: ComputerState) -> tuple[Remedy, ...]:
    return () if state.code == "sandbox_off" else REMEDIES[state.phase]


@dataclass(frozen=True, slots=True)
class StateChanged:
    """The computer is in another state, or got further in it."""

    state: ComputerState
    type: Literal["state_changed"] = "state_changed"


@dataclass(frozen=True, slots=True)
class ActionSeen:
    """An action of the agent on the screen: `id` pairs its beginning with its end, `point` is a pixel of the
    screen, `verdict` is confirmed, no_change, unclear or empty, `time` is seconds since the epoch."""

    session: str
    id: int
    phase: Literal["begun", "ended"]
    action: str
    summary: str
    point: tuple[int, int] | None
    verdict: str
    seconds: float
    time: float
    type: Literal["action_seen"] = "action_seen"


@dataclass(frozen=True, slots=True)
class WheelChanged:
    """Who moves the mouse: nobody, the agent in `session`, or the user, while that session waits; `paused`
    tells that the session waits, `stepping` that it may do one more action."""

    holder: Holder
    session: str
    paused: bool
    stepping: bool = False
    type: Literal["wheel_changed"] = "wheel_changed"


@dataclass(frozen=True, slots=True)
class ReviewChanged:
    """What the agent changed in its copy of the workspace: `pending` proposals wait for the user. `run` is
    the id of the newest run that changed something, "" for none."""

    session: str
    pending: int
    run: str = ""
    type: Literal["review_changed"] = "review_changed"


@dataclass(frozen=True, slots=True)
class ClipboardCopied:
    """The user took the clipboard's text out of the computer; nothing inside can do that by itself."""

    text: str
    type: Literal["clipboard_copied"] = "clipboard_copied"


@dataclass(frozen=True, slots=True)
class HostWanted:
    """Something inside wants to reach a host that was not allowed: the question `id` waits in the chat of
    `session`; with `answered` it does so no more."""

    id: str
    host: str
    port: int
    session: str
    answered: bool = False
    type: Literal["host_wanted"] = "host_wanted"


ComputerEvent = StateChanged | ActionSeen | WheelChanged | ReviewChanged | ClipboardCopied | HostWanted


def as_dict(event: ComputerEvent) -> dict[str, Any]:
    """The flat wire form; JSON-serialisable."""
    return asdict(event)
