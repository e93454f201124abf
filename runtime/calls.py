"""Judges the calls of one reply together, asks where the user must decide, and runs them side by side."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from pydantic import ValidationError

from runtime.approvals import Approvals, Decision
from runtime.events import (
    ApprovalReceived,
    ApprovalRequired,
    Body,
    Boundary,
    ErrorRaised,
    ToolChunk,
    ToolComplete,
    ToolFailed,
    ToolStart,
)
from runtime.exchange import UNKNOWN
from runtime.gate import Gate
from runtime.hooks import Hooks
from runtime.messages import Image, JsonObject, Part, Text, ToolCall
from runtime.policy import Policy, Verdict, digest
from runtime.tools.registry import ToolRegistry
from runtime.tools.tool import Arguments, Definition, Failure, Ok, Result, Tool, ToolContext

log = logging.getLogger(__name__)

SETTLE = 0.1
CANCELLED = Failure(
    "cancelled", "The user cancelled this call while it ran; it may have taken effect in part."
)
STRANDED = Failure("error", "This call was not run, because one before it in the same reply failed.")
SANDBOX = "\0sandbox"
NOT_STARTED = Failure("cancelled", "The user cancelled before this call began; it was not run.")


class Recorder(Protocol):
    """Where records go: durable on return."""

    def __call__(self, type_: str, /, **data: Any) -> object: ...


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call whose tool exists and whose arguments are valid."""

    call: ToolCall
    tool: Tool
    definition: Definition
    arguments: Arguments

    @property
    def digest(self) -> str:
        return digest(self.call.name, self.call.arguments)


@dataclass(frozen=True, slots=True)
class Desk:
    """What running calls needs of its session; `waiting` hears whether a question or a pause holds one up,
    and each passes the `gate` before it runs."""

    registry: ToolRegistry
    policy: Policy
    approvals: Approvals
    hooks: Hooks
    record: Recorder
    emit: Callable[[Body], None]
    context: Callable[[str, Callable[[str], None]], ToolContext]
    waiting: Callable[[bool], None]
    listened: Callable[[], bool]
    gate: Gate


class Calls:
    """Runs the open calls of one reply to their results.

    When a turn goes on after a restart, `asked` and `decided` are the approvals already in the journal by
    call id, and `started` the calls that had begun: they run again only where that is harmless.
    """

    def __init__(
        self,
        desk: Desk,
        asked: dict[str, JsonObject],
        decided: dict[str, JsonObject],
        started: frozenset[str] = frozenset(),
    ) -> None:
        self._desk = desk
        self._asked = asked
        self._decided = decided
        self._started = started
        self._results: dict[str, Result] = {}
        self._running: set[str] = set()
        self._questions = 0
        self._stranded = False

    async def run(self, calls: list[ToolCall]) -> dict[str, Result]:
        """The results by call id, each in the journal before this returns.

        All calls are judged first; the allowed ones start together, the others as they are approved; those
        on the same path run in their order, so that what one writes the next can read, and so do those on
        the agent's computer, where none is run after one that failed. On cancellation every call without a
        result gets one of kind cancelled.
        """
        judged = [self._judge(call) for call in calls]
        tasks: list[asyncio.Task[None]] = []
        last: dict[str, asyncio.Task[None]] = {}
        for call, found in zip(calls, judged, strict=True):
            lane = _lane(found)
            task = asyncio.create_task(self._settle(call, found, last.get(lane)))
            tasks.append(task)
            if lane:
                last[lane] = task
        try:
            await asyncio.gather(*tasks)
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=SETTLE)
            for call in calls:
                if call.id not in self._results:
                    self._finish(call, CANCELLED if call.id in self._running else NOT_STARTED, 0.0)
            raise
        finally:
            for task in tasks:
                task.cancel()
        return self._results

    def _judge(self, call: ToolCall) -> tuple[Prepared, Verdict] | Failure:
        prepared = self.prepare(call)
        if call.id in self._started and not (
            isinstance(prepared, Prepared) and prepared.definition.idempotent
        ):
            return Failure("unknown", UNKNOWN)
        if isinstance(prepared, Failure):
            return prepared
        return prepared, self._desk.policy.judge(prepared.definition, call.arguments)

    def prepare(self, call: ToolCall) -> Prepared | Failure:
        """The call with its tool and validated arguments, or a failure the model can correct itself from."""
        registry = self._desk.registry
        tool = registry.get(call.name)
        if tool is None:
            known = [name for name in registry.names() if name in self._desk.policy.profile.allowed_tools]
            return Failure(
                "invalid", f"There is no tool {call.name!r}. The tools are: {', '.join(known) or 'none'}."
            )
        if call.error:
            return Failure("invalid", f"The arguments were not valid JSON: {call.error}. Send them again.")
        definition = tool.definition()
        try:
            arguments = definition.arguments.model_validate(call.arguments)
        except ValidationError as error:
            return Failure("invalid", explain(definition, error))
        return Prepared(call, tool, definition, arguments)

    async def _settle(
        self,
        call: ToolCall,
        found: tuple[Prepared, Verdict] | Failure,
        before: asyncio.Task[None] | None = None,
    ) -> None:
        if before is not None:
            await asyncio.wait([before])
        started = time.monotonic()
        if isinstance(found, Failure):
            self._finish(call, found, 0.0)
            return
        prepared, verdict = found
        if before is not None and verdict.action == "ask":  # the one before may have been allowed for longer
            verdict = self._desk.policy.judge(prepared.definition, prepared.call.arguments)
        if self._stranded and prepared.definition.sandboxed:
            self._finish(call, STRANDED, 0.0)
            return
        if verdict.action == "deny":
            self._desk.emit(Boundary(call.id, call.name, verdict.rule))
            self._finish(call, Failure("denied", REFUSALS[verdict.rule]), 0.0)
            return
        note = ""
        if verdict.action == "ask":
            answer = await self._decision(prepared, verdict)
            if isinstance(answer, Failure):
                self._finish(call, answer, 0.0)
                return
            prepared, note = answer
        await self._pass_gate()
        started = time.monotonic()
        result = await self._execute(prepared, verdict)
        if note and isinstance(result, Ok):
            result = replace(result, parts=(Text(note), *result.parts))
        self._finish(call, result, time.monotonic() - started)

    async def _decision(self, prepared: Prepared, verdict: Verdict) -> tuple[Prepared, str] | Failure:
        """What may run after the user's answer, with a note for the model, or the refusal."""
        call = prepared.call
        known = self._decided.get(call.id)
        if known is not None and known.get("digest") == prepared.digest:
            decision = Decision.from_data(known)
        else:
            decision = await self._ask(prepared, verdict)
        match decision.choice:
            case "approve":
                return prepared, decision.note
            case "edit":
                edited = self.prepare(replace(call, arguments=decision.arguments, error=""))
                if isinstance(edited, Failure):
                    return edited
                changed = json.dumps(decision.arguments)
                return edited, f"(The user changed the arguments to {changed} before allowing the call.)\n"
            case "deny":
                said = f" They said: {decision.note}" if decision.note else ""
                return Failure("denied", f"The user refused this call.{said} Do not try it again unasked.")
            case "expired":
                return Failure("denied", "Nobody was there to allow this call, so it was not run.")

    async def _ask(self, prepared: Prepared, verdict: Verdict) -> Decision:
        desk, call, definition = self._desk, prepared.call, prepared.definition
        context = desk.context(call.id, lambda text: None)
        preview = await prepared.tool.preview(prepared.arguments, context)
        rules, why_once = desk.policy.offers(definition, call.arguments, verdict.risk)
        question = ApprovalRequired(
            id=call.id,
            name=call.name,
            arguments=call.arguments,
            digest=prepared.digest,
            risk=verdict.risk,
            summary=definition.description.split(". ")[0],
            preview=preview,
            rules=rules,
            why_once=why_once,
        )
        if call.id not in self._asked:
            desk.record("approval", call=call.id, phase="asked", digest=question.digest, risk=verdict.risk)
        if not desk.listened():
            decision = Decision("expired", door="policy")
            desk.record("approval", call=call.id, digest=question.digest, **decision.as_data())
        else:
            self._wait(+1)
            try:
                desk.emit(question)
                decision = await desk.approvals.ask(question)
            finally:
                self._wait(-1)
        desk.emit(ApprovalReceived(call.id, decision.choice, decision.trust, decision.door))
        return decision

    def _wait(self, change: int) -> None:
        self._questions += change
        self._desk.waiting(self._questions > 0)

    async def _execute(self, prepared: Prepared, verdict: Verdict) -> Result:
        desk, call, definition = self._desk, prepared.call, prepared.definition
        for before in desk.hooks.before_tool:
            before(call)
        intent = {
            "name": call.name,
            "arguments": call.arguments,
            "digest": prepared.digest,
            "risk": verdict.risk,
        }
        desk.record("tool_intent", call=call.id, **intent)
        self._running.add(call.id)
        desk.emit(ToolStart(call.id, call.name, call.arguments, verdict.risk))
        context = desk.context(call.id, lambda text: desk.emit(ToolChunk(call.id, text)))
        try:
            async with asyncio.timeout(definition.timeout):
                result = await prepared.tool.execute(prepared.arguments, context)
        except TimeoutError:
            result = Failure(
                "timeout", f"The call took longer than {definition.timeout:g} seconds and was stopped."
            )
        except Exception as error:  # a tool's bug must not end the turn
            log.exception("tool %s failed", call.name)
            desk.emit(ErrorRaised("tool_bug", {"tool": call.name, "problem": type(error).__name__}, "bug"))
            result = Failure(
                "bug", f"The tool itself failed ({type(error).__name__}); this is a fault of the program."
            )
        for after in desk.hooks.after_tool:
            result = after(call, result)
        return result

    async def _pass_gate(self) -> None:
        """Wait while the session is paused."""
        gate = self._desk.gate
        if not gate.waits:
            await gate.passing(action=True)
            return
        self._wait(+1)
        try:
            await gate.passing(action=True)
        finally:
            self._wait(-1)

    def _finish(self, call: ToolCall, result: Result, seconds: float) -> None:
        self._results[call.id] = result
        tool = self._desk.registry.get(call.name)
        definition = tool.definition() if tool is not None else None
        self._stranded |= isinstance(result, Failure) and definition is not None and definition.sandboxed
        good = isinstance(result, Ok)
        parts = result.parts if isinstance(result, Ok) else (Text(result.message),)
        kind = "" if isinstance(result, Ok) else result.kind
        self._desk.record(
            "tool_result",
            call=call.id,
            name=call.name,
            ok=good,
            kind=kind,
            parts=[_part(part) for part in parts],
            details=result.details,
            seconds=round(seconds, 4),
            foreign=definition is not None and definition.foreign and call.id in self._running,
        )
        text = "".join(part.text for part in parts if isinstance(part, Text))
        if isinstance(result, Ok):
            self._desk.emit(ToolComplete(call.id, call.name, text, result.details, seconds))
        else:
            self._desk.emit(ToolFailed(call.id, call.name, kind, text, seconds))


def _lane(found: tuple[Prepared, Verdict] | Failure) -> str:
    """What calls may not be done side by side with: those on the same path, or on the agent's computer."""
    if isinstance(found, Failure):
        return ""
    prepared = found[0]
    if prepared.definition.sandboxed:
        return SANDBOX
    return str(prepared.call.arguments.get(prepared.definition.path_argument, ""))


REFUSALS = {
    "allowlist": "This profile does not allow that tool.",
    "stasis": "The agent is set to observe only, so nothing may be changed.",
}


def explain(definition: Definition, error: ValidationError) -> str:
    """What is wrong with the arguments, each fault in a line, and which arguments there are."""
    faults = "; ".join(
        f"{'.'.join(str(part) for part in fault['loc']) or 'arguments'}: {fault['msg']}"
        for fault in error.errors()
    )
    names = ", ".join(definition.arguments.model_fields) or "none"
    return f"Wrong arguments for {definition.name}: {faults}. It takes: {names}."


def _part(part: Part) -> JsonObject:
    if isinstance(part, Image):
        return {"type": "image", "media_type": part.media_type, "data": part.data}
    return {"type": "text", "text": part.text}
