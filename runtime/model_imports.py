"""Model files from elsewhere on this machine on their way into the library, one after the other."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from runtime.errors import Field
from runtime.messages import JsonObject

if TYPE_CHECKING:
    from models.intake import Intake, Mode
    from models.references import References
    from models.transfer import Step


@dataclass(frozen=True, slots=True)
class Import:
    """How taking in the model `title` stands: `done` of `total` bytes, `began` by the monotonic clock. `path`
    is the model's file once it is there; `code` and `fields` say why it is not."""

    id: str
    title: str
    files: tuple[str, ...]
    total: int
    state: Literal["queued", "running", "checking", "done", "failed"] = "queued"
    done: int = 0
    began: float = 0.0
    path: str = ""
    code: str = ""
    fields: dict[str, Field] = field(default_factory=dict)

    def as_row(self) -> JsonObject:
        """Like the row of a download, of kind "import"."""
        spent = time.monotonic() - self.began
        speed = self.done / spent if self.state == "running" and self.done and spent > 0 else 0.0
        return {
            "id": self.id,
            "repository": "",
            "title": self.title,
            "kind": "import",
            "files": list(self.files),
            "state": self.state,
            "done": self.done,
            "total": self.total,
            "speed": speed,
            "seconds_left": (self.total - self.done) / speed if speed else None,
            "code": self.code,
            "fields": dict(self.fields),
            "path": self.path,
        }


class Imports:
    """Takes model files into `folder` or remembers them in `references`; `changed` hears of every step. Used
    from the runtime's loop; copying is done in a thread. The owner closes it."""

    def __init__(self, folder: Path, references: References, changed: Callable[[], None]) -> None:
        self._folder = folder
        self._references = references
        self._changed = changed
        self._rows: dict[str, Import] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ends: dict[str, threading.Event] = {}
        self._turn = asyncio.Lock()

    def rows(self) -> list[Import]:
        """Those under way and those that have ended, oldest first."""
        return list(self._rows.values())

    def knows(self, key: str) -> bool:
        """Whether `key` is the id of one of them."""
        return key in self._rows

    def begin(self, intakes: Sequence[Intake], mode: Mode) -> list[Import]:
        """Take these in, in order, as `mode` says or by copying where that one cannot be."""
        begun = []
        for intake in intakes:
            made = Import(secrets.token_hex(6), intake.name, tuple(map(str, intake.files)), intake.size)
            self._rows[made.id], self._ends[made.id] = made, threading.Event()
            self._tasks[made.id] = asyncio.create_task(self._take(made.id, intake, mode))
            begun.append(made)
        self._changed()
        return begun

    async def stop(self, key: str) -> None:
        """End it if it runs, leaving nothing half behind, and take it off the list. One that still waits for
        its turn is not waited for."""
        self._end(key)
        await asyncio.wait([self._tasks[key]])
        for known in (self._rows, self._ends, self._tasks):
            known.pop(key, None)
        self._changed()

    async def close(self) -> None:
        """End everything that runs; idempotent."""
        for key in self._tasks:
            self._end(key)
        if self._tasks:
            await asyncio.wait(self._tasks.values())

    def _end(self, key: str) -> None:
        self._ends[key].set()
        if self._rows[key].state == "queued":
            self._tasks[key].cancel()

    async def _take(self, key: str, intake: Intake, mode: Mode) -> None:
        from models.errors import EngineError
        from models.intake import take

        loop, end = asyncio.get_running_loop(), self._ends[key]

        def told(step: Step) -> None:
            loop.call_soon_threadsafe(self._on_step, key, step)

        async with self._turn:
            self._put(key, state="running", began=time.monotonic())
            try:
                taken = await asyncio.to_thread(
                    take, intake, mode, self._folder, self._references, told, end.is_set
                )
            except EngineError as error:
                self._put(key, state="failed", code=error.code, fields=dict(error.fields))
            except (OSError, ValueError) as error:
                fields: dict[str, Field] = {"path": str(intake.path), "reason": type(error).__name__}
                self._put(key, state="failed", code="import_failed", fields=fields)
            else:
                self._put(key, state="done", done=intake.size, path=str(taken.path))

    def _on_step(self, key: str, step: Step) -> None:
        row = self._rows.get(key)
        if row is not None and row.state in ("running", "checking"):
            self._put(key, state=step.state, done=step.done, total=step.total)

    def _put(self, key: str, **changes: object) -> None:
        self._rows[key] = replace(self._rows[key], **changes)  # type: ignore[arg-type]
        self._changed()
