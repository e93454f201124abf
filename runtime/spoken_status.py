"""What the program is doing right now, as one sentence to be said."""

from __future__ import annotations

from dataclasses import dataclass, field

from resources.translation import _, ngettext
from runtime.events import (
    ApprovalReceived,
    ApprovalRequired,
    Body,
    Done,
    ModelState,
    Paused,
    Retry,
    State,
    StateChange,
    ToolComplete,
    ToolFailed,
    ToolStart,
)


@dataclass(frozen=True, slots=True)
class _Running:
    name: str
    about: str
    since: float


@dataclass(slots=True)
class Status:
    """Follows the events of one session with the time of each, in seconds of one clock."""

    state: State = "IDLE"
    since: float = 0.0
    paused: bool = False
    waiting_for: str = ""
    model: ModelState | Retry | None = None
    running: dict[str, _Running] = field(default_factory=dict)

    def note(self, body: Body, now: float) -> None:
        """Take one more event into account."""
        match body:
            case StateChange(new=new):
                if self.state == "IDLE":
                    self.since = now
                self.state = new
            case Done():
                self.state, self.model, self.waiting_for = "IDLE", None, ""
                self.running.clear()
            case Paused(paused=paused):
                self.paused = paused
            case ModelState() | Retry():
                self.model = body
            case ToolStart():
                about = str(body.arguments.get("path", ""))
                self.running[body.id] = _Running(body.name, about, now)
            case ToolComplete() | ToolFailed():
                self.running.pop(body.id, None)
            case ApprovalRequired():
                self.waiting_for = body.name
            case ApprovalReceived():
                self.waiting_for = ""
            case _:
                pass

    def sentence(self, now: float) -> str:
        """What goes on at `now`."""
        if self.waiting_for:
            return _("I am waiting for you to allow {tool}.").format(tool=_words(self.waiting_for))
        if self.running:
            tool = max(self.running.values(), key=lambda one: one.since)
            what = f"{_words(tool.name)} `{tool.about}`" if tool.about else _words(tool.name)
            return _("I am running {tool}, for {time} now.").format(tool=what, time=_time(now - tool.since))
        if self.paused:
            return _("I have paused. Say go on, and I will.")
        if self.state == "IDLE":
            return _("I am not working on anything.")
        if self.state == "COMPILING":
            return _("I am writing the answer, for {time} now.").format(time=_time(now - self.since))
        match self.model:
            case ModelState(state="loading" | "starting"):
                return _("The model is still being loaded.")
            case ModelState(state="waiting"):
                return _("I am waiting for the model, which is busy with something else.")
            case ModelState(state="evaluating", progress=done):
                return _("I am reading, {percent} percent are done.").format(percent=round(100 * done))
            case Retry():
                return _("The service did not answer; I am asking again.")
            case _:
                return _("I am thinking, for {time} now.").format(time=_time(now - self.since))


def _words(tool: str) -> str:
    return tool.replace("_", " ")


def _time(seconds: float) -> str:
    whole = max(1, round(seconds))
    if whole < 90:
        return ngettext("one second", "{n} seconds", whole).format(n=whole)
    minutes = round(whole / 60)
    return ngettext("one minute", "{n} minutes", minutes).format(n=minutes)
