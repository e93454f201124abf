"""What the agent's computer may reach: the user's list, else a question in the chat; always recorded."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from math import inf
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

WHO = "sandbox"
TOOL = "reach_host"
"""The name under which the question stands in a chat; no model can call it."""

PATIENCE = 120.0
"""Seconds a connection waits for the user's answer; then it is refused."""

ONCE = 60.0
"""Seconds for which being allowed once holds: a page is many connections."""

PAUSE = 60.0
"""Seconds for which a refusal holds without another question: a page asks for its hosts again and again."""

TOGETHER = 4
"""Questions that stand in the chat at once; a further host is asked for when one of them is answered."""

ENOUGH, REST = 8, 600.0
"""So many hosts refused in so many seconds, and nothing more is asked in that chat until they are over: a
program that asks for thousands of hosts wears nobody down."""

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
        self._allowed: dict[tuple[str, str, int], float] = {}
        self._refused: dict[tuple[str, str, int], float] = {}
        self._asking: dict[tuple[str, str, int], asyncio.Task[bool]] = {}
        self._turn = asyncio.Semaphore(TOGETHER)
        self._refusals: dict[str, deque[float]] = {}

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
        if self._list().covers(name, port) or self._allowed_for_good(name):
            return True
        if name in UNASKED:
            return False
        session = self._worker()
        key, now = (session, name, port), time.monotonic()
        if now < self._allowed.get(key, 0.0):
            return True
        if not session or now < self._refused.get(key, 0.0):
            return False
        if key not in self._asking:
            self._asking[key] = asyncio.create_task(self._ask(session, name, port), name="question of a host")
        return await asyncio.shield(self._asking[key])

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
        """Nothing is kept of what was not sent."""

    # --- the question -------------------------------------------------------------------------------

    async def _ask(self, session: str, host: str, port: int) -> bool:
        key = (session, host, port)
        try:
            async with self._turn:
                allowed = not self._is_enough(session) and await self._decided(session, host, port)
        finally:
            self._asking.pop(key, None)
        if not allowed:
            now = time.monotonic()
            self._refused = {known: until for known, until in self._refused.items() if until > now}
            self._refused[key] = now + PAUSE
        return allowed

    def _is_enough(self, session: str) -> bool:
        """Whether so much was refused of late that nothing more is asked."""
        refusals = self._refusals.get(session)
        return refusals is not None and len(refusals) == ENOUGH and time.monotonic() - refusals[0] < REST

    async def _decided(self, session: str, host: str, port: int) -> bool:
        worker = self._around.working(session)
        if worker is None:
            return False
        arguments = {"host": host, "port": port}
        question = ApprovalRequired(
            id=f"host-{secrets.token_hex(6)}",
            name=TOOL,
            arguments=arguments,
            digest=digest(TOOL, arguments),
            risk="high",
            summary=_("The agent's computer wants to reach {host}").format(host=host),
            preview="",
            rules=_durations(host, port),
        )
        wanted = HostWanted(question.id, host, port, session)
        self._told(wanted)
        asked = time.monotonic()
        try:
            decision = await worker.ask(question, self._patience)
        finally:
            self._told(replace(wanted, answered=True))
        if decision.choice != "approve":
            if decision.choice == "deny" or time.monotonic() - asked >= self._patience:
                refusals = self._refusals.setdefault(session, deque(maxlen=ENOUGH))
                refusals.append(time.monotonic())
            return False
        lasting = decision.trust in ("session", "always")
        self._allowed[session, host, port] = inf if lasting else time.monotonic() + ONCE
        if decision.trust == "always":
            with suppress(OrionError):
                self._around.network.allow(host, WHO)
        return True

    def _allowed_for_good(self, host: str) -> bool:
        """Whether the user allowed it for the computer; what was allowed for a model is not meant."""
        try:
            return any(known.host == host and known.who == WHO for known in self._around.network.allowed())
        except OrionError:
            return False

    def _list(self) -> Allowlist:
        from sandbox.egress import Allowlist

        return Allowlist(self._around.sandbox.allowed_hosts)


def _durations(host: str, port: int) -> dict[str, str]:
    """Each duration that may be chosen, with what it allows."""
    where = host if port in (80, 443) else f"{host}:{port}"
    return {
        "once": _("the agent's computer to reach {host} for a minute").format(host=where),
        "session": _("the agent's computer to reach {host} while this chat works with it").format(host=where),
        "always": _("the agent's computer, and everything else here, to reach {host}").format(host=host),
    }
