"""What may be reached from the agent's computer: the list, the user's answer, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from runtime.assemble import Runtime
from runtime.computer_events import HostWanted
from runtime.errors import OrionError
from runtime.events import Trust
from runtime.hosts_wanted import ENOUGH, TOGETHER, HostsWanted
from runtime.session import Session
from tests.runtime.scripted_house import Watch, talking


class Door:
    """The questions of one runtime with one session that works."""

    def __init__(self, runtime: Runtime, session: Session, watch: Watch) -> None:
        self.runtime, self.session, self.watch = runtime, session, watch
        self.told: list[HostWanted] = []
        self.worker = session.id
        self.hosts = HostsWanted(runtime, lambda: self.worker, self.told.append)

    async def asked(self, host: str, trust: Trust | None, port: int = 443, count: int = 1) -> bool:
        """Ask for `host` and answer with `trust`, or refuse."""
        task = asyncio.create_task(self.hosts.permit(host, port))
        question = await self.watch.until("approval_required", count)
        assert question.arguments == {"host": host, "port": port}
        assert question.risk == "high"
        await self.session.answer(question.id, "approve" if trust else "deny", trust=trust or "once")
        return await task


@asynccontextmanager
async def _door(home: Path) -> AsyncIterator[Door]:
    async with talking(home, [{"say": "hi"}]) as (runtime, session, watch):
        door = Door(runtime, session, watch)
        yield door
        await door.hosts.close()


def test_the_users_list_needs_no_question(fresh_home: Path) -> None:
    async def listed() -> None:
        async with _door(fresh_home) as door:
            door.runtime.save_settings({"sandbox.allowed_hosts": ["example.org", "192.168.7.5"]})
            assert await door.hosts.permit("example.org", 443)
            assert door.hosts.named("192.168.7.5", 443)
            assert not door.hosts.named("192.168.7.6", 443)
            assert not door.told

    asyncio.run(listed())


def test_what_a_browser_wants_for_itself_is_no_question(fresh_home: Path) -> None:
    async def housekeeping() -> None:
        async with _door(fresh_home) as door:
            assert not await door.hosts.permit("update.googleapis.com", 443)
            door.runtime.save_settings({"sandbox.allowed_hosts": ["update.googleapis.com"]})
            assert await door.hosts.permit("Update.GoogleApis.com", 443)
            assert not door.told

    asyncio.run(housekeeping())


def test_allowed_once_holds_for_this_page(fresh_home: Path) -> None:
    async def once() -> None:
        async with _door(fresh_home) as door:
            assert await door.asked("example.org", "once")
            assert await door.hosts.permit("example.org", 443)
            assert [wanted.answered for wanted in door.told] == [False, True]
            assert not door.runtime.network.allowed()
            door.worker = ""
            assert not await door.hosts.permit("example.org", 443)

    asyncio.run(once())


def test_allowed_for_the_session_and_for_always(fresh_home: Path) -> None:
    async def lasting() -> None:
        async with _door(fresh_home) as door:
            assert await door.asked("one.example", "session")
            assert await door.asked("two.example", "always", count=2)
            assert [(known.host, known.who) for known in door.runtime.network.allowed()] == [
                ("two.example", "sandbox")
            ]
            door.worker = ""
            assert not await door.hosts.permit("one.example", 443)
            assert await door.hosts.permit("two.example", 443)

    asyncio.run(lasting())


def test_what_was_allowed_for_a_model_is_not_meant(fresh_home: Path) -> None:
    async def other() -> None:
        async with _door(fresh_home) as door:
            door.runtime.network.allow("api.example", "openai")
            door.worker = ""
            assert not await door.hosts.permit("api.example", 443)

    asyncio.run(other())


def test_a_refusal_holds_for_a_while(fresh_home: Path) -> None:
    async def refuses() -> None:
        async with _door(fresh_home) as door:
            assert not await door.asked("tracker.example", None)
            assert not await door.hosts.permit("tracker.example", 443)
            assert len(door.watch.of("approval_required")) == 1

    asyncio.run(refuses())


def test_many_connections_make_one_question(fresh_home: Path) -> None:
    async def many() -> None:
        async with _door(fresh_home) as door:
            waiting = [asyncio.create_task(door.hosts.permit("example.org", 443)) for _ in range(5)]
            assert await door.asked("example.org", "once")
            assert await asyncio.gather(*waiting) == [True] * 5
            assert len(door.watch.of("approval_required")) == 1

    asyncio.run(many())


def test_a_flood_of_hosts_is_asked_for_a_few_at_a_time_and_then_no_more(fresh_home: Path) -> None:
    async def flood() -> None:
        async with _door(fresh_home) as door:
            waiting = [
                asyncio.create_task(door.hosts.permit(f"host-{number}.example", 443)) for number in range(60)
            ]
            for count in range(1, ENOUGH + 1):
                question = await door.watch.until("approval_required", count)
                assert len(door.session.pending) <= TOGETHER
                await door.session.answer(question.id, "deny")
            for question in door.session.pending:
                with suppress(OrionError):  # it has its answer already
                    await door.session.answer(question.id, "deny")
            assert await asyncio.gather(*waiting) == [False] * 60
            assert len(door.watch.of("approval_required")) < ENOUGH + TOGETHER
            assert not await door.hosts.permit("another.example", 443)

    asyncio.run(flood())


def test_nobody_there_and_no_answer_refuse(fresh_home: Path) -> None:
    async def silent() -> None:
        async with _door(fresh_home) as door:
            door.hosts = HostsWanted(door.runtime, lambda: door.worker, door.told.append, patience=0.02)
            assert not await door.hosts.permit("slow.example", 443)
            received = await door.watch.until("approval_received")
            assert received.decision == "expired"
            door.watch.stop()
            assert not await door.hosts.permit("alone.example", 443)
            assert not await door.hosts.permit("not a host", 443)
            assert len(door.watch.of("approval_required")) == 1

    asyncio.run(silent())


def test_closing_withdraws_the_question(fresh_home: Path) -> None:
    async def closes() -> None:
        async with _door(fresh_home) as door:
            task = asyncio.create_task(door.hosts.permit("example.org", 443))
            await door.watch.until("approval_required")
            await door.hosts.close()
            await asyncio.wait([task])
            assert task.cancelled()
            assert not door.session.pending

    asyncio.run(closes())


def test_every_connection_is_in_the_ledger(fresh_home: Path) -> None:
    async def entered() -> None:
        async with _door(fresh_home) as door:
            ended = door.hosts.opened("example.org", 443)
            (entry,) = door.runtime.network.entries()
            assert (entry.who, entry.host, entry.port, entry.open) == ("sandbox", "example.org", 443, True)
            ended(120, 4_000)
            (entry,) = door.runtime.network.entries()
            assert (entry.sent, entry.received, entry.open) == (120, 4_000, False)

    asyncio.run(entered())
