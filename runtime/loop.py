"""The agent's loop: assemble the context, stream the model, run the tools, until the model stops."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from typing import Literal

from runtime.calls import Calls, Desk
from runtime.errors import OrionError
from runtime.events import (
    Body,
    Done,
    ErrorRaised,
    ModelState,
    ResponseChunk,
    ResponseComplete,
    ThinkingChunk,
    ThinkingComplete,
    ThinkingStart,
    UsageReport,
)
from runtime.journal import Record
from runtime.messages import AssistantMessage, Reasoning, ToolCall, Usage
from runtime.profiles import Profile
from runtime.providers.provider import (
    CallReady,
    Failed,
    Finished,
    Progress,
    Provider,
    ReasoningDelta,
    Request,
    TextDelta,
)
from runtime.states import StateMachine
from runtime.tools.tool import Failure
from runtime.transcript import Transcript

log = logging.getLogger(__name__)

# Ends that are no fault but must be told, with the code of their sentence.
TOLD = {"iterations": "turn_iterations", "budget": "turn_budget", "stopped": "turn_stopped"}

Reason = Literal["complete", "cancelled", "error", "iterations", "budget", "stopped"]


@dataclass(frozen=True, slots=True)
class Work:
    """What one turn works with. `record` appends to the journal and the transcript and returns the record;
    `admit` lets queued messages in and says whether there were any; `fit` makes the next
    request, small enough for the model; `gate` is set unless paused."""

    session: str
    profile: Profile
    model: str
    provider: Provider
    transcript: Transcript
    states: StateMachine
    desk: Desk
    gate: asyncio.Event
    record: Callable[..., Record]
    admit: Callable[[], bool]
    emit: Callable[[Body], None]
    fit: Callable[[], Awaitable[Request]]
    max_iterations: int


@dataclass(slots=True)
class Reply:
    """A reply as it comes in; `open_thought` is when the running thought began."""

    text: list[str] = field(default_factory=list)
    thoughts: list[Reasoning] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    end: Finished | Failed | None = None
    open_thought: float = 0.0
    thinking_seconds: float = 0.0


class Turn:
    """One turn of one session: from a message to the answer, or from where a crash left it.

    All resumable state is the transcript; calling `run` on one with open calls settles those first.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self._usage = Usage()
        self._started = time.monotonic()

    async def run(self) -> Done:
        """Work until there is nothing left to do. Never raises: faults and cancellation end in Done."""
        try:
            for before in self._work.desk.hooks.before_turn:
                before(self._work.session)
            reason = await self._steps()
            if reason in TOLD:
                self._tell(OrionError(TOLD[reason], limit=self._work.max_iterations))
        except asyncio.CancelledError:
            reason = "cancelled"
        except OrionError as error:
            reason = self._failed(error)
        except Exception as error:  # whatever happens in a turn, the session and the program go on
            log.exception("the turn failed")
            problem = f"{type(error).__name__}: {error}"
            reason = self._failed(OrionError("bug", fault="bug", problem=problem))
        return self._finish(reason)

    async def _steps(self) -> Reason:
        work = self._work
        while True:
            if work.states.state in ("IDLE", "OBSERVING"):
                work.states.to("THINKING")
            if work.transcript.open_calls:
                work.states.to("TOOL_CALLING")
            await self._unpaused()
            if work.transcript.open_calls:
                if await self._run_calls() and work.profile.policy.tool_failure_mode == "stop":
                    return "stopped"
                work.states.to("OBSERVING")
                continue
            work.admit()
            if work.transcript.iterations >= work.max_iterations:
                return "iterations"
            budget = work.profile.policy.token_budget
            if budget and self._usage.prompt + self._usage.completion >= budget:
                return "budget"
            if not await self._reply():
                return "complete"

    async def _unpaused(self) -> None:
        """Wait at the gate; shown as PAUSED meanwhile."""
        if not self._work.gate.is_set():
            self._work.states.to("PAUSED")
            await self._work.gate.wait()
            self._work.states.back()

    async def _run_calls(self) -> bool:
        """Settle all open calls; true when one of them failed."""
        transcript = self._work.transcript
        calls = Calls(self._work.desk, transcript.asked, transcript.decided, frozenset(transcript.started))
        results = await calls.run(list(transcript.open_calls.values()))
        return any(isinstance(result, Failure) for result in results.values())

    async def _reply(self) -> bool:
        """One model call; true when the reply asks for tools."""
        work, reply = self._work, Reply()
        request = await work.fit()
        for change in work.desk.hooks.before_model:
            request = change(request)
        try:
            async with aclosing(work.provider.stream(request)) as stream:
                async for item in stream:
                    self._take(item, reply)
        except asyncio.CancelledError:
            self._record(reply, "cancelled")
            raise
        return self._complete(reply)

    def _take(self, item: object, reply: Reply) -> None:
        emit, states = self._work.emit, self._work.states
        match item:
            case ReasoningDelta(text, opaque):
                if not reply.open_thought:
                    reply.open_thought = time.monotonic()
                    emit(ThinkingStart())
                reply.thoughts.append(Reasoning(text, opaque))
                emit(ThinkingChunk(text))
            case TextDelta(text):
                self._end_thought(reply)
                states.to("COMPILING")
                reply.text.append(text)
                emit(ResponseChunk(text))
            case CallReady(call):
                self._end_thought(reply)
                reply.calls.append(call)
            case Progress(state, fraction):
                emit(ModelState(state, self._work.model, fraction))
            case Finished() | Failed():
                self._end_thought(reply)
                reply.end = item

    def _end_thought(self, reply: Reply) -> None:
        if reply.open_thought:
            seconds = time.monotonic() - reply.open_thought
            reply.thinking_seconds += seconds
            reply.open_thought = 0.0
            self._work.emit(ThinkingComplete(round(seconds, 3)))

    def _complete(self, reply: Reply) -> bool:
        end, work = reply.end, self._work
        if not isinstance(end, Finished):
            self._record(reply, "error")
            raise end.error if end else OrionError("reply_cut_short", fault="provider", model=work.model)
        record = self._record(reply, end.stop_reason)
        text = "".join(reply.text)
        work.emit(ResponseComplete(record.id if record else "", text, not reply.calls, end.stop_reason))
        self._usage += end.usage
        speed, local = round(end.tokens_per_second, 2), work.provider.traits.local
        work.emit(UsageReport(**asdict(end.usage), tokens_per_second=speed, window=end.window, local=local))
        message = AssistantMessage(text, _joined(reply.thoughts), tuple(reply.calls))
        for after in work.desk.hooks.after_model:
            after(message)
        return bool(reply.calls)

    def _record(self, reply: Reply, stop_reason: str) -> Record | None:
        """Journal what came; calls of a reply that broke off were never whole and are left out."""
        whole = isinstance(reply.end, Finished)
        if not whole and not reply.text:
            return None
        end = reply.end
        usage = asdict(end.usage) if isinstance(end, Finished) else {}
        return self._work.record(
            "assistant",
            text="".join(reply.text),
            reasoning=[{"text": part.text, "opaque": part.opaque} for part in _joined(reply.thoughts)],
            calls=[asdict(call) for call in reply.calls] if whole else [],
            complete=whole,
            stop_reason=stop_reason,
            provider=self._work.provider.traits.name,
            model=self._work.model,
            usage=usage,
            thinking_seconds=round(reply.thinking_seconds, 3),
        )

    def _failed(self, error: OrionError) -> Reason:
        self._tell(error)
        return "error"

    def _tell(self, error: OrionError) -> None:
        self._work.emit(ErrorRaised(error.code, error.fields, error.fault))
        try:
            self._work.record("error", code=error.code, fields=error.fields, fault=error.fault)
        except OrionError as unwritable:
            log.error("the journal cannot be written: %s", unwritable)

    def _finish(self, reason: Reason) -> Done:
        work = self._work
        seconds = round(time.monotonic() - self._started, 3)
        done = Done(reason, work.transcript.iterations, asdict(self._usage), seconds, work.model)
        try:
            work.record("done", **{key: value for key, value in asdict(done).items() if key != "type"})
        except OrionError as error:
            work.emit(ErrorRaised(error.code, error.fields, error.fault))
        work.states.to("IDLE")
        work.emit(done)
        for after in work.desk.hooks.after_turn:
            after(done)
        return done


def _joined(thoughts: list[Reasoning]) -> tuple[Reasoning, ...]:
    """Pieces joined into blocks; a signature closes its block."""
    blocks: list[Reasoning] = []
    open_block = False
    for piece in thoughts:
        if open_block:
            blocks[-1] = Reasoning(blocks[-1].text + piece.text, piece.opaque)
        else:
            blocks.append(piece)
        open_block = not piece.opaque
    return tuple(blocks)
