"""The exam that a model sits in the background, as doors follow and end it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from runtime.errors import Field, OrionError
from runtime.exam.exam import Exam, Step
from runtime.messages import JsonObject
from runtime.news import News

if TYPE_CHECKING:
    from models.library import ModelFile

Sit = Callable[["ModelFile", Callable[[Step], None]], Awaitable[Exam]]


@dataclass(frozen=True, slots=True)
class Run:
    """Where the exam of `model` is: `done` of the `of` questions of `discipline` are answered, `results` are
    the states of those before it. `code` and `fields` say why it failed."""

    model: str
    state: Literal["running", "done", "stopped", "failed"] = "running"
    discipline: str = ""
    done: int = 0
    of: int = 0
    results: dict[str, str] = field(default_factory=dict)
    code: str = ""
    fields: dict[str, Field] = field(default_factory=dict)

    def as_row(self) -> JsonObject:
        """For doors: plain values."""
        return {
            "model": self.model,
            "state": self.state,
            "discipline": self.discipline,
            "done": self.done,
            "of": self.of,
            "results": dict(self.results),
            "code": self.code,
            "fields": dict(self.fields),
        }


class ExamRoom:
    """One exam at a time. `sit` examines a model, keeps what came of it, and is cancelled to end it. Used
    from the runtime's loop; its owner stops it."""

    def __init__(self, sit: Sit) -> None:
        self._sit = sit
        self._task: asyncio.Task[None] | None = None
        self._run: Run | None = None
        self._news = News()

    @property
    def run(self) -> Run | None:
        """The exam that runs or ran last."""
        return self._run

    def examines(self, name: str) -> bool:
        """Whether the model `name` is being examined."""
        return self._run is not None and self._run.state == "running" and self._run.model == name

    def begin(self, model: ModelFile) -> Run:
        """Examine `model`; the same one twice is one exam. Raises OrionError `exam_busy` (model)."""
        if self._run is not None and self._run.state == "running":
            if self._run.model != model.name:
                raise OrionError("exam_busy", model=self._run.model)
            return self._run
        self._run = Run(model.name)
        self._news.tell()
        self._task = asyncio.create_task(self._examine(model), name=f"exam of {model.name}")
        return self._run

    async def step(self, seen: int) -> JsonObject:
        """{"step", "run"} once something changed after `seen`."""
        step = await self._news.after(seen)
        return {"step": step, "run": self._run.as_row() if self._run else None}

    async def stop(self) -> None:
        """End the exam that runs; nothing is kept of it. Returns when its engine is gone."""
        task, self._task = self._task, None
        if self._run is not None and self._run.state == "running":
            self._tell(state="stopped")
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _examine(self, model: ModelFile) -> None:
        try:
            await self._sit(model, self._on_step)
        except OrionError as error:
            self._tell(state="failed", code=error.code, fields=dict(error.fields))
        else:
            self._tell(state="done")
        finally:
            if self._run is not None and self._run.state == "running":  # a bug, which surfaces elsewhere
                self._tell(state="stopped")

    def _on_step(self, step: Step) -> None:
        results = dict(self._run.results) if self._run else {}
        if step.state != "running":
            results[step.discipline] = step.state
        self._tell(discipline=step.discipline, done=step.done, of=step.of, results=results)

    def _tell(self, **changes: object) -> None:
        assert self._run is not None
        self._run = replace(self._run, **changes)  # type: ignore[arg-type]
        self._news.tell()
