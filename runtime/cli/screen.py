"""Draws the events of a turn: the answer on the output, everything about it on the error stream."""

from __future__ import annotations

import json
from typing import assert_never

from resources.sentences import sentence
from resources.translation import _
from runtime import events
from runtime.amounts import dollars
from runtime.cli.painter import Painter
from runtime.cli.terminal import Terminal
from runtime.events import Event
from runtime.messages import JsonObject

_STATES = {
    "starting": "Starting the model…",
    "loading": "Loading {model}…",
    "waiting": "Waiting for {model}…",
    "evaluating": "Reading the conversation… {percent} %",
    "restarted": "Starting the model again…",
}
_FAILURES = {"denied": "not allowed", "unknown": "outcome unknown", "cancelled": "stopped"}
_LONGEST_ARGUMENT = 60


def arguments_in_short(arguments: JsonObject, longest: int = _LONGEST_ARGUMENT) -> str:
    """Arguments of a call on one line: the value alone when there is one, else name=value, long ones cut."""

    def shown(value: object) -> str:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        text = " ".join(text.split())
        return text if len(text) <= longest else text[: longest - 1] + "…"

    if len(arguments) == 1:
        return shown(next(iter(arguments.values())))
    return "  ".join(f"{name}={shown(value)}" for name, value in arguments.items())


class Lines:
    """`--json`: one event a line on the output, ASCII, nothing else."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def draw(self, event: Event) -> None:
        """Write `event`; an error is also said as a sentence on the error stream."""
        self._terminal.answer(json.dumps(event.as_dict(), separators=(",", ":")) + "\n")
        if isinstance(event.body, events.ErrorRaised):
            self._terminal.fault(event.body.code, event.body.fields)


class Screen:
    """Draws for a person: the answer as it comes, thinking and tools dimmed, one last line with figures."""

    def __init__(self, terminal: Terminal, *, figures: bool = True) -> None:
        self._terminal = terminal
        self._figures = figures
        self._painter: Painter | None = None
        self._thought: Painter | None = None
        self._anything = False
        self._gap = False
        self._speed = 0.0
        self._local = True
        self._cost: float | None = None

    def draw(self, event: Event) -> None:
        """Draw what `event` says; events that a terminal need not show pass silently."""
        terminal = self._terminal
        match event.body:
            case events.ResponseChunk(text=text):
                self._say(text)
            case events.ResponseComplete():
                self._close()
            case events.ThinkingStart():
                terminal.note(terminal.sign("◌ ", "") + _("Thinking"), "dim")
            case events.ThinkingChunk(text=text):
                self._think(text)
            case events.ThinkingComplete(seconds=seconds):
                self._end_thought()
                terminal.note(_("Thought for {time}").format(time=_time(seconds)) + "\n")
            case events.ModelState() as state:
                self._model(state)
            case events.UsageReport(tokens_per_second=speed, local=local, turn_cost=cost):
                self._speed, self._local, self._cost = speed, local, cost
            case events.Done() as done:
                self._done(done)
            case events.ErrorRaised(code=code, fields=fields):
                self._close()
                terminal.fault(code, fields)
            case events.Fallback() as change:
                self._close()
                fields = change.fields | {"old": change.old, "new": change.new, "reason_code": change.code}
                terminal.note(sentence("fallback_taken", **fields), "warn")
            case events.Retry(code=code, fields=fields, attempt=attempt, seconds=seconds):
                again = _("Asking again in {seconds} s ({attempt}).").format(
                    seconds=round(seconds), attempt=attempt
                )
                terminal.note(f"{sentence(code, **fields)} {again}", "warn")
            case events.Notice(code=code, fields=fields):
                self._close()
                terminal.note(sentence(code, **fields))
            case events.ToolWriting(name=name):
                terminal.status(_("Writing a call of {name}").format(name=name or _("a tool")))
            case events.Compaction():
                terminal.note(_("Older messages were summarised for the model; the stored chat is whole."))
            case events.Queued():
                terminal.note(_("Queued: it is read before the next step."))
            case events.Paused(paused=True, reason=reason):
                terminal.status(_("Paused: {reason}").format(reason=reason))
            case (
                events.ToolStart()
                | events.ToolChunk()
                | events.ToolComplete()
                | events.ToolFailed()
                | events.Boundary()
            ) as body:
                self._tool(body)
            case events.Undone(files=files):
                terminal.note(_("Taken back: {files}").format(files=", ".join(files)))
            case events.PlanCreated(steps=steps) | events.PlanUpdated(steps=steps):
                for step in steps:
                    terminal.note(f"  {step.get('status', '')}  {step.get('title', '')}")
            case events.TaskUpdate(summary=summary):
                terminal.note(summary)
            case (
                events.StateChange()
                | events.UserSaid()
                | events.Paused()
                | events.ModeChanged()
                | events.ApprovalRequired()
                | events.ApprovalReceived()
                | events.AnswerHeard()
            ):
                pass
            case _:
                assert_never(event.body)

    def _think(self, text: str) -> None:
        if self._thought is None:
            self._thought = Painter(self._terminal.width if self._terminal.err_tty else 0, colour=False)
        self._terminal.note(self._thought.feed(text), "italic", end="")

    def _end_thought(self) -> None:
        if self._thought is not None:
            self._terminal.note(self._thought.finish(), "italic", end="")
            self._thought = None
        self._terminal.end_note()

    def _say(self, text: str) -> None:
        self._anything = True
        if self._gap and self._terminal.out_tty:
            self._terminal.note("")
        self._gap = False
        if not self._terminal.out_tty:
            self._terminal.answer(text)
            return
        if self._painter is None:
            self._painter = Painter(self._terminal.width, colour=self._terminal.colour_out)
        self._terminal.answer(self._painter.feed(text))

    def _close(self) -> None:
        if self._painter is not None:
            self._terminal.answer(self._painter.finish())
            self._painter = None
        if self._anything:
            self._terminal.end_answer()
        self._anything = False

    def _model(self, state: events.ModelState) -> None:
        if state.state in ("ready", "unloaded"):
            self._terminal.clear()
            return
        percent = round(state.progress * 100)
        self._terminal.status(_(_STATES[state.state]).format(model=state.model, percent=percent))

    def _tool(
        self,
        body: events.ToolStart | events.ToolChunk | events.ToolComplete | events.ToolFailed | events.Boundary,
    ) -> None:
        terminal = self._terminal
        self._close()
        self._gap = True
        match body:
            case events.ToolStart(name=name, arguments=arguments):
                mark = terminal.sign("▸", ">")
                self._line(f"{mark} {name}  {arguments_in_short(arguments)}".rstrip(), "dim")
            case events.ToolChunk(text=text):
                terminal.note(text, end="")
            case events.ToolComplete(name=name, seconds=seconds):
                terminal.end_note()
                terminal.note(f"{terminal.sign('✓', 'ok:')} {name}  {_time(seconds)}", "good")
            case events.ToolFailed(name=name, kind=kind, text=text):
                terminal.end_note()
                reason = _(_FAILURES.get(kind, "failed"))
                what = "" if kind == "denied" else f": {' '.join(text.split())}"
                self._line(f"{terminal.sign('✗', 'failed:')} {name}  {reason}{what}", "warn")
            case events.Boundary(name=name, rule=rule):
                text = _("{name} was refused by the rule “{rule}”.").format(name=name, rule=rule)
                terminal.note(text, "warn")
            case _:
                assert_never(body)

    def _line(self, text: str, style: str) -> None:
        """A note that stays on one line of a terminal."""
        width = self._terminal.width
        cut = self._terminal.err_tty and len(text) > width
        self._terminal.note(text[: width - 1] + "…" if cut else text, style)

    def _done(self, done: events.Done) -> None:
        terminal = self._terminal
        self._close()
        self._end_thought()
        terminal.clear()
        if done.reason == "cancelled":
            terminal.note(_("Stopped."), "warn")
        if not (self._figures and terminal.err_tty):
            return
        where = _("on this machine") if self._local else _("not on this machine")
        figures = []
        if count := done.usage.get("completion", 0):
            figures.append(_("{count} tokens").format(count=count))
        if self._speed:
            figures.append(_("{speed} tokens/s").format(speed=round(self._speed)))
        if self._cost:
            figures.append(dollars(self._cost))
        elif self._cost is None and not self._local:
            figures.append(_("price not known"))
        figures += [_time(done.seconds), f"{done.model} {where}"]
        terminal.note("\n" + terminal.sign(" · ", ", ").join(figures))


def _time(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
