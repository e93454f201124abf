"""Gives a model file its exam in an engine of its own, so that no conversation waits for it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import TYPE_CHECKING

from runtime.errors import OrionError
from runtime.exam.asking import Asking
from runtime.exam.exam import Exam, ModelFacts, Step
from runtime.exam.examiner import BUDGET, examine
from runtime.exam_record import ExamRecord
from runtime.settings import LocalModel

if TYPE_CHECKING:
    from models.library import Library

WINDOW = 4096
"""Tokens of context, whatever chats use: no model shall fail for want of room. The longest question has a
picture of a screen, which takes up to some 1,500."""

AGAIN = 3.0
"""How many times the usual time an exam has that goes on where an earlier one had to end: a large model on a
small machine would never get beyond the same place otherwise."""


async def sit(
    library: Library,
    record: ExamRecord,
    settings: LocalModel,
    model: str,
    told: Callable[[Step], None],
    *,
    budget: float = BUDGET,
    command: Sequence[str] | None = None,
) -> Exam:
    """Examine `model` (a name of the library), store the result and return what now counts of it. `budget` as
    in `examine`, but see AGAIN.

    `settings` are those by which chats run it. Cancelling the task ends the exam within 200 ms; the engine's
    child is gone when this returns. Raises OrionError: `model_unknown` and whatever is wrong with the file,
    `exam_too_large` (model, needed_mb, available_mb) where the memory that is free now does not hold it
    beside what runs already, or why the result could not be stored.
    """
    from models.errors import EngineError
    from runtime.providers.local import LocalProvider

    try:
        file = await asyncio.to_thread(library.find, model)
    except EngineError as error:
        raise OrionError(error.code, fault="user", **error.fields) from error
    key = await asyncio.to_thread(record.key, file)
    known = await asyncio.to_thread(record.of, file)
    own = settings.model_copy(update={"window": WINDOW, "idle_minutes": 0.0})
    provider = LocalProvider(library, lambda: own, command)
    facts = ModelFacts(key, provider.traits(model).images, _build())
    try:
        time = allowed(budget, known)
        exam = await examine(Asking(provider, model), facts, told, budget=time, known=known)
    except OrionError as error:
        if error.code != "model_too_large":
            raise
        raise _crowded(error, model) from error
    except asyncio.CancelledError:
        _end(provider.engine.pid)  # it holds nothing worth storing, and nobody wants to wait for it
        raise
    finally:
        await provider.close()
    return await asyncio.to_thread(record.put, exam)


def _crowded(error: OrionError, model: str) -> OrionError:
    """The want of memory that `error` tells of, said for an exam, whose window is not one that users set."""
    room = {name: error.fields[name] for name in ("needed_mb", "available_mb") if name in error.fields}
    return OrionError("exam_too_large", fault="user", model=model, **room)


def allowed(budget: float, known: Exam | None) -> float:
    """The seconds for an exam of which `known` is already there."""
    cut = known is not None and any(score.code == "exam_time_up" for score in known.scores.values())
    return AGAIN * budget if cut else budget


def _end(pid: int) -> None:
    """End a process at once; 0 is none."""
    import psutil

    if pid:
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(pid).kill()


def _build() -> str:
    """Which release of the engine's library answers."""
    try:
        return metadata.version("llama-cpp-python")
    except metadata.PackageNotFoundError:
        return ""
