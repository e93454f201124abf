"""Questions to the user that wait for an answer; the first door to answer wins."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from runtime.errors import OrionError
from runtime.events import ApprovalReceived, ApprovalRequired, Trust
from runtime.messages import JsonObject
from runtime.outlet import Outlet

Choice = Literal["approve", "deny", "edit", "expired"]


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to one question. `arguments` are the changed ones of an edit, `note` goes to the model."""

    choice: Choice
    trust: Trust = "once"
    arguments: JsonObject = field(default_factory=dict)
    note: str = ""
    door: str = ""

    def as_data(self) -> JsonObject:
        """The payload of its journal record."""
        data: JsonObject = {"phase": self.choice, "trust": self.trust, "door": self.door, "note": self.note}
        return data | ({"arguments": self.arguments} if self.choice == "edit" else {})

    @classmethod
    def from_data(cls, data: JsonObject) -> Decision:
        """The reverse of `as_data`."""
        return cls(
            data["phase"], data["trust"], data.get("arguments", {}), data.get("note", ""), data["door"]
        )


class Approvals:
    """The open questions of one session. Used from the runtime's loop only."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[ApprovalRequired, asyncio.Future[Decision]]] = {}
        self._inquiries: set[str] = set()

    @property
    def pending(self) -> list[ApprovalRequired]:
        """What waits, oldest first."""
        return [question for question, _ in self._open.values()]

    async def ask(self, question: ApprovalRequired) -> Decision:
        """Wait for the answer; cancelling the waiter withdraws the question."""
        future: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self._open[question.id] = (question, future)
        try:
            return await future
        finally:
            self._open.pop(question.id, None)

    async def inquire(self, question: ApprovalRequired, seconds: float, outlet: Outlet) -> Decision:
        """Ask and tell the doors behind `outlet`; where none is open, or after `seconds` without an answer,
        the decision is `expired`."""
        decision = Decision("expired", door="policy")
        if outlet.listened:
            outlet.emit(question)
            self._inquiries.add(question.id)
            try:
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        decision = await self.ask(question)
            finally:
                self._inquiries.discard(question.id)
            outlet.emit(ApprovalReceived(question.id, decision.choice, decision.trust, decision.door))
        return decision

    def withdraw(self) -> None:
        """Let every open question of `inquire` count as answered by nobody: what it was asked for is over."""
        for inquiry in self._inquiries:
            if inquiry in self._open and not self._open[inquiry][1].done():
                self._open[inquiry][1].set_result(Decision("expired", door="policy"))

    def question(self, approval_id: str) -> ApprovalRequired:
        """The open question. Raises OrionError `approval_gone` when it was answered or withdrawn."""
        if approval_id not in self._open or self._open[approval_id][1].done():
            raise OrionError("approval_gone", id=approval_id)
        return self._open[approval_id][0]

    def answer(self, approval_id: str, decision: Decision) -> None:
        """Give the answer. Raises OrionError `approval_gone` like `question`."""
        self.question(approval_id)
        self._open[approval_id][1].set_result(decision)
