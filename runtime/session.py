"""One conversation: its journal, its turns one after the other, and what doors may ask of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict

from resources.translation import _
from runtime.approvals import Choice, Decision
from runtime.chain import Chain, Link
from runtime.errors import OrionError
from runtime.events import (
    AnswerHeard,
    ApprovalRequired,
    Done,
    ErrorRaised,
    Listener,
    ModeChanged,
    Notice,
    Paused,
    Queued,
    State,
    Trust,
    Undone,
)
from runtime.gate import Gate
from runtime.history import History
from runtime.house import House
from runtime.journal import Journal
from runtime.locks import Lock
from runtime.loop import Turn, Work
from runtime.messages import Image, JsonObject, Usage
from runtime.outlet import Outlet
from runtime.policy import Autonomy
from runtime.providers.provider import Traits
from runtime.purse import Purse
from runtime.rules import Rule
from runtime.states import StateMachine
from runtime.stimulus import Stimulus
from runtime.transcript import Transcript
from runtime.workbench import Workbench


class Session:
    """A conversation that is open in this process. Used from the runtime's loop only; closed by it.

    Everything a door needs comes as events; `rows` is the
    transcript as it stands.
    """

    def __init__(self, house: House, session_id: str, journal: Journal, lock: Lock | None) -> None:
        self.id = session_id
        self.private = journal.path is None
        self._house = house
        self._lock = lock
        self._outlet = Outlet(session_id)
        self._states = StateMachine(self._outlet.emit)
        self._gate = Gate()
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._history = History(journal, self._outlet)
        self._bench = Workbench(house, session_id, self.private, self._history, self._outlet, self._states)
        self._purse = Purse(house.spending, session_id, self.private)
        for record in journal.records:
            rule = record.data.get("rule") if record.type == "approval" else None
            if isinstance(rule, dict) and rule.get("session") == session_id:  # not of what this is a fork of
                house.rules.add(Rule(**rule))

    # --- what it is ---------------------------------------------------------------------------------

    @property
    def _transcript(self) -> Transcript:
        return self._history.transcript

    @property
    def title(self) -> str:
        return self._history.journal.title

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
    def paused(self) -> bool:
        """Whether it was paused and no `resume` followed."""
        return self._gate.shut

    @property
    def stepping(self) -> bool:
        """Whether it may do one more call of a tool although it is paused."""
        return self._gate.stepping

    @property
    def turn(self) -> str:
        """The id of the turn that runs or was cut off, "" for none."""
        return self._transcript.turn

    @property
    def interrupted(self) -> bool:
        """Whether a turn was cut off, or a message still waits for one: `continue_` goes on from there."""
        return bool(self._transcript.turn or self._transcript.queued) and not self.busy

    @property
    def pending(self) -> list[ApprovalRequired]:
        return self._bench.approvals.pending

    @property
    def last_answer(self) -> str:
        """The record id of the last reply to the last message, also of one that broke off; "" for none."""
        return self._history.last_answer()

    @property
    def messages(self) -> int:
        """How many messages a model would be shown."""
        return len(self._transcript.messages)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every event, in order, on the loop's thread; returns what ends that."""
        return self._outlet.subscribe(listener)

    def rows(self) -> list[JsonObject]:
        """The transcript to draw; see Rows."""
        return self._history.rows(self.busy)

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
            record = self._history.record("queued", **stimulus.as_data())
            self._outlet.emit(Queued(text))
            return record.id
        if self._transcript.turn:
            self._history.record("done", reason="stopped")
        self._history.admit()
        record = self._history.enter(stimulus)
        self._start()
        return record.id

    def cancel(self) -> None:
        """Stop the turn; Done follows within 200 ms. Without a turn it does nothing."""
        if self._task is not None:
            self._task.cancel()

    def pause(self, reason: str) -> None:
        """Let the running step and the running calls finish and begin no other until `resume`."""
        if self._gate.close():
            self._outlet.emit(Paused(True, reason))

    def resume(self, note: str = "", images: tuple[Image, ...] = ()) -> None:
        """Go on after a pause; `note` tells, and `images` show the model what happened meanwhile."""
        if not self._gate.shut:
            return
        if note:
            self._history.note(note, images)
        self._gate.open()
        self._outlet.emit(Paused(False, note))

    def step(self) -> None:
        """While paused, let the model go on until one more call of a tool was let through."""
        self._gate.step()

    async def ask(self, question: ApprovalRequired, seconds: float) -> Decision:
        """Put a question of something other than a call to the user. It counts as answered by nobody
        (`expired`) after `seconds`, when the turn ends, and at once where no door is open."""
        return await self._bench.approvals.inquire(question, seconds, self._outlet)

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
        """Decide a pending approval; the first answer wins, a later one raises `approval_gone`. Raises
        OrionError `trust_refused` for a duration that was not on offer; one that text from outside has
        overtaken becomes once, and the doors are told."""
        question = self._bench.approvals.question(approval_id)
        if decision == "approve" and trust not in ("once", *question.rules):
            raise OrionError("trust_refused", tool=question.name, trust=trust)
        if decision == "approve" and trust != "once" and self._transcript.tainted:
            self._outlet.emit(Notice("trust_narrowed", {"tool": question.name}))
            trust = "once"
        rule: Rule | None = None
        tool = self._house.registry.get(question.name)
        if decision == "approve" and tool is not None:
            rule = self._house.rules.grant(tool.definition(), question.arguments, trust, self.id)
        chosen = Decision(decision, trust, arguments or {}, note, door)
        extra = {"rule": asdict(rule)} if rule is not None and rule.session else {}
        self._history.record(
            "approval", call=approval_id, digest=question.digest, **chosen.as_data(), **extra
        )
        self._bench.approvals.answer(approval_id, chosen)

    def heard(self, answer: str, text: str, *, whole: bool) -> None:
        """Store that of the spoken answer with this record id only `text`, its beginning, was heard, or with
        `whole` that all of it was; the model sees it like that from then on. Durable when this returns."""
        self._history.record("heard", of=answer, text=text, whole=whole)
        self._outlet.emit(AnswerHeard(answer, text, whole))

    async def undo(self, change: str) -> list[str]:
        """Take back a change to the workspace; the paths restored. Raises OrionError `undo_conflict`."""
        files = await asyncio.to_thread(self._house.workspace.undo, change)
        self._history.record("undo", change=change, files=files)
        self._outlet.emit(Undone(change, files))
        return files

    async def edit(self, message_id: str, text: str) -> str:
        """Say something else at `message_id`: what followed stays stored on a branch of its own."""
        said = self._history.message(message_id)
        await self._stop()
        self._history.rewind(said.parent)
        return await self.submit(text, str(said.data["source"]))

    async def retry(self) -> None:
        """Answer the last message again, on a branch of its own."""
        await self._stop()
        self._history.rewind(self._history.said()[-1].id)
        self._start()

    async def continue_(self, source: str = "window") -> None:
        """Go on with an interrupted turn from its last finished step, or open one for what waits; where the
        last turn ended, the model is asked to go on."""
        if not self.interrupted:
            await self.submit(_("Please go on."), source)
            return
        if not self._transcript.turn:
            self._history.admit()
        self._start()

    async def shorten(self, tokens: int, window: int) -> None:
        """Answer again with less shown to the model, where `tokens` did not fit `window`; see History."""
        await self._stop()
        self._history.shorten(tokens, window)
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
        self._history.record("mode", **changes)
        self._outlet.emit(ModeChanged(self.autonomy, self.profile, self.model))

    def rename(self, title: str) -> None:
        """Give the session another title."""
        self._history.record("title", title=title)

    async def idle(self) -> None:
        """Wait until no turn runs."""
        while self.busy and self._task is not None:
            await asyncio.wait([self._task])

    async def close(self) -> None:
        """End the turn, free the journal and the lock; idempotent.

        While questions to the user are open the turn is left as it stands, so that they survive.
        """
        self._closed = True
        if self._bench.approvals.pending:
            self._history.journal.close()
        await self._stop()
        self._history.close()
        if self._lock is not None:
            self._lock.release()

    # --- inside -------------------------------------------------------------------------------------

    async def _stop(self) -> None:
        if self.busy and self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

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
            self._bench.approvals.withdraw()
            if not self._transcript.queued or done.reason == "error":
                return
            self._history.admit()

    def _refuse(self, error: OrionError) -> None:
        """The turn cannot even begin."""
        self._history.record("error", code=error.code, fields=error.fields, fault=error.fault)
        self._history.record("done", reason="error")
        self._outlet.emit(ErrorRaised(error.code, error.fields, error.fault))
        self._outlet.emit(Done("error", 0, asdict(Usage()), 0.0, self._transcript.settings.get("model", "")))

    @property
    def traits(self) -> Traits:
        """What the chosen model can do and where it runs; of a provider that cannot be had: that it is here
        and only talks, since nothing leaves through it."""
        try:
            link = self._link()
            return link.provider.traits(link.model)
        except OrionError:
            return Traits(self.profile, local=True, tools=False)

    async def context_stats(self, text: str) -> dict[str, int]:
        """How the model's window would be shared if `text` were said now; see Fitting."""
        link = self._link()
        return await self._bench.fitting(link, link.profile).split(text)

    def _link(self) -> Link:
        """What is chosen here. Raises OrionError where the profile or its provider is gone."""
        profile = self._house.profiles.get(self.profile)
        model = self._house.preferred(profile, self.model)
        return Link(profile, model, self._house.provider(profile, model))

    def _work(self) -> Work:
        first = self._link()
        profile = first.profile
        limit = profile.policy.max_iterations
        if not profile.computer_use:  # whose many small steps the profile itself bounds
            limit = min(limit, self._house.bounded_iterations())
        return Work(
            session=self.id,
            profile=profile,
            chain=Chain(first, self._house.stand_ins(profile)),
            transcript=self._transcript,
            states=self._states,
            desk=self._bench.desk(first, self.autonomy, limit, self._gate),
            purse=self._purse,
            gate=self._gate,
            record=self._history.record,
            admit=self._history.admit,
            emit=self._outlet.emit,
            fit=lambda link: self._bench.fitting(link, profile).request(),
            permit=self._house.permit,
            max_iterations=limit,
        )
