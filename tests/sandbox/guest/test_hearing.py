"""A program is asked whether it has read its keys; one that does not answer holds nothing up for long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from sandbox.guest.display import connected
from sandbox.guest.hearing import SUBSTRUCTURE_NOTIFY, Hearing
from tests.sandbox.guest.xvfb import xvfb


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with xvfb(tmp_path_factory.mktemp("screen")) as name:
        yield name


class Answering:
    """A program in front that answers, after so many questions."""

    def __init__(self, name: str, *, knows: bool, after: int = 0) -> None:
        self._x = connected(name)
        self._root = self._x.screen().root
        self._left = after
        self.window = self._root.create_window(0, 0, 50, 50, 0, self._x.screen().root_depth)
        self._protocols = self._x.intern_atom("WM_PROTOCOLS")
        atom = self._x.intern_atom("ATOM")
        if knows:
            ping = self._x.intern_atom("_NET_WM_PING")
            self.window.change_property(self._protocols, atom, 32, [ping])
        active = self._x.intern_atom("_NET_ACTIVE_WINDOW")
        self._root.change_property(active, self._x.intern_atom("WINDOW"), 32, [self.window.id])
        self._x.sync()
        asyncio.get_running_loop().add_reader(self._x.fileno(), self._read)

    def _read(self) -> None:
        for _ in range(self._x.pending_events()):
            event: Any = self._x.next_event()
            if event.type != 33:
                continue
            if self._left:
                self._left -= 1
                continue
            event.window = self._root
            self._root.send_event(event, event_mask=SUBSTRUCTURE_NOTIFY)
            self._x.flush()

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._x.fileno())
        self._x.close()


def on(
    server: str, check: Callable[[Hearing], Awaitable[None]], *, knows: bool = True, after: int = 0
) -> None:
    async def run() -> None:
        program = Answering(server, knows=knows, after=after)
        x = connected(server)
        try:
            await check(Hearing(x, patience=0.03, longest=0.4))
        finally:
            x.close()
            program.close()

    asyncio.run(run())


def test_an_answer_is_proof(server: str) -> None:
    async def check(hearing: Hearing) -> None:
        assert [await hearing.heard() for _ in range(3)] == [True] * 3

    on(server, check)


def test_a_program_that_does_not_know_the_question_gets_a_moment(server: str) -> None:
    async def check(hearing: Hearing) -> None:
        begun = time.monotonic()
        assert not await hearing.heard()
        assert 0.03 <= time.monotonic() - begun < 0.3

    on(server, check, knows=False)


def test_a_program_that_hangs_is_waited_for_once(server: str) -> None:
    async def check(hearing: Hearing) -> None:
        begun = time.monotonic()
        assert not await hearing.heard()
        waited = time.monotonic() - begun
        assert waited >= 0.4
        assert [await hearing.heard() for _ in range(4)] == [False] * 4
        assert time.monotonic() - begun - waited < 0.4
        assert await hearing.heard(), "it answers again"

    on(server, check, after=5)
