"""The one file that knows both threads: events become Qt signals here, and clicks become coroutines."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar

from PySide6.QtCore import QObject, Qt, QThread, Signal

from desktop.live.frames import FrameBox
from runtime.errors import OrionError
from runtime.redaction import plainly

if TYPE_CHECKING:
    import asyncio

    from desktop.desk import Desk

P = ParamSpec("P")
R = TypeVar("R")
Fields = dict[str, str | int | float]
_log = logging.getLogger("orion.desktop.bridge")
JOIN_MS = 8000


class Reply(Generic[R]):
    """The answer that will come to a question; lives on the main thread."""

    def __init__(self) -> None:
        self._done: Callable[[R], object] | None = None
        self._failed: Callable[[str, Fields], object] | None = None

    def then(
        self, done: Callable[[R], object], failed: Callable[[str, Fields], object] | None = None
    ) -> Reply[R]:
        """Call `done` with the result or `failed` with code and fields, on the main thread. Set it before
        returning to the Qt loop. Without `failed` the bridge's `refused` signal carries the failure."""
        self._done = done
        self._failed = failed
        return self

    def settle(self, ok: bool, value: Any) -> bool:
        """Deliver; False when it is a failure that nobody here takes."""
        if ok:
            if self._done is not None:
                self._done(value)
            return True
        if self._failed is None:
            return False
        self._failed(value[0], value[1])
        return True


class Bridge(QObject):
    """Owns the thread on which the runtime lives. Created, used and closed on the main thread.

    `ready` carries Desk.overview(); `failed` says why there is no runtime; `happened` carries each Event, in
    order; `spoke` each event of the voice; `computed` each of the agent's computer, `pictured` that `frames`
    holds a newer picture of it; `refused` carries failures no caller took; `escaped` carries exceptions that
    are bugs.
    """

    ready = Signal(object)
    failed = Signal(str, object)
    happened = Signal(object)
    spoke = Signal(object)
    computed = Signal(object)
    pictured = Signal()
    refused = Signal(str, object)
    escaped = Signal(object)
    _settled = Signal(int, bool, object)

    def __init__(self, home: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.frames = FrameBox()
        self._thread = _RuntimeThread(home, self.frames, self)
        self._replies: dict[int, Reply[Any]] = {}
        self._waiting: list[tuple[int, Callable[[Desk], Awaitable[Any]]]] | None = []
        self._count = 0
        self._settled.connect(self._on_settled, Qt.ConnectionType.QueuedConnection)
        self._thread.assembled.connect(self._on_assembled, Qt.ConnectionType.QueuedConnection)
        self._thread.failed.connect(self._on_failed, Qt.ConnectionType.QueuedConnection)
        self._thread.happened.connect(self.happened, Qt.ConnectionType.QueuedConnection)
        self._thread.spoke.connect(self.spoke, Qt.ConnectionType.QueuedConnection)
        self._thread.computed.connect(self.computed, Qt.ConnectionType.QueuedConnection)
        self._thread.pictured.connect(self.pictured, Qt.ConnectionType.QueuedConnection)
        self._thread.escaped.connect(self.escaped, Qt.ConnectionType.QueuedConnection)

    def start(self) -> None:
        """Begin to assemble the runtime; returns at once, `ready` or `failed` follows."""
        self._thread.start()

    def ask(
        self,
        question: Callable[Concatenate[Desk, P], Awaitable[R]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Reply[R]:
        """Ask the desk; never blocks. Questions before `ready` wait for it, those after a failure fail."""
        self._count += 1
        reply: Reply[R] = Reply()
        self._replies[self._count] = reply

        def run(desk: Desk) -> Awaitable[R]:
            return question(desk, *args, **kwargs)

        if self._waiting is not None:
            self._waiting.append((self._count, run))
        elif not self._thread.submit(self._count, run, self._settled.emit):
            self._settled.emit(self._count, False, ("runtime_gone", {}))
        return reply

    def close(self) -> bool:
        """Cancel what runs, close the runtime, end the thread. Blocks at most 8 s; False when the thread
        could not be ended. Idempotent."""
        self._replies.clear()
        self._thread.stop()
        return self._thread.wait(JOIN_MS)

    def _on_assembled(self, overview: object) -> None:
        waiting, self._waiting = self._waiting or [], None
        self.ready.emit(overview)
        for token, run in waiting:
            self._thread.submit(token, run, self._settled.emit)

    def _on_failed(self, code: str, fields: Fields) -> None:
        waiting, self._waiting = self._waiting or [], None
        self.failed.emit(code, fields)
        for token, _run in waiting:
            self._on_settled(token, False, (code, fields))

    def _on_settled(self, token: int, ok: bool, value: Any) -> None:
        reply = self._replies.pop(token, None)
        if reply is not None and not reply.settle(ok, value):
            self.refused.emit(value[0], value[1])


class _RuntimeThread(QThread):
    """Creates the loop inside run(), because a loop belongs to the thread that made it."""

    assembled = Signal(object)
    failed = Signal(str, object)
    happened = Signal(object)
    spoke = Signal(object)
    computed = Signal(object)
    pictured = Signal()
    escaped = Signal(object)

    def __init__(self, home: Path | None, frames: FrameBox, parent: QObject) -> None:
        super().__init__(parent)
        self._frames = frames
        self.setObjectName("runtime")
        self._home = home
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._stopping = False
        self._desk: Desk | None = None

    def run(self) -> None:
        """The thread: everything the runtime starts is closed before this returns."""
        import asyncio  # here and not above: the first frame must not wait for it

        try:
            with asyncio.Runner() as runner:
                runner.run(self._live())
        except OrionError as error:
            self.failed.emit(error.code, error.fields)
        except Exception as error:  # noqa: BLE001 (the thread's edge: a bug here must reach the window)
            self._report(error)
            self.failed.emit("runtime_failed", {"reason": plainly(error)})

    async def _live(self) -> None:
        import asyncio

        from desktop.desk import Desk
        from desktop.desk_computer import DeskComputer
        from runtime.assemble import assemble

        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._on_loop_fault)
        self._stop = asyncio.Event()
        self._loop = loop
        if self._stopping:
            return
        async with assemble(self._home, door="window") as runtime:
            watcher = DeskComputer(runtime, self.computed.emit, self._frames, self.pictured.emit)
            self._desk = Desk(runtime, self.happened.emit, self.spoke.emit, watcher)
            self.assembled.emit(await self._desk.overview())
            await self._stop.wait()
            desk, self._desk = self._desk, None
            await desk.close()

    def submit(
        self,
        token: int,
        run: Callable[[Desk], Awaitable[Any]],
        settled: Callable[[int, bool, object], None],
    ) -> bool:
        """Main thread: run a question on the loop; False when the runtime is gone."""
        import asyncio

        loop, desk = self._loop, self._desk
        if loop is None or desk is None or loop.is_closed():
            return False
        asyncio.run_coroutine_threadsafe(self._answer(token, run, desk, settled), loop)
        return True

    def stop(self) -> None:
        """Main thread: ask the loop to close everything and end."""
        self._stopping = True
        loop, stop = self._loop, self._stop
        if loop is not None and stop is not None:
            with suppress(RuntimeError):  # the loop may close between two lines
                loop.call_soon_threadsafe(stop.set)

    async def _answer(
        self,
        token: int,
        run: Callable[[Desk], Awaitable[Any]],
        desk: Desk,
        settled: Callable[[int, bool, object], None],
    ) -> None:
        try:
            settled(token, True, await run(desk))
        except OrionError as error:
            settled(token, False, (error.code, error.fields))
        except Exception as error:  # noqa: BLE001 (the loop's edge: a bug is reported and answered)
            self._report(error)
            settled(token, False, ("bug", {"problem": plainly(error)}))

    def _on_loop_fault(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, Exception):
            self._report(error)
        else:
            loop.default_exception_handler(context)

    def _report(self, error: Exception) -> None:
        _log.error("fault on the runtime's thread\n%s", "".join(traceback.format_exception(error)))
        self.escaped.emit(error)
