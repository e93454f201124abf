"""A service that failed is asked again, but never after something was shown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from runtime.errors import OrionError
from runtime.messages import Text, Usage, UserMessage
from runtime.providers.patience import ATTEMPTS, FIRST, LONGEST, MOST, Patient, wait
from runtime.providers.provider import (
    Failed,
    Finished,
    Provider,
    Request,
    Retrying,
    StreamItem,
    TextDelta,
)
from runtime.providers.scripted import Script, ScriptedProvider

REQUEST = Request("s", "m", "", (UserMessage((Text("Hello"),)),))
LIMITED = OrionError("rate_limited", fault="provider", provider="x", problem="slow down")
WHOLE: list[StreamItem] = [TextDelta("Good day"), Finished("stop", Usage(1, 2))]


class Plays(ScriptedProvider):
    """Yields one prepared list of items a call."""

    def __init__(self, *calls: list[StreamItem]) -> None:
        from pathlib import Path

        super().__init__(Script(Path("none.yaml"), (), loop=False))
        self.calls = list(calls)
        self.open = 0

    async def stream(self, request: Request) -> AsyncGenerator[StreamItem, None]:
        self.open += 1
        try:
            for item in self.calls.pop(0):
                yield item
        finally:
            self.open -= 1


def run(inner: Provider) -> tuple[list[StreamItem], list[float]]:
    """The items a door would see, and the waits."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async def collect() -> list[StreamItem]:
        async with aclosing(Patient(inner, sleep).stream(REQUEST)) as items:
            return [item async for item in items]

    return asyncio.run(collect()), waits


def test_a_passing_fault_is_told_waited_out_and_asked_again() -> None:
    inner = Plays([Failed(LIMITED)], [Failed(LIMITED)], WHOLE)
    items, waits = run(inner)
    retries = [item for item in items if isinstance(item, Retrying)]
    assert [item.attempt for item in retries] == [1, 2]
    assert [item.seconds for item in retries] == waits
    assert items[2:] == WHOLE
    assert inner.open == 0


def test_nothing_is_asked_again_once_a_piece_was_shown() -> None:
    cut = OrionError("reply_cut_short", fault="provider", provider="x", model="m")
    items, waits = run(Plays([TextDelta("Good"), Failed(cut)], WHOLE))
    assert items == [TextDelta("Good"), Failed(cut)]
    assert not waits


def test_it_gives_up_after_some_attempts_with_the_last_fault() -> None:
    refused: list[StreamItem] = [Failed(LIMITED)]
    items, waits = run(Plays(*(refused for _ in range(ATTEMPTS))))
    assert isinstance(items[-1], Failed)
    assert len(waits) == ATTEMPTS - 1


@pytest.mark.parametrize("code", ["key_rejected", "quota_spent", "request_refused", "provider_timeout"])
def test_a_fault_that_stays_is_not_asked_again(code: str) -> None:
    items, waits = run(Plays([Failed(OrionError(code, fault="provider"))], WHOLE))
    assert len(items) == 1
    assert not waits


def test_the_time_the_service_names_is_kept_and_a_long_one_is_not_waited_for() -> None:
    named = OrionError("rate_limited", fault="provider", retry_after=17.5)
    assert wait(named, 1) == 17.5
    assert wait(OrionError("rate_limited", fault="provider", retry_after=MOST + 1), 1) is None


def test_waits_double_with_jitter_up_to_the_longest() -> None:
    for attempt in range(1, ATTEMPTS):
        most = min(LONGEST, FIRST * 2 ** (attempt - 1))
        found = {wait(LIMITED, attempt) for _ in range(20)}
        assert all(seconds is not None and most / 2 <= seconds <= most for seconds in found)
        assert len(found) > 1


def test_a_cancelled_wait_ends_the_call() -> None:
    inner = Plays([Failed(LIMITED)], WHOLE)
    waiting = asyncio.Event()

    async def sleep(_seconds: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    async def scenario() -> None:
        async def ask() -> None:
            async with aclosing(Patient(inner, sleep).stream(REQUEST)) as items:
                async for _item in items:
                    pass

        task = asyncio.create_task(ask())
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())
    assert inner.open == 0
    assert inner.calls == [WHOLE]
