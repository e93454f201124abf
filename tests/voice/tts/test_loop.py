"""An asynchronous generator in a plain thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from voice.tts.loop import Loop


class Source:
    """Gives the numbers up to `last`, then waits for ever when `waits`; `closed` tells that it was left."""

    def __init__(self, last: int, waits: bool = False) -> None:
        self.last = last
        self.waits = waits
        self.closed = False
        self.waiting = threading.Event()

    async def items(self) -> AsyncIterator[int]:
        try:
            for number in range(self.last):
                yield number
            if self.waits:
                self.waiting.set()
                await asyncio.Event().wait()
        finally:
            self.closed = True


def test_every_item_comes_and_the_generator_is_closed() -> None:
    source = Source(3)
    assert list(Loop().iterate(source.items())) == [0, 1, 2]
    assert source.closed


def test_leaving_early_closes_the_generator() -> None:
    source = Source(3)
    items = Loop().iterate(source.items())
    assert next(items) == 0
    items.close()  # type: ignore[attr-defined]
    assert source.closed


def test_stop_ends_a_wait_from_another_thread_and_the_next_run_is_whole() -> None:
    source, loop = Source(2, waits=True), Loop()

    def stop_when_it_waits() -> None:
        source.waiting.wait()
        loop.stop()

    thread = threading.Thread(target=stop_when_it_waits)
    thread.start()
    assert list(loop.iterate(source.items())) == [0, 1]
    thread.join()
    assert source.closed
    assert list(loop.iterate(Source(2).items())) == [0, 1]


def test_an_error_comes_through() -> None:
    async def failing() -> AsyncIterator[int]:
        yield 1
        raise ValueError("enough")

    items = Loop().iterate(failing())
    assert next(items) == 1
    with pytest.raises(ValueError, match="enough"):
        next(items)
