"""What the agent's computer may reach: the user's list, else a question in the chat; always recorded."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from resources.translation import _
from runtime.computer_events import HostWanted
from runtime.errors import OrionError
from runtime.events import ApprovalRequired
from runtime.ledger import Entry, new_id
from runtime.network import Network
from runtime.permits import host_name
from runtime.policy import digest
from runtime.settings import Sandbox

if TYPE_CHECKING:
    from runtime.session import Session
    from sandbox.egress import Allowlist
    from sandbox.guest.peer import Operation

Target = tuple[str, int]
"""Host and port."""

WHO = "sandbox"
TOOL = "reach_host"
"""The name under which the question stands in a chat; no model can call it."""

PATIENCE = 120.0
"""Seconds a connection waits for the user's answer; then it is refused."""

PAUSE = 60.0
"""Seconds for which a refusal holds in its turn without another question: a page asks for its hosts again and
again."""

TOGETHER = 4
"""Questions that stand in the chat at once; a further host is asked for when one of them is answered."""

ENOUGH, REST = 8, 600.0
"""So many hosts refused in so many seconds, and nothing more is asked in that chat until they are over: a
program that asks for thousands of hosts wears nobody down. So many seconds a refusal is entered into the
ledger once, too."""

ENTERED = 100
"""Refusals entered into the ledger in REST seconds; a flood of them must not drive out what was reached."""

DENIED = frozenset(f"egress_{code}" for code in ("refused", "address", "private", "mismatch", "protocol"))
"""Codes of connections that were not allowed, beside those that failed."""

UNASKED = frozenset(
    f"{name}.com"
    for name in (
        "android.clients.google",
        "clients1.google",
        "clients2.google",
        "clients4.google",
        "content-autofill.googleapis",
        "mtalk.google",
        "optimizationguide-pa.googleapis",
        "safebrowsing.googleapis",
        "update.googleapis",
    )
)
"""Hosts that Chromium turns to by itself, for updates and the like, whatever it is told: no question to a
user is worth that. They are reached only where the user's list names them."""


class Neighbourhood(Protocol):
    """What the questions need of their process."""

    network: Network

    @property
    def sandbox(self) -> Sandbox: ...

    def working(self, session: str) -> Session | None: ...


class HostsWanted:
    """The door through which everything goes that leaves the computer; see sandbox.egress. Fails closed.

    A host that is not in the user's list is a new one, which is high risk: it is asked for in the chat and
    allowed until the turn ends. A question that is still open then is withdrawn and counts as refused.
    `worker` is the session that works with the computer, "" for none; `told` hears of questions, which wait
    `patience` seconds. Used from the runtime's loop; closed by AgentComputer.
    """

    def __init__(
        self,
        around: Neighbourhood,
        worker: Callable[[], str],
        told: Callable[[HostWanted], None],
        patience: float = PATIENCE,
    ) -> None:
        self._around = around
        self._worker = worker
        self._told = told
        self._patience = patience
        self._turn = ("", "")
        self._over = asyncio.Event()
        self._allowed: set[Target] = set()
        self._refused: dict[Target, float] = {}
        self._asking: dict[tuple[str, Target], asyncio.Task[bool]] = {}
        self._together = asyncio.Semaphore(TOGETHER)
        self._refusals: dict[str, deque[float]] = {}
        self._entered: dict[tuple[str, Target], float] = {}

    def operations(self) -> Mapping[str, Operation]:
        """What the host serves to the guest."""
        from sandbox.egress import EgressProxy

        return EgressProxy(self).operations()

    async def close(self) -> None:
        """Withdraw open questions; they count as refused."""
        for task in list(self._asking.values()):
            task.cancel()
        await asyncio.gather(*self._asking.values(), return_exceptions=True)

    # --- asked by the proxy -------------------------------------------------------------------------

    async def permit(self, host: str, port: int) -> bool:
        """Whether a connection may be made; may wait for the user."""
        try:
            name = host_name(host)
        except OrionError:
            return False
        if self._list().covers(name, port):
            return True
        turn, target, now = self._present_turn(), (name, port), time.monotonic()
        if target in self._allowed:
            return True
        if name in UNASKED or not turn or now < self._refused.get(target, 0.0):
            return False
        key = (turn, target)
        if key not in self._asking:
            self._asking[key] = asyncio.create_task(self._ask(turn, target), name="question of a host")
        return await asyncio.shield(self._asking[key])

    async def over(self, host: str, port: int) -> None:
        """Return when the turn that allowed the host has ended; never for a host of the user's list."""
        if self._list().covers(host, port):
            await asyncio.Event().wait()
        elif (host_name(host), port) in self._allowed:
            await self._over.wait()

    def ended(self) -> None:
        """The turn that worked with the computer is over: so is what was allowed in it."""
        self._present_turn()

    def named(self, host: str, port: int) -> bool:
        """Whether the user's own list names exactly this, also where it is an address of a near network."""
        return self._list().names(host, port)

    def opened(self, host: str, port: int) -> Callable[[int, int], None]:
        """Enter a connection into the network ledger; call what is returned with the bytes sent and received
        when it has ended. Raises OrionError where it cannot be written: then nothing may be sent."""
        ledger, began = self._around.network.ledger, time.monotonic()
        entry = Entry(new_id(), time.time(), WHO, "computer", host, port, "CONNECT")
        ledger.begin(entry)

        def ended(sent: int, received: int) -> None:
            seconds = round(time.monotonic() - began, 3)
            status = 200 if received else 0
            ledger.end(replace(entry, sent=sent, received=received, seconds=seconds, status=status))

        return ended

    def refused(self, host: str, port: int, code: str) -> None:
        """Enter what was not allowed into the ledger, the same at most once in REST seconds."""
        now, key = time.monotonic(), (code, (host, port))
        self._entered = {known: when for known, when in self._entered.items() if now - when < REST}
        if code in DENIED and key not in self._entered and len(self._entered) < ENTERED:
            self._entered[key] = now
            entry = Entry(new_id(), time.time(), WHO, "computer", host, port, "CONNECT", refused=code)
            self._around.network.ledger.refused(entry)

    # --- the question -------------------------------------------------------------------------------

    def _present_turn(self) -> str:
        """The turn that works with the computer, "" for none. What was said in another one is forgotten."""
        session = self._worker()
        worker = self._around.working(session) if session else None
        turn = worker.turn if worker is not None else ""
        if self._turn != (session, turn):
            self._turn = (session, turn)
            self._over.set()
            self._over = asyncio.Event()
            self._allowed.clear()
            self._refused.clear()
        return turn

    async def _ask(self, turn: str, target: Target) -> bool:
        try:
            async with self._together:
                return await self._decided(turn, target)
        finally:
            self._asking.pop((turn, target), None)

    def _is_enough(self, session: str) -> bool:
        """Whether so much was refused of late that nothing more is asked."""
        refusals = self._refusals.get(session)
        return refusals is not None and len(refusals) == ENOUGH and time.monotonic() - refusals[0] < REST

    async def _decided(self, turn: str, target: Target) -> bool:
        """Ask in the turn that wants it. Its end answers with no, also what waits for room to be asked."""
        if self._present_turn() != turn:
            return False
        session = self._worker()
        worker = self._around.working(session)
        if worker is None or self._is_enough(session):
            return False
        question = _question(*target)
        wanted = HostWanted(question.id, *target, session)
        self._told(wanted)
        asked = time.monotonic()
        try:
            decision = await worker.ask(question, self._patience)
        finally:
            self._told(replace(wanted, answered=True))
        if self._present_turn() != turn:
            return False
        now = time.monotonic()
        if decision.choice == "approve":
            self._allowed.add(target)
            return True
        if decision.choice == "deny" or now - asked >= self._patience:
            self._refusals.setdefault(session, deque(maxlen=ENOUGH)).append(now)
        self._refused[target] = now + PAUSE
        return False

    def _list(self) -> Allowlist:
        from sandbox.egress import Allowlist

        return Allowlist(self._around.sandbox.allowed_hosts)


def _question(host: str, port: int) -> ApprovalRequired:
    """What the user is asked: for this turn and nothing longer."""
    arguments = {"host": host, "port": port}
    where = host if port in (80, 443) else f"{host}:{port}"
    return ApprovalRequired(
        id=f"host-{secrets.token_hex(6)}",
        name=TOOL,
        arguments=arguments,
        digest=digest(TOOL, arguments),
        risk="high",
        summary=_("The agent's computer wants to reach {host}").format(host=where),
        preview="",
        rules={"once": _("the agent's computer to reach {host} until this turn ends").format(host=where)},
        why_once="once_new_host",
    )
