"""One thread in which one speech engine works, and the line of requests before it."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Generic, Protocol, TypeVar

from voice.services.limits import Limits
from voice.services.refusal import Refusal

Item = TypeVar("Item", covariant=True)
Result = TypeVar("Result")


class Steps(Protocol[Item]):
    """Work that is done piece by piece; `close` ends it early, also before its first piece."""

    def __next__(self) -> Item: ...
    def close(self) -> None: ...


class Engine:
    """Runs calls in one thread of its own, first come, first served; a call that runs is never cut.

    Requests that take their work in steps share the engine step by step, and one that goes away frees it
    at its next step. `stop` must be called.
    """

    def __init__(self, name: str, limits: Limits) -> None:
        self._limits = limits
        self._taken = 0
        self._closed = False
        self._calls: queue.SimpleQueue[_Call[Any] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=f"voice-{name}", daemon=True)
        self._thread.start()

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place in the line for one request; raises Refusal when all are taken. For the loop's thread."""
        if self._taken >= self._limits.places:
            raise Refusal(429, "service_line_full", places=self._limits.places)
        self._taken += 1
        try:
            yield
        finally:
            self._taken -= 1

    def submit(self, function: Callable[[], Result]) -> Future[Result]:
        """Let `function` run after all that was submitted before; for any thread."""
        call = _Call(function)
        if self._closed:
            call.future.cancel()
        else:
            self._calls.put(call)
        return call.future

    async def run(self, function: Callable[[], Result]) -> Result:
        """The result of `function`; raises what it raises, and Refusal if its turn does not come in time."""
        future = self.submit(function)
        waiting = asyncio.wrap_future(future)
        waiting.add_done_callback(_read)
        try:
            await asyncio.wait({waiting}, timeout=self._limits.wait)
        finally:
            given_up = future.cancel()
        if given_up:
            raise Refusal(503, "service_too_busy", seconds=round(self._limits.wait))
        return await waiting

    async def steps(self, work: Steps[Result]) -> AsyncGenerator[Result]:
        """Every item of `work`, each made in the engine's thread; closes it there, whatever happens."""
        try:
            while True:
                found, item = await self.run(lambda: _next(work))
                if not found:
                    return
                yield item
        finally:
            self.submit(work.close)

    def stop(self, last: Callable[[], None] | None = None) -> None:
        """Let the thread end after the call it is in, and after `last`; calls that wait are cancelled."""
        self._closed = True
        self._drop()
        if last is not None:
            self._calls.put(_Call(last))
        self._calls.put(None)

    def ended(self, seconds: float) -> bool:
        """Wait for the end after `stop`; False when the call it is in outlasts `seconds`."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _drop(self) -> None:
        while True:
            try:
                call = self._calls.get_nowait()
            except queue.Empty:
                return
            if call is not None:
                call.future.cancel()

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call.run()
            del call


class _Call(Generic[Result]):
    def __init__(self, function: Callable[[], Result]) -> None:
        self._function = function
        self.future: Future[Result] = Future()

    def run(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = self._function()
        except BaseException as error:  # noqa: BLE001 - the edge of a thread: whoever waits raises it
            self.future.set_exception(error)
        else:
            self.future.set_result(result)


def _next(work: Steps[Result]) -> tuple[bool, Any]:
    try:
        return True, work.__next__()
    except StopIteration:
        return False, None


def _read(waiting: asyncio.Future[Any]) -> None:
    """Take note of a fault that nobody waits for any more, so that asyncio does not complain of it."""
    if not waiting.cancelled():
        waiting.exception()
