"""A runtime on a thread of its own, so that the terminal's thread is free for keys and signals."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from runtime.events import Event
from runtime.logs import NAME, logging_to, record_of
from runtime.paths import find_home

if TYPE_CHECKING:
    from runtime.assemble import Runtime

Result = TypeVar("Result")
Parameters = ParamSpec("Parameters")

DOOR = "terminal"
_CLOSING_SECONDS = 10.0


class Host:
    """Owns the thread, its loop and the runtime between `with` and its end.

    Entering raises what assembling raises (OrionError). `call` and `run` are for the terminal's thread;
    they raise what the called code raises. KeyboardInterrupt while waiting cancels the call.
    """

    def __init__(self, home: Path | None = None) -> None:
        self._home = home
        self._ready: Future[Runtime] = Future()
        self._thread = threading.Thread(target=self._serve, name="orion-runtime", daemon=True)
        self._loop: asyncio.AbstractEventLoop
        self._closing: asyncio.Event

    def __enter__(self) -> Host:
        self._thread.start()
        self._ready.result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join(_CLOSING_SECONDS)

    @property
    def runtime(self) -> Runtime:
        """The assembled runtime; its methods belong on its own thread, see `call` and `run`."""
        return self._ready.result()

    def call(
        self,
        function: Callable[Parameters, Awaitable[Result]],
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> Result:
        """Await `function(*args)` on the runtime's loop and return its result."""

        async def awaited() -> Result:
            return await function(*args, **kwargs)

        future = asyncio.run_coroutine_threadsafe(awaited(), self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def run(
        self, function: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        """Call a plain `function(*args)` on the runtime's loop and return its result."""

        async def called() -> Result:
            return function(*args, **kwargs)

        return self.call(called)

    def log(self, event: Event) -> None:
        """Keep of `event` what the log may keep; chunks and moves are not worth a line."""
        if not event.body.type.endswith(("_chunk", "_change", "_start")):
            logging.getLogger(NAME).info(event.body.type, extra={"event": record_of(event)})

    def _serve(self) -> None:
        try:
            asyncio.run(self._hold())
        except BaseException as error:  # the edge of a thread: the waiting one raises it
            if self._ready.done():
                raise
            self._ready.set_exception(error)

    async def _hold(self) -> None:
        from runtime.assemble import assemble

        self._loop = asyncio.get_running_loop()
        self._closing = asyncio.Event()
        with logging_to(find_home(self._home).logs, door=DOOR):
            async with assemble(self._home, door=DOOR) as runtime:
                self._ready.set_result(runtime)
                await self._closing.wait()
