"""One thread a engine: calls in order, places that run out, steps that end early, and a clean end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from voice.services.engine import Engine
from voice.services.limits import Limits
from voice.services.refusal import Refusal


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine("test", Limits(places=2, wait=0.05))
    yield made
    made.stop()
    assert made.ended(2)


class Counting:
    """Steps that count up to `last` and note in which thread they run and that they were closed."""

    def __init__(self, last: int, log: list[str], name: str = "") -> None:
        self._next = 0
        self._last = last
        self._log = log
        self._name = name
        self.closed = threading.Event()

    def __next__(self) -> int:
        if self._next == self._last:
            raise StopIteration
        self._next += 1
        self._log.append(f"{self._name}{self._next} in {threading.current_thread().name}")
        return self._next

    def close(self) -> None:
        self._log.append(f"{self._name}closed")
        self.closed.set()


def test_steps_run_in_the_engines_thread_and_are_closed_there(engine: Engine) -> None:
    log: list[str] = []
    work = Counting(2, log)

    async def all_of_it() -> list[int]:
        return [item async for item in engine.steps(work)]

    assert asyncio.run(all_of_it()) == [1, 2]
    assert work.closed.wait(2)
    assert log == ["1 in voice-test", "2 in voice-test", "closed"]


def test_two_requests_take_turns(engine: Engine) -> None:
    log: list[str] = []

    async def request(name: str) -> None:
        async for _item in engine.steps(Counting(3, log, name)):
            pass

    async def both() -> None:
        await asyncio.gather(request("a"), request("b"))

    asyncio.run(both())
    order = "".join(entry[0] for entry in log if " in " in entry)
    assert order == "ababab"


def test_whoever_goes_away_frees_the_engine_at_the_next_step(engine: Engine) -> None:
    log: list[str] = []
    work = Counting(1_000_000, log)

    async def leave() -> None:
        steps = engine.steps(work)
        assert await anext(steps) == 1
        await steps.aclose()

    asyncio.run(leave())
    assert work.closed.wait(2)
    assert log == ["1 in voice-test", "closed"]


def test_a_call_that_nobody_waits_for_any_more_is_not_begun(engine: Engine) -> None:
    running, free = threading.Event(), threading.Event()
    begun: list[str] = []

    def long() -> None:
        running.set()
        free.wait(5)

    async def main() -> None:
        first = engine.submit(long)
        await asyncio.to_thread(running.wait, 5)
        second = asyncio.ensure_future(engine.run(lambda: begun.append("second")))
        await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        free.set()
        await asyncio.wrap_future(first)
        await engine.run(lambda: begun.append("third"))

    asyncio.run(main())
    assert begun == ["third"]


def test_waiting_too_long_for_the_engine_is_refused(engine: Engine) -> None:
    running, free = threading.Event(), threading.Event()

    def long() -> None:
        running.set()
        free.wait(5)

    async def main() -> Refusal:
        first = engine.submit(long)
        await asyncio.to_thread(running.wait, 5)
        with pytest.raises(Refusal) as caught:
            await engine.run(lambda: None)
        free.set()
        await asyncio.wrap_future(first)
        return caught.value

    refusal = asyncio.run(main())
    assert (refusal.status, refusal.code) == (503, "service_too_busy")
    assert refusal.headers == {"Retry-After": "5"}


def test_what_a_call_raises_reaches_who_waits(engine: Engine) -> None:
    async def main() -> None:
        with pytest.raises(ZeroDivisionError):
            await engine.run(lambda: 1 // 0)
        assert await engine.run(lambda: 7) == 7

    asyncio.run(main())


def test_places_run_out_and_come_back(engine: Engine) -> None:
    with engine.place():
        with engine.place(), pytest.raises(Refusal) as caught, engine.place():
            pass
        with engine.place():
            pass
    assert (caught.value.status, caught.value.code) == (429, "service_line_full")


def test_stop_cancels_what_waits_runs_the_last_call_and_takes_no_more() -> None:
    engine = Engine("test", Limits())
    running, free = threading.Event(), threading.Event()
    done: list[str] = []

    def long() -> None:
        running.set()
        free.wait(5)

    engine.submit(long)
    assert running.wait(5)
    waiting = engine.submit(lambda: done.append("waiting"))
    engine.stop(lambda: done.append("last"))
    assert not engine.ended(0.01)
    assert waiting.cancelled()
    assert engine.submit(lambda: done.append("late")).cancelled()
    free.set()
    assert engine.ended(5)
    assert done == ["last"]
