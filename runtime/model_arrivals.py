"""Models on their way to this machine, from the hub and from elsewhere on the disk, as one list of rows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.messages import JsonObject
from runtime.model_faults import translated
from runtime.model_imports import Imports
from runtime.news import News
from runtime.paths import Home

if TYPE_CHECKING:
    from models.download import Download, Wanted
    from models.downloads import Downloads
    from models.hub import Hub
    from models.intake import Intake, Mode
    from models.library import Library
    from models.references import References

PACE = 0.1
"""Seconds between two steps that are told."""

GLANCE = 1.0
"""Seconds between two looks at what another process fetches."""

ELSEWHERE = "download_elsewhere"

RUNNING = ("queued", "running", "checking")


class Arrivals:
    """Used from the runtime's loop; nothing is opened before it is needed. `hub` gives the hub to fetch from,
    `arrived` hears of the file of each
    model that came. The owner closes it."""

    def __init__(
        self,
        home: Home,
        hub: Callable[[], Hub],
        library: Library,
        references: References,
        arrived: Callable[[Path], Coroutine[None, None, None]],
    ) -> None:
        self.news = News()
        self._home = home
        self._hub = hub
        self._library = library
        self._arrived = arrived
        self._imports = Imports(home.weights, references, self.news.tell)
        self._queue: Downloads | None = None
        self._asked: Hub | None = None
        self._changing = asyncio.Lock()
        self._names: dict[str, str] = {}
        self._came: set[tuple[str, int]] = set()
        self._telling: set[asyncio.Task[None]] = set()

    async def fetch(self, wanted: Wanted) -> JsonObject:
        """Begin with `wanted`, or go on with it: its row."""
        with translated():
            row = await (await self._downloads()).begin(wanted)
        return await self._row(row.id)

    async def pause(self, key: str) -> None:
        """Let it rest; an import cannot and is ended."""
        if self._imports.knows(key):
            await self._imports.stop(key)
            return
        with translated():
            await (await self._downloads()).pause(key)

    async def resume(self, key: str) -> JsonObject:
        """Go on with a download: its row."""
        with translated():
            await (await self._downloads()).resume(key)
        return await self._row(key)

    async def stop(self, key: str) -> None:
        """Give it up, or take it off the list where it has ended."""
        if self._imports.knows(key):
            await self._imports.stop(key)
            return
        with translated():
            await (await self._downloads()).stop(key)
        self.news.tell()

    async def rows(self) -> list[JsonObject]:
        """Everything on its way and what has ended, downloads first."""
        rows = [_as_row(found) for found in (await self._downloads()).all()]
        rows += [row.as_row() | {"name": "", "host": ""} for row in self._imports.rows()]
        await asyncio.to_thread(self._name, rows)
        return rows

    async def step(self, seen: int) -> JsonObject:
        """{"step", "downloads"} once something changed after `seen`; the next step follows after PACE. What
        another process fetches is looked at every GLANCE seconds."""
        elsewhere = any(row.code == ELSEWHERE for row in (await self._downloads()).all())
        with suppress(TimeoutError):
            async with asyncio.timeout(GLANCE if elsewhere else None):
                await self.news.after(seen)
        step, rows = self.news.step, await self.rows()
        if any(row["state"] in RUNNING for row in rows) and seen >= 0:
            await asyncio.sleep(PACE)
            step, rows = self.news.step, await self.rows()
        return {"step": step, "downloads": rows}

    async def go_on(self) -> None:
        """Take up what ran when the program ended, and clear away what imports left that were cut off."""
        from models.transfer import sweep

        await asyncio.to_thread(sweep, self._home.weights)
        if self._home.downloads.is_dir():
            await (await self._downloads()).go_on()

    async def plan(self, paths: Sequence[str]) -> list[JsonObject]:
        """What taking these in would mean: [{path, name, size, kind, modes, code, fields}]."""
        return [
            {
                "path": str(intake.path),
                "name": intake.name,
                "size": intake.size,
                "kind": intake.kind,
                "modes": list(intake.modes),
                "code": intake.error,
                "fields": dict(intake.fields),
            }
            for intake in await asyncio.to_thread(self._planned, paths)
        ]

    async def take(self, paths: Sequence[str], mode: Mode) -> list[JsonObject]:
        """Begin to take in what is usable of these: the rows."""
        intakes = await asyncio.to_thread(self._planned, paths)
        begun = self._imports.begin([intake for intake in intakes if not intake.error], mode)
        return [row.as_row() | {"name": "", "host": ""} for row in begun]

    async def close(self) -> None:
        """End everything; downloads that ran are taken up again by `go_on` of the next process."""
        if self._queue is not None:
            await self._queue.close()
        await self._imports.close()
        if self._telling:
            await asyncio.wait(self._telling)

    def _planned(self, paths: Sequence[str]) -> list[Intake]:
        from models.intake import plan

        return plan([Path(path) for path in paths], self._library.list())

    async def _downloads(self) -> Downloads:
        """The queue, made at its first use and anew when the settings name another hub: what ran goes on
        there."""
        from models.downloads import Downloads

        hub, home = self._hub(), self._home
        async with self._changing:
            if self._queue is None or self._asked is not hub:
                old, self._asked = self._queue, hub
                if old is not None:
                    await old.close()
                self._queue = Downloads(hub, home.weights, home.downloads, self._on_change)
                if old is not None:
                    await self._queue.go_on()
            return self._queue

    def _on_change(self) -> None:
        self.news.tell()
        for found in self._queue.all() if self._queue else ():
            if found.state == "done" and (found.path, found.step) not in self._came:
                self._came.add((found.path, found.step))
                task = asyncio.create_task(self._arrived(Path(found.path)))
                self._telling.add(task)
                task.add_done_callback(self._telling.discard)

    async def _row(self, key: str) -> JsonObject:
        return next(row for row in await self.rows() if row["id"] == key)

    def _name(self, rows: list[JsonObject]) -> None:
        """Give those that are done the name under which the library has them. Blocks."""
        done = [row for row in rows if row["state"] == "done" and row["path"]]
        missing = [row for row in done if row["path"] not in self._names]
        if missing:
            self._names |= {str(model.path): model.name for model in self._library.list()}
        for row in done:
            path = Path(row["path"])
            row["name"] = self._names.get(row["path"]) or (path.name if path.is_dir() else path.parent.name)


def _as_row(found: Download) -> JsonObject:
    host = str(found.fields.get("host", "")) if found.code == "host_refused" else ""
    return asdict(found) | {"files": list(found.files), "name": "", "host": host}
