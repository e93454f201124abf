"""What may be reached from the agent's computer: the list, the user's answer, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from resources.sentences import sentence
from runtime.assemble import Runtime
from runtime.computer_events import HostWanted
from runtime.errors import OrionError
from runtime.events import Trust
from runtime.hosts_wanted import ENOUGH, ENTERED, TOGETHER, HostsWanted
from runtime.session import Session
from tests.runtime.scripted_house import Watch, talking

DURATIONS: tuple[Trust, ...] = ("5min", "session", "always")


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

    async def begin(self) -> None:
        """Begin a turn that goes on until `end`."""
        self.session.pause("test")
        await self.session.submit("reach it")

    async def end(self) -> None:
        """Let the turn end."""
        self.session.resume()
        await self.session.idle()


@asynccontextmanager
async def _door(home: Path) -> AsyncIterator[Door]:
    async with talking(home, [{"say": "hi"}], loop=True) as (runtime, session, watch):
        door = Door(runtime, session, watch)
        await door.begin()
        yield door
        await door.end()
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


def test_allowed_holds_for_this_host_port_and_turn_and_nothing_else(fresh_home: Path) -> None:
    async def once() -> None:
        async with _door(fresh_home) as door:
            assert await door.asked("example.org", "once")
            assert await door.hosts.permit("example.org", 443)
            assert [wanted.answered for wanted in door.told] == [False, True]
            assert not door.runtime.network.allowed()
            for number, (host, port) in enumerate([("example.org", 80), ("www.example.org", 443)], start=2):
                assert not await door.asked(host, None, port, count=number)
            await door.end()
            assert not await door.hosts.permit("example.org", 443)
            await door.begin()
            assert not await door.asked("example.org", None, count=4)
            door.worker = ""
            assert not await door.hosts.permit("example.org", 443)

    asyncio.run(once())


def test_nothing_longer_than_the_turn_can_be_had_in_the_chat(fresh_home: Path) -> None:
    async def lasting() -> None:
        async with _door(fresh_home) as door:
            task = asyncio.create_task(door.hosts.permit("one.example", 443))
            question = await door.watch.until("approval_required")
            assert list(question.rules) == ["once"]
            assert question.why_once == "once_new_host"
            assert "settings" in sentence(question.why_once)
            for trust in DURATIONS:
                with pytest.raises(OrionError, match="trust_refused"):
                    await door.session.answer(question.id, "approve", trust=trust)
            await door.session.answer(question.id, "deny")
            assert not await task
            assert not door.session.rules()
            assert not door.runtime.network.allowed()

    asyncio.run(lasting())


def test_the_end_of_the_turn_takes_its_questions_back(fresh_home: Path) -> None:
    async def ends() -> None:
        async with _door(fresh_home) as door:
            waiting = [
                asyncio.create_task(door.hosts.permit(f"host-{number}.example", 443))
                for number in range(TOGETHER + 2)
            ]
            await door.watch.until("approval_required", TOGETHER)
            await door.end()
            assert await asyncio.gather(*waiting) == [False] * len(waiting)
            assert not door.session.pending
            received = door.watch.of("approval_received")
            assert [one.decision for one in received] == ["expired"] * TOGETHER
            assert [wanted.answered for wanted in door.told].count(True) == TOGETHER
            await door.begin()
            assert await door.asked("host-0.example", "once", count=TOGETHER + 1)

    asyncio.run(ends())


def test_a_cancelled_turn_takes_its_questions_back_too(fresh_home: Path) -> None:
    async def cancelled() -> None:
        async with _door(fresh_home) as door:
            task = asyncio.create_task(door.hosts.permit("slow.example", 443))
            await door.watch.until("approval_required")
            door.session.cancel()
            assert not await task
            assert not door.session.pending

    asyncio.run(cancelled())


def test_an_answer_that_comes_with_the_end_of_the_turn_is_too_late(fresh_home: Path) -> None:
    async def late() -> None:
        async with _door(fresh_home) as door:
            task = asyncio.create_task(door.hosts.permit("late.example", 443))
            question = await door.watch.until("approval_required")
            await door.end()
            with pytest.raises(OrionError, match="approval_gone"):
                await door.session.answer(question.id, "approve")
            assert not await task

    asyncio.run(late())


def test_outside_a_turn_nobody_is_asked(fresh_home: Path) -> None:
    async def outside() -> None:
        async with _door(fresh_home) as door:
            await door.end()
            assert not await door.hosts.permit("later.example", 443)
            assert not door.told

    asyncio.run(outside())


def test_refused_hosts_are_in_the_ledger_once(fresh_home: Path) -> None:
    async def refused() -> None:
        async with _door(fresh_home) as door:
            for _ in range(3):
                door.hosts.refused("tracker.example", 443, "egress_refused")
            door.hosts.refused("10.0.0.1", 80, "egress_address")
            door.hosts.refused("gone.example", 443, "egress_failed")
            found = door.runtime.network.entries()
            assert [(entry.host, entry.refused) for entry in found] == [
                ("tracker.example", "egress_refused"),
                ("10.0.0.1", "egress_address"),
            ]
            assert not any(entry.open or entry.sent for entry in found)
            assert not door.runtime.network.summary(), "a refused host was not reached"
            for number in range(2 * ENTERED):
                door.hosts.refused(f"flood-{number}.example", 443, "egress_refused")
            assert len(door.runtime.network.entries()) == ENTERED

    asyncio.run(refused())


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


def test_connections_end_with_the_turn_that_allowed_them_but_not_those_of_the_list(fresh_home: Path) -> None:
    async def ends() -> None:
        async with _door(fresh_home) as door:
            door.runtime.save_settings({"sandbox.allowed_hosts": ["listed.example"]})
            assert await door.asked("once.example", "once")
            once = asyncio.create_task(door.hosts.over("once.example", 443))
            listed = asyncio.create_task(door.hosts.over("listed.example", 443))
            await asyncio.sleep(0)
            door.hosts.ended()
            await asyncio.sleep(0)
            assert not once.done(), "the turn goes on"
            await door.end()
            door.hosts.ended()
            await once
            assert not listed.done()
            listed.cancel()

    asyncio.run(ends())
