"""The agent's loop: assemble the context, stream the model, run the tools, until the model stops."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from typing import Literal

from runtime.calls import Calls, Desk
from runtime.chain import Chain, Link
from runtime.errors import OrionError
from runtime.events import (
    Body,
    Done,
    ErrorRaised,
    Fallback,
    Notice,
    ResponseComplete,
    UsageReport,
)
from runtime.gate import Gate
from runtime.journal import Record
from runtime.messages import AssistantMessage, Usage
from runtime.profiles import Profile
from runtime.providers.provider import Finished, Notices, Request, TextDelta
from runtime.purse import FREE, Bill, Purse, guess, seller
from runtime.redaction import plainly
from runtime.reply import Reply
from runtime.states import StateMachine
from runtime.tools.tool import Failure
from runtime.transcript import Transcript

log = logging.getLogger(__name__)

# Ends that are no fault but must be told, with the code of their sentence.
TOLD = {"iterations": "turn_iterations", "budget": "turn_budget", "stopped": "turn_stopped"}

Reason = Literal["complete", "cancelled", "error", "iterations", "budget", "stopped"]


@dataclass(frozen=True, slots=True)
class Work:
    """What one turn works with. `purse` pays for its model calls; `record` appends to the journal and the
    transcript and returns the record; `admit` lets queued messages in and says whether there were any; `fit`
    makes the next request, small enough for the model of a link; `gate` is shut while paused; `permit`
    gives what to tell before the model of a link is asked, or raises OrionError where it must not be."""

    session: str
    profile: Profile
    chain: Chain
    transcript: Transcript
    states: StateMachine
    desk: Desk
    purse: Purse
    gate: Gate
    record: Callable[..., Record]
    admit: Callable[[], bool]
    emit: Callable[[Body], None]
    fit: Callable[[Link], Awaitable[Request]]
    permit: Callable[[Link], Notices]
    max_iterations: int


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
            reason = self._failed(OrionError("bug", fault="bug", problem=plainly(error)))
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
        if self._work.gate.waits:
            self._work.states.to("PAUSED")
            await self._work.gate.passing()
            self._work.states.back()

    async def _run_calls(self) -> bool:
        """Settle all open calls; true when one of them failed."""
        transcript = self._work.transcript
        calls = Calls(self._work.desk, transcript.asked, transcript.decided, frozenset(transcript.started))
        results = await calls.run(list(transcript.open_calls.values()))
        return any(isinstance(result, Failure) for result in results.values())

    async def _reply(self) -> bool:
        """One model call, by another model where the first cannot be reached; true when it asks for tools."""
        work = self._work
        while True:
            link = work.chain.link
            reply = Reply(link.model, work.emit, work.transcript.exchange.call_ids)
            bill = await self._stream(link, reply)
            if isinstance(reply.end, Finished):
                return self._complete(link, reply, reply.end, bill)
            missing_end = OrionError("reply_cut_short", fault="provider", model=link.model)
            error = reply.end.error if reply.end else missing_end
            if not work.chain.step(error):
                self._record(link, reply, "error", bill)
                self._notices(bill.notices)
                raise error
            self._hand_over(link, reply, error)
            self._notices(bill.notices)

    async def _stream(self, link: Link, reply: Reply) -> Bill:
        """Let `reply` take what the model says; what that cost. Raises OrionError where a cap forbids it."""
        work = self._work
        self._notices(work.permit(link))
        work.purse.allow(seller(link), link.model)
        request = await work.fit(link)
        for change in work.desk.hooks.before_model:
            request = change(request)
        began = time.monotonic()
        try:
            async with aclosing(link.provider.stream(request)) as stream:
                async for item in stream:
                    if isinstance(item, TextDelta):
                        work.states.to("COMPILING")
                    reply.take(item)
        except asyncio.CancelledError:
            bill = self._pay(link, request, reply, began)
            self._record(link, reply, "cancelled", bill)
            self._notices(bill.notices)
            raise
        return self._pay(link, request, reply, began)

    def _pay(self, link: Link, request: Request, reply: Reply, began: float) -> Bill:
        """Enter the call into the accounts. Where the reply broke off, or the service counts nothing, nobody
        told its tokens: they are guessed, since they are billed all the same, unless it failed before it
        said anything."""
        end, traits = reply.end, seller(link)
        usage = end.usage if isinstance(end, Finished) else Usage()
        told = isinstance(end, Finished) and (traits.local or usage != Usage())
        if not isinstance(end, Finished) and not reply.begun and (end is not None or traits.local):
            return FREE
        if not told:
            usage = guess(request, reply.written)
        if isinstance(end, Finished):
            reply.end = replace(end, usage=usage)
        seconds, turn = round(time.monotonic() - began, 3), self._work.transcript.turn
        return self._work.purse.pay(traits, link.model, turn, usage, seconds, estimated=not told)

    def _hand_over(self, link: Link, reply: Reply, error: OrionError) -> None:
        """Another model answers from the beginning; what there was of the answer is kept to be looked at."""
        work = self._work
        told = Fallback(link.name, work.chain.link.name, error.code, error.fields, "".join(reply.text))
        work.record("fallback", **{key: value for key, value in asdict(told).items() if key != "type"})
        work.emit(told)
        work.states.to("THINKING")

    def _complete(self, link: Link, reply: Reply, end: Finished, bill: Bill) -> bool:
        work = self._work
        record = self._record(link, reply, end.stop_reason, bill)
        text = "".join(reply.text)
        work.emit(ResponseComplete(record.id if record else "", text, not reply.calls, end.stop_reason))
        self._usage += end.usage
        traits, speed = link.provider.traits(link.model), round(end.tokens_per_second, 2)
        report = UsageReport(
            **asdict(end.usage), tokens_per_second=speed, window=end.window, local=traits.local
        )
        report = replace(report, cost=bill.cost, turn_cost=bill.turn, session_cost=bill.session)
        work.emit(replace(report, provider=traits.name, model=link.model))
        self._notices((*end.notices, *bill.notices))
        message = AssistantMessage(text, reply.blocks, tuple(reply.calls), traits.name)
        for after in work.desk.hooks.after_model:
            after(message)
        return bool(reply.calls)

    def _record(self, link: Link, reply: Reply, stop_reason: str, bill: Bill) -> Record | None:
        """Journal what came; nothing for a reply that broke off before its first word."""
        if not isinstance(reply.end, Finished) and not reply.text:
            return None
        provider = link.provider.traits(link.model).name
        data = reply.as_data(stop_reason) | {"cost": bill.cost}
        return self._work.record("assistant", **data, provider=provider, model=link.model)

    def _notices(self, notices: Notices) -> None:
        """Tell the user each of them once in a conversation."""
        for code, fields in notices:
            key = f"{code} {sorted(fields.items())}"
            if key not in self._work.transcript.told:
                self._work.record("notice", code=code, fields=fields, key=key)
                self._work.emit(Notice(code, fields))

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
        done = Done(reason, work.transcript.iterations, asdict(self._usage), seconds, work.chain.link.model)
        try:
            work.record("done", **{key: value for key, value in asdict(done).items() if key != "type"})
        except OrionError as error:
            work.emit(ErrorRaised(error.code, error.fields, error.fault))
        work.states.to("IDLE")
        work.emit(done)
        for after in work.desk.hooks.after_turn:
            after(done)
        return done
