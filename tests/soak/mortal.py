"""The life of a process that will be killed: a seeded user at a real runtime with a scripted model."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

from runtime.assemble import Runtime, assemble
from runtime.errors import OrionError
from runtime.events import ApprovalRequired, Done, Event, ToolComplete, ToolFailed, Trust
from runtime.session import Session
from tests.soak.ledger import Ledger
from tests.soak.sabotage import die
from tests.soak.script_house import SPICE

ACTIONS = 12
"""How much a life contains when no kill comes."""


class User:
    """Types, approves, cancels, undoes and renames as the seed has it, and notes what was acknowledged."""

    def __init__(self, runtime: Runtime, session: Session, ledger: Ledger, chance: random.Random) -> None:
        self._runtime = runtime
        self._session = session
        self._ledger = ledger
        self._chance = chance
        self._events = 0
        self._arrived = asyncio.Event()
        self._changes: list[str] = []
        self._answers: set[asyncio.Task[None]] = set()
        session.subscribe(self._take)

    async def live(self, number: int) -> None:
        """Go on with what an earlier kill cut off, then act."""
        if self._session.interrupted:
            await self._session.continue_()
        for action in range(ACTIONS):
            await self._act(f"{number}.{action}")
        await self._session.idle()

    async def _act(self, mark: str) -> None:
        match self._chance.choices(("say", "wait", "watch", "cancel", "undo", "list", "title"), _WEIGHTS)[0]:
            case "say":
                await self._say(mark)
            case "wait":
                await self._session.idle()
            case "watch":
                await self._until(self._events + self._chance.randrange(1, 12))
            case "cancel":
                self._session.cancel()
                await self._session.idle()
            case "undo":
                await self._undo()
            case "list":
                self._runtime.sessions.list()
            case _:
                self._session.rename(f"Title {mark}")
                self._ledger.note("titled", self._session.id, title=f"Title {mark}")

    async def _say(self, mark: str) -> None:
        text = f"Message {mark}{self._chance.choice(SPICE)}"
        record = await self._session.submit(text, source="soak")
        self._ledger.note("said", self._session.id, id=record, text=text)

    async def _undo(self) -> None:
        if self._changes:
            change = self._changes.pop()
            self._ledger.note("undoing", self._session.id, change=change)
            try:
                await self._session.undo(change)
            except OrionError as error:
                if error.code != "undo_conflict":
                    raise
                return
            self._ledger.note("undone", self._session.id, change=change)

    async def _until(self, events: int) -> None:
        while self._events < events and self._session.busy:
            self._arrived.clear()
            waiter = asyncio.ensure_future(self._arrived.wait())
            idle = asyncio.ensure_future(self._session.idle())
            await asyncio.wait((waiter, idle), return_when=asyncio.FIRST_COMPLETED)
            waiter.cancel()
            idle.cancel()

    def _take(self, event: Event) -> None:
        self._events += 1
        self._arrived.set()
        session = self._session.id
        match event.body:
            case ApprovalRequired() as question:
                task = asyncio.create_task(self._answer(question))
                self._answers.add(task)
                task.add_done_callback(self._answers.discard)
            case ToolComplete(id=call, details=details):
                self._ledger.note("result", session, call=call, turn=event.turn, ok=True)
                if change := details.get("change"):
                    self._changes.append(str(change))
            case ToolFailed(id=call, kind=kind):
                self._ledger.note("result", session, call=call, turn=event.turn, ok=False, failure=kind)
            case Done(reason=reason):
                self._ledger.note("done", session, turn=event.turn, reason=reason)
            case _:
                pass

    async def _answer(self, question: ApprovalRequired) -> None:
        trust: Trust = "session" if self._chance.random() < 0.15 and "session" in question.rules else "once"
        denied = self._chance.random() < 0.15
        try:
            if denied:
                await self._session.answer(question.id, "deny", note="not now", door="soak")
            else:
                await self._session.answer(question.id, "approve", trust=trust, door="soak")
        except OrionError as error:
            if error.code != "approval_gone":
                raise
            return
        self._ledger.note("approved", self._session.id, call=question.id)


_WEIGHTS = (34, 18, 22, 8, 10, 5, 3)


async def live(
    home: Path, profile: str, session_id: str | None, number: int, seed: int, *, mortal: bool = True
) -> None:
    """One process: open (or create) the session and use it until the kill comes. A plan that ends first ends
    in a kill while idle or, sometimes (always unless `mortal`), in good order."""
    chance = random.Random(seed)
    ledger = Ledger(home / "acknowledged.jsonl")
    async with assemble(home, door="soak") as runtime:
        session = await runtime.open(session_id, profile=None if session_id else profile)
        ledger.note("opened", session.id, profile=profile)
        if chance.random() < 0.3:
            await session.use(autonomy=chance.choice(("auto", "semi")))
        await User(runtime, session, ledger, chance).live(number)
        if mortal and chance.random() < 0.8:
            die()


def plan(request: dict[str, Any]) -> None:
    """Run `live` as asked by the nursery."""
    home, session = Path(request["home"]), request["session"]
    asyncio.run(live(home, request["profile"], session, request["number"], request["seed"]))
