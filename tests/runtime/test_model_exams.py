"""An exam runs in the background, is followed step by step, and ends when it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from models.library import ModelFile
from runtime.errors import OrionError
from runtime.exam.exam import Exam, ModelKey, Step
from runtime.model_exams import ExamRoom

ONE, TWO = (ModelFile(name, Path(f"/{name}.gguf"), 1) for name in ("one", "two"))
RESULT = Exam(ModelKey("one", 1, "0"), "", 0.0, 1.0, False, {})


class Sitting:
    """Takes two steps; then waits until `over` is set, and fails where there is an `error`."""

    def __init__(self, error: Exception | None = None) -> None:
        self.over = asyncio.Event()
        self.ended = False
        self.error = error

    async def sit(self, model: ModelFile, told: Callable[[Step], None]) -> Exam:
        try:
            told(Step("speed", 1, 1, "passed"))
            told(Step("instructions", 3, 14))
            await self.over.wait()
            if self.error:
                raise self.error
            return RESULT
        finally:
            self.ended = True


def test_an_exam_is_followed_to_its_end() -> None:
    async def work() -> None:
        sitting = Sitting()
        room = ExamRoom(sitting.sit)
        assert (await room.step(-1))["run"] is None
        begun = room.begin(ONE)
        assert begun.as_row()["state"] == "running"
        assert room.begin(ONE) is room.run
        told = await room.step(2)
        assert (told["run"]["discipline"], told["run"]["done"], told["run"]["of"]) == ("instructions", 3, 14)
        assert told["run"]["results"] == {"speed": "passed"}
        assert room.examines("one")
        with pytest.raises(OrionError, match="exam_busy"):
            room.begin(TWO)
        sitting.over.set()
        assert (await room.step(told["step"]))["run"]["state"] == "done"
        assert not room.examines("one")
        assert room.begin(TWO).model == "two"
        await room.stop()

    asyncio.run(work())


def test_an_exam_that_is_stopped_has_ended_when_that_returns() -> None:
    async def work() -> None:
        sitting = Sitting()
        room = ExamRoom(sitting.sit)
        room.begin(ONE)
        await room.step(2)
        await room.stop()
        assert sitting.ended
        assert (await room.step(-1))["run"]["state"] == "stopped"
        room.begin(ONE)
        await room.stop()
        assert (await room.step(-1))["run"]["state"] == "stopped"
        await room.stop()

    asyncio.run(work())


def test_an_exam_that_fails_says_why() -> None:
    async def work() -> None:
        sitting = Sitting(OrionError("model_too_large", path="x"))
        sitting.over.set()
        room = ExamRoom(sitting.sit)
        room.begin(ONE)
        run = (await room.step(3))["run"]
        assert (run["state"], run["code"], run["fields"]) == ("failed", "model_too_large", {"path": "x"})

    asyncio.run(work())


def test_an_exam_that_a_bug_ends_does_not_look_as_if_it_ran() -> None:
    async def work() -> None:
        sitting = Sitting(ZeroDivisionError())
        room = ExamRoom(sitting.sit)
        room.begin(ONE)
        asyncio.get_running_loop().set_exception_handler(lambda _loop, _what: None)
        sitting.over.set()
        seen = -1
        while (told := await room.step(seen))["run"]["state"] == "running":
            seen = told["step"]
        assert told["run"]["state"] == "stopped"
        assert not room.examines("one")
        await room.stop()

    asyncio.run(work())
