"""The queue of downloads: three at a time, durable, and seen by others as rows that change."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from models.download import Download, Pace, State, Wanted
from models.download_record import FILE, Record, Shelf, fresh, renewed, shelves
from models.download_transfer import Transfer
from models.errors import EngineError
from models.hub import Hub

AT_ONCE = 3
ENDS = ("paused", "done", "failed")

_log = logging.getLogger("orion.models")


class _Row:
    """A download and, while it works, its transfer in a thread."""

    def __init__(self, record: Record, shelf: Shelf) -> None:
        self.record = record
        self.shelf = shelf
        self.transfer: Transfer | None = None
        self.task: asyncio.Task[None] | None = None
        self.turn = asyncio.Lock()
        self.begun = False
        self.elsewhere = False
        self.step = 0
        self.stamp = shelf.stamp()

    @property
    def works(self) -> bool:
        return self.task is not None and not self.task.done()

    def shown(self) -> Download:
        """How it stands for others."""
        record, now = self.record, self.transfer.now if self.transfer else None
        total = sum(max(0, piece.size) for piece in record.pieces)
        done = sum(piece.size if piece.whole else piece.synced for piece in record.pieces)
        state: State = record.state
        code, fields = record.code, record.fields
        speed = 0.0
        if self.elsewhere:
            state, code, fields = "running", "download_elsewhere", {"title": record.wanted.title}
        elif now is not None:
            state, code, fields, done, speed = now.state, now.code, dict(now.fields), now.done, now.speed
        elif state in ("queued", "running", "checking") and not self.works:
            state = "paused"
        return Download(
            id=record.wanted.id,
            repository=record.wanted.repository,
            title=record.wanted.title,
            kind=record.wanted.kind,
            files=tuple(piece.name for piece in record.pieces),
            state=state,
            done=done,
            total=total,
            speed=speed,
            seconds_left=(total - done) / speed if speed > 0 and state == "running" else None,
            code=code,
            fields=fields,
            step=self.step,
            path=str(self.transfer.path) if self.transfer and state == "done" else "",
        )


class Downloads:
    """Files of `hub` on their way into `folder`, by way of `staging` on the same disk.

    Nothing is read before the first use. Used from one event loop; the owner closes it. `changed` is called
    in that loop after each change of a row, at most some ten times a second for each. Several processes may
    share the folders: a download that another one works on is seen, but left alone.
    """

    def __init__(
        self, hub: Hub, folder: Path, staging: Path, changed: Callable[[], None], pace: Pace | None = None
    ) -> None:
        self._hub = hub
        self._folder = folder
        self._staging = staging
        self._changed = changed
        self._pace = pace or Pace()
        self._rows: dict[str, _Row] = {}
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._threads: ThreadPoolExecutor | None = None
        self._moved = asyncio.Event()
        self._step = 0
        self._closed = False

    @property
    def at(self) -> int:
        """The number of the last change; it grows also when a row goes."""
        return self._step

    def all(self) -> list[Download]:
        """Every download that is not dropped, the oldest first; one that is done until this process ends."""
        return [row.shown() for row in sorted(self._known().values(), key=lambda row: row.record.begun)]

    async def step(self, seen: int) -> list[Download]:
        """`all` as soon as something has changed after change number `seen`."""
        while self._step <= seen and not self._closed:
            await self._moved.wait()
        return self.all()

    async def begin(self, wanted: Wanted) -> Download:
        """Fetch something; where it is on its way or waits already, that one goes on. EngineError
        download_name_refused, download_elsewhere or download_unwritable."""
        wanted.check()
        row = self._known().get(wanted.id)
        if row is None:
            row = self._rows_with(_Row(fresh(wanted, time.time()), Shelf(self._staging / wanted.id)))
        async with row.turn:
            await self._settle(row)
            if not (row.works or row.elsewhere):
                if row.record.state == "done":
                    row.record = fresh(wanted, time.time())
                elif row.record.wanted != wanted:
                    row.record = renewed(row.record, wanted)
                await self._start(row)
        return row.shown()

    async def go_on(self) -> None:
        """Take up what had been running or queued when the program ended, and clear away what is left of
        downloads that were dropped."""
        await asyncio.to_thread(self._sweep)
        for row in list(self._known().values()):
            async with row.turn:
                unfinished = row.record.state in ("queued", "running", "checking")
                if unfinished and not row.works and not row.elsewhere:
                    with contextlib.suppress(EngineError):
                        await self._start(row)

    async def pause(self, id: str) -> None:
        """Stop fetching and keep what came. EngineError download_unknown or download_elsewhere."""
        row = self._row(id)
        async with row.turn:
            if row.works:
                await self._halt(row)
                if row.record.state != "done":
                    await self._take(row)
                    await self._store(row, "paused")
                    row.shelf.release()

    async def resume(self, id: str) -> None:
        """Go on with one that pauses or failed. Raises as `pause`, and download_unwritable."""
        row = self._row(id)
        async with row.turn:
            await self._settle(row)
            if not row.works and row.record.state != "done":
                await self._start(row)

    async def stop(self, id: str) -> None:
        """Drop a download with what it fetched; of one that is done only the row goes. Raises as `pause`."""
        row = self._row(id)
        async with row.turn:
            if row.works:
                await self._halt(row)
            if row.record.state != "done":
                await self._take(row)
                with self._writing(row):
                    await asyncio.to_thread(row.shelf.remove)
            self._rows.pop(id, None)
            self._note(None)

    async def close(self) -> None:
        """Stop all work; what was running goes on when `go_on` is called in the next process. Idempotent."""
        self._closed = True
        working = [row for row in self._rows.values() if row.works]
        for row in working:
            if row.transfer is not None:
                row.transfer.halt()  # all at once: each may wait for its host
        for row in working:
            await self._halt(row)
        if self._threads is not None:
            self._threads.shutdown()
        self._note(None)

    # --- work -------------------------------------------------------------------------------------------

    async def _start(self, row: _Row) -> None:
        if self._closed:
            return
        await self._take(row)
        with self._writing(row):
            found = await asyncio.to_thread(row.shelf.read)
            if found is not None and found.wanted == row.record.wanted:
                row.record = found  # another process may have gone on with it
        loop = asyncio.get_running_loop()

        def told() -> None:
            loop.call_soon_threadsafe(self._note, row)

        row.elsewhere, row.begun = False, False
        await self._store(row, "queued")
        row.transfer = Transfer(self._hub, row.record, row.shelf, self._folder, self._pace, told)
        row.task = asyncio.create_task(self._work(row, row.transfer))
        self._note(row)
        await asyncio.sleep(0)  # one that was cancelled before its first step would not tidy up after itself

    async def _work(self, row: _Row, transfer: Transfer) -> None:
        try:
            async with self._slots:
                row.begun = True
                self._threads = self._threads or ThreadPoolExecutor(AT_ONCE, "orion-download")
                await asyncio.get_running_loop().run_in_executor(self._threads, transfer.run)
        finally:
            row.record = replace(transfer.record, state=_kept(transfer), code="", fields={})
            if transfer.now.code:
                row.record = replace(row.record, code=transfer.now.code, fields=dict(transfer.now.fields))
            row.shelf.release()
            if transfer.now.state != "done":
                row.transfer = None
            self._note(row)

    async def _settle(self, row: _Row) -> None:
        """A thread that has said how it ended comes back before anything else is done with its row."""
        if row.task is not None and row.transfer is not None and row.transfer.now.state in ENDS:
            await asyncio.wait({row.task})

    async def _halt(self, row: _Row) -> None:
        """Wait until its thread has come back."""
        task, transfer = row.task, row.transfer
        if task is None or transfer is None:
            return
        transfer.halt()
        if not row.begun:
            task.cancel()
        await asyncio.wait({task})

    async def _take(self, row: _Row) -> None:
        with self._writing(row):
            row.elsewhere = not await asyncio.to_thread(row.shelf.take)
        if row.elsewhere:
            raise EngineError("download_elsewhere", title=row.record.wanted.title)

    async def _store(self, row: _Row, state: State) -> None:
        row.record = replace(row.record, state=state, code="", fields={})
        with self._writing(row):
            await asyncio.to_thread(row.shelf.write, row.record)
        self._note(row)

    @contextmanager
    def _writing(self, row: _Row) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            row.shelf.release()
            path, reason = str(row.shelf.folder), error.strerror or type(error).__name__
            raise EngineError("download_unwritable", path=path, reason=reason) from error

    # --- rows -------------------------------------------------------------------------------------------

    def _known(self) -> dict[str, _Row]:
        """The rows, with what other processes have changed meanwhile."""
        here = {shelf.folder.name: shelf for shelf in shelves(self._staging)}
        for id in here.keys() - self._rows.keys():
            self._load(here[id])
        for id, row in list(self._rows.items()):
            if not (row.works or row.turn.locked() or row.record.state == "done"):
                self._look(id, row)
        return self._rows

    def _look(self, id: str, row: _Row) -> None:
        stamp = row.shelf.stamp()
        if stamp is None:
            del self._rows[id]  # another process finished or dropped it
        elif row.elsewhere or stamp != row.stamp:
            row.stamp, row.elsewhere = stamp, row.shelf.held()
            row.record = _read(row.shelf) or row.record

    def _load(self, shelf: Shelf) -> None:
        record = _read(shelf)
        if record is not None:
            self._rows_with(_Row(record, shelf)).elsewhere = shelf.held()

    def _rows_with(self, row: _Row) -> _Row:
        self._rows[row.record.wanted.id] = row
        return row

    def _row(self, id: str) -> _Row:
        row = self._known().get(id)
        if row is None:
            raise EngineError("download_unknown", name=id)
        if row.elsewhere:
            raise EngineError("download_elsewhere", title=row.record.wanted.title)
        return row

    def _sweep(self) -> None:
        """Folders without a record are what a kill left of a download that was dropped or done."""
        for folder in self._staging.glob("*/"):
            shelf = Shelf(folder)
            if not (folder / FILE).exists() and not shelf.held():
                shutil.rmtree(folder, ignore_errors=True)

    def _note(self, row: _Row | None) -> None:
        self._step += 1
        if row is not None:
            row.step = self._step
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()
        self._changed()


def _read(shelf: Shelf) -> Record | None:
    """The record, if it is one that this program understands; what is not is left untouched."""
    try:
        record = shelf.read()
    except EngineError as error:
        _log.info("a download is left untouched: %s", error)
        return None
    return record if record is not None and record.wanted.id == shelf.folder.name else None


def _kept(transfer: Transfer) -> State:
    """The state that a download has in its record after its thread came back."""
    state = transfer.now.state
    return state if state in ("done", "failed") or transfer.now.code else transfer.record.state
