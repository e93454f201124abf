"""Lets a plain thread take the items of an asynchronous generator, and another thread break it off."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any, TypeVar

Item = TypeVar("Item")


class Loop:
    """Runs one asynchronous generator at a time in the thread that iterates; no thread of its own.

    Between two items nothing runs: what arrives meanwhile waits in the operating system.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None
        self._stopped = False

    def iterate(self, items: AsyncIterator[Item]) -> Iterator[Item]:
        """The items of the generator `items`, which is closed at the end; `stop` ends it early."""
        loop = asyncio.new_event_loop()
        with self._lock:
            self._stopped = False
        try:
            while (item := self._run(loop, items)) is not None:
                yield item
        finally:
            try:
                loop.run_until_complete(loop.shutdown_asyncgens())
            finally:
                loop.close()  # does not wait for a name that is still being looked up

    def stop(self) -> None:
        """End what `iterate` does now, from any thread."""
        with self._lock:
            self._stopped = True
            if self._running is not None:
                loop, task = self._running
                loop.call_soon_threadsafe(task.cancel)

    def _run(self, loop: asyncio.AbstractEventLoop, items: AsyncIterator[Item]) -> Item | None:
        task = loop.create_task(_next(items))
        with self._lock:
            self._running = (loop, task)
            if self._stopped:
                task.cancel()
        try:
            return loop.run_until_complete(task)
        except asyncio.CancelledError:
            return None
        finally:
            with self._lock:
                self._running = None


async def _next(items: AsyncIterator[Item]) -> Item | None:
    return await anext(items, None)
