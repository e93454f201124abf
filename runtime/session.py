"""One conversation: its journal, its turns one after the other, and what doors may ask of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from runtime import context
from runtime.approvals import Approvals, Choice, Decision
from runtime.calls import Desk
from runtime.errors import OrionError
from runtime.events import (
    ApprovalRequired,
    Done,
    ErrorRaised,
    Listener,
    ModeChanged,
    Paused,
    Queued,
    State,
    Trust,
    Undone,
    UserSaid,
)
from runtime.hooks import Hooks
from runtime.journal import Journal, Record
from runtime.locks import Lock
from runtime.loop import Turn, Work
from runtime.messages import Image, JsonObject, Usage
from runtime.outlet import Outlet
from runtime.paths import Home
from runtime.policy import Autonomy, Policy
from runtime.profiles import Profile, Profiles
from runtime.providers.provider import Provider
from runtime.rows import Rows
from runtime.rules import Rule, RuleBook
from runtime.states import StateMachine
from runtime.stimulus import Stimulus
from runtime.tools.registry import ToolRegistry
from runtime.tools.tool import ToolContext
from runtime.transcript import Transcript
from runtime.workspace import Workspace

TITLE_LENGTH = 60


@dataclass(frozen=True, slots=True)
class House:
    """What all sessions of a process share. `provider` gives the client for a profile and model."""

    home: Home
    profiles: Profiles
    registry: ToolRegistry
    rules: RuleBook
    workspace: Workspace
    hooks: Hooks
    provider: Callable[[Profile, str], Provider]
    bounded_iterations: Callable[[], int]
    autonomy: Callable[[], Autonomy]


class Session:
    """A conversation that is open in this process. Used from the runtime's loop only; closed by it.

    Everything a door needs comes as events; `rows` is the
    transcript as it stands.
    """

    def __init__(self, house: House, session_id: str, journal: Journal, lock: Lock | None) -> None:
        self.id = session_id
        self.private = journal.path is None
        self._house = house
        self._journal = journal
        self._lock = lock
        self._outlet = Outlet(session_id)
        self._states = StateMachine(self._outlet.emit)
        self._approvals = Approvals()
        self._gate = asyncio.Event()
        self._gate.set()
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._transcript = Transcript(journal.chain())
        for record in journal.records:
            if record.type == "approval" and isinstance(rule := record.data.get("rule"), dict):
                house.rules.add(Rule(**rule))

    # --- what it is ---------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        return self._journal.title

    @property
    def profile(self) -> str:
        return self._transcript.settings.get("profile", "") or "orion-local"

    @property
    def model(self) -> str:
        """The model's name; empty where the profile is gone."""
        if model := self._transcript.settings.get("model", ""):
            return model
        known = self.profile in self._house.profiles.names()
        return self._house.profiles.get(self.profile).model if known else ""

    @property
    def autonomy(self) -> Autonomy:
        return (
            "auto" if self._transcript.settings.get("autonomy", self._house.autonomy()) == "auto" else "semi"
        )

    @property
    def closed(self) -> bool:
        """Whether the journal was let go; a closed session takes no more messages."""
        return self._closed

    @property
    def state(self) -> State:
        return self._states.state

    @property
    def busy(self) -> bool:
        return self._task is not None and not self._task.done()

    @property
    def interrupted(self) -> bool:
        """Whether a turn was cut off, or a message still waits for one: `continue_` goes on from there."""
        return bool(self._transcript.turn or self._transcript.queued) and not self.busy

    @property
    def pending(self) -> list[ApprovalRequired]:
        return self._approvals.pending

    @property
    def messages(self) -> int:
        """How many messages a model would be shown."""
        return len(self._transcript.messages)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every event, in order, on the loop's thread; returns what ends that."""
        return self._outlet.subscribe(listener)

    def rows(self) -> list[JsonObject]:
        """The transcript to draw; see Rows."""
        return Rows(self._journal.chain(), self._journal.damage).settle(self.busy)

    def rules(self) -> list[JsonObject]:
        """The standing permissions that hold here, each with its text."""
        return [asdict(rule) | {"text": rule.text()} for rule in self._house.rules.of(self.id)]

    def revoke(self, rule_id: str) -> None:
        """Take a standing permission back."""
        self._house.rules.revoke(rule_id)

    # --- what it does -------------------------------------------------------------------------------

    async def submit(self, text: str, source: str = "window", images: tuple[Image, ...] = ()) -> str:
        """Take a message; durable when this returns its record id.

        It starts a turn, or is queued while one runs and enters before the next model call.
        """
        stimulus = Stimulus(text, source, images)
        if self.busy:
            record = self._record("queued", **stimulus.as_data())
            self._outlet.emit(Queued(text))
            return record.id
        if self._transcript.turn:
            self._record("done", reason="stopped")
        self._admit()
        record = self._enter(stimulus)
        if not self.title:
            self._record("title", title=" ".join(text.split())[:TITLE_LENGTH] or "…")
        self._start()
        return record.id

    def cancel(self) -> None:
        """Stop the turn; Done follows within 200 ms. Without a turn it does nothing."""
        if self._task is not None:
            self._task.cancel()

    def pause(self, reason: str) -> None:
        """Let the running step finish and begin no other until `resume`."""
        if self._gate.is_set():
            self._gate.clear()
            self._outlet.emit(Paused(True, reason))

    def resume(self, note: str = "") -> None:
        """Go on after a pause; `note` tells the model what happened meanwhile."""
        if not self._gate.is_set():
            if note:
                self._record("note", text=note)
            self._gate.set()
            self._outlet.emit(Paused(False, note))

    async def answer(
        self,
        approval_id: str,
        decision: Choice,
        *,
        trust: Trust = "once",
        arguments: JsonObject | None = None,
        note: str = "",
        door: str = "window",
    ) -> None:
        """Decide a pending approval; the first answer wins, a later one raises `approval_gone`."""
        question = self._approvals.question(approval_id)
        rule: Rule | None = None
        tool = self._house.registry.get(question.name)
        if decision == "approve" and tool is not None and question.risk != "high":
            rule = self._house.rules.grant(tool.definition(), question.arguments, trust, self.id)
        chosen = Decision(decision, trust, arguments or {}, note, door)
        extra = {"rule": asdict(rule)} if rule is not None and rule.session else {}
        self._record("approval", call=approval_id, digest=question.digest, **chosen.as_data(), **extra)
        self._approvals.answer(approval_id, chosen)

    async def undo(self, change: str) -> list[str]:
        """Take back a change to the workspace; the paths restored. Raises OrionError `undo_conflict`."""
        files = await asyncio.to_thread(self._house.workspace.undo, change)
        self._record("undo", change=change, files=files)
        self._outlet.emit(Undone(change, files))
        return files

    async def edit(self, message_id: str, text: str) -> str:
        """Say something else at `message_id`: what followed stays stored on a branch of its own."""
        for record in self._journal.records:
            if record.id == message_id and record.type == "user":
                await self._rewind(record.parent)
                return await self.submit(text, str(record.data["source"]))
        raise OrionError("message_unknown", id=message_id)

    async def retry(self) -> None:
        """Answer the last message again, on a branch of its own."""
        await self._rewind(self._said()[-1].id)
        self._start()

    async def continue_(self) -> None:
        """Go on with an interrupted turn from its last finished step, or open one for what waits."""
        if self.interrupted:
            if not self._transcript.turn:
                self._admit()
            self._start()

    async def shorten(self, tokens: int, window: int) -> None:
        """Show the model less of a conversation of `tokens` that does not fit `window`, and answer again.

        The transcript stays whole. Older messages are left out first, then the middle of a long one.
        """
        said = self._said()
        await self._rewind(said[-1].id)
        total = self._transcript.size()
        budget = int(total * min(1.0, 0.5 * window / max(tokens, 1)))
        keep, kept = len(said) - 1, len(str(said[-1].data["text"]))
        while keep > 0 and kept + len(str(said[keep - 1].data["text"])) < budget // 4:
            keep -= 1
            kept += len(str(said[keep].data["text"]))
        self._record("compaction", keep=said[keep].id, limit=max(budget, 200), before=total, after=budget)
        self._start()

    async def use(
        self, profile: str | None = None, model: str | None = None, autonomy: Autonomy | None = None
    ) -> None:
        """Switch profile, model or autonomy from the next model call on."""
        changes: dict[str, str] = {}
        if profile is not None:
            self._house.profiles.get(profile)
            changes |= {"profile": profile, "model": ""}
        if model is not None:
            changes["model"] = model
        if autonomy is not None:
            changes["autonomy"] = autonomy
        self._record("mode", **changes)
        self._outlet.emit(ModeChanged(self.autonomy, self.profile, self.model))

    def rename(self, title: str) -> None:
        """Give the session another title."""
        self._record("title", title=title)

    async def idle(self) -> None:
        """Wait until no turn runs."""
        while self.busy and self._task is not None:
            await asyncio.wait([self._task])

    async def close(self) -> None:
        """End the turn, free the journal and the lock; idempotent.

        While questions to the user are open the turn is left as it stands, so that they survive.
        """
        self._closed = True
        if self._approvals.pending:
            self._journal.close()
        await self._stop()
        self._journal.close()
        if self._lock is not None:
            self._lock.release()

    # --- inside -------------------------------------------------------------------------------------

    async def _stop(self) -> None:
        if self.busy and self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    def _said(self) -> list[Record]:
        """The user's messages. Raises OrionError `nothing_to_retry` when there are none."""
        said = [record for record in self._journal.chain() if record.type == "user"]
        if not said:
            raise OrionError("nothing_to_retry")
        return said

    async def _rewind(self, record_id: str | None) -> None:
        """Stop, and go back to just after `record_id`; profile and model stay as they are now."""
        await self._stop()
        settings = self._transcript.settings
        self._journal.branch(record_id)
        self._transcript = Transcript(self._journal.chain())
        if self._transcript.settings != settings:
            self._record("mode", **settings)

    def _record(self, type_: str, /, **data: Any) -> Record:
        record = self._journal.append(type_, **data)
        self._transcript.apply(record)
        return record

    def _enter(self, stimulus: Stimulus, queued: str = "") -> Record:
        steering = bool(self._transcript.turn)
        extra = {"queued": queued} if queued else {}
        record = self._record("user", **stimulus.as_data(), **extra)
        self._outlet.turn = self._transcript.turn
        self._outlet.emit(UserSaid(record.id, stimulus.text, stimulus.source, steering))
        return record

    def _admit(self) -> bool:
        """Let the messages that queued up meanwhile enter."""
        waiting = list(self._transcript.queued.items())
        for queued, stimulus in waiting:
            self._enter(stimulus, queued)
        return bool(waiting)

    def _start(self) -> None:
        self._outlet.turn = self._transcript.turn
        self._task = asyncio.create_task(self._turns(), name=f"session {self.id}")

    async def _turns(self) -> None:
        """Run turns until no message waits; a message that came too late for one opens the next."""
        while True:
            try:
                work = self._work()
            except OrionError as error:
                self._refuse(error)
                return
            done = await Turn(work).run()
            if not self._transcript.queued or done.reason == "error":
                return
            self._admit()

    def _refuse(self, error: OrionError) -> None:
        """The turn cannot even begin."""
        self._record("error", code=error.code, fields=error.fields, fault=error.fault)
        self._record("done", reason="error")
        self._outlet.emit(ErrorRaised(error.code, error.fields, error.fault))
        self._outlet.emit(Done("error", 0, asdict(Usage()), 0.0, self._transcript.settings.get("model", "")))

    def _work(self) -> Work:
        house, profile = self._house, self._house.profiles.get(self.profile)
        folder = house.profiles.folder(profile.name)
        limit = min(profile.policy.max_iterations, house.bounded_iterations())
        return Work(
            session=self.id,
            profile=profile,
            model=self.model,
            provider=house.provider(profile, self.model),
            system=lambda: context.system_prompt(profile, folder, house.home.workspace),
            transcript=self._transcript,
            states=self._states,
            desk=self._desk(profile, limit),
            gate=self._gate,
            record=self._record,
            admit=self._admit,
            emit=self._outlet.emit,
            max_iterations=limit,
        )

    def _desk(self, profile: Profile, limit: int) -> Desk:
        house = self._house

        def tool_context(call: str, emit: Callable[[str], None]) -> ToolContext:
            facts: JsonObject = {
                "profile": profile.name,
                "provider": profile.provider,
                "model": self.model,
                "session": self.id,
                "autonomy": self.autonomy,
                "iteration": self._transcript.iterations,
                "max_iterations": limit,
                "tools": [spec.name for spec in house.registry.specs(profile)],
            }
            return ToolContext(
                self.id, self._transcript.turn, call, house.workspace, house.home.root, facts, emit
            )

        def waiting(some: bool) -> None:
            if some:
                self._states.to("PAUSED")
            else:
                self._states.back()

        return Desk(
            registry=house.registry,
            policy=Policy(profile, self.autonomy, house.rules, self.id),
            approvals=self._approvals,
            hooks=house.hooks,
            record=self._record,
            emit=self._outlet.emit,
            context=tool_context,
            waiting=waiting,
            listened=lambda: self._outlet.listened,
        )
