"""The bundled model sits the exam for real and alike each time; an exam can be ended at any moment."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

import resources
from models.library import Library
from runtime.errors import OrionError
from runtime.exam import instructions, tools
from runtime.exam.asking import Answer, Asking, Question
from runtime.exam.exam import Exam, ModelKey, Score, Step
from runtime.exam.sitting import WINDOW, allowed, sit
from runtime.exam_record import ExamRecord
from runtime.providers.local import LocalProvider
from runtime.settings import LocalModel
from tests.conftest import missing

FAKE = (sys.executable, str(Path(__file__).parents[2] / "models" / "fake_worker.py"))
PATIENCE = 80.0
"""Seconds; a busy machine may have no time for all of the exam, but has for its beginning."""


def library() -> Library:
    made = Library((resources.weights_dir(),))
    if not made.list():
        missing("the bundled model")
    return made


async def sat(
    home: Path, told: Callable[[Step], None] = lambda step: None, *, budget: float = PATIENCE, model: str = ""
) -> Exam:
    record = ExamRecord(home / "exams.json")
    return await sit(library(), record, LocalModel(), model or "bundled", told, budget=budget)


def test_the_bundled_model_earns_no_role(tmp_path: Path) -> None:
    steps: list[Step] = []
    exam = asyncio.run(sat(tmp_path, steps.append))
    assert exam.badges == exam.roles == ()
    assert not exam.sees
    assert exam.scores["instructions"].state == "failed"
    assert exam.tokens_per_second > 1
    assert exam.prefill_per_second > exam.tokens_per_second / 4
    assert steps[0] == Step("speed", 0, 2)
    file = library().find("bundled")
    assert (exam.model.name, exam.model.size) == (file.name, file.size)
    assert ExamRecord(tmp_path / "exams.json").of(file) == exam


def test_two_engines_give_the_same_answers() -> None:
    async def answers() -> list[str]:
        provider = LocalProvider(library(), lambda: LocalModel(window=WINDOW))
        asking = Asking(provider, "bundled")
        said: list[str] = []

        async def ask(question: Question) -> Answer:
            answer = await asking(question)
            said.append(f"{answer.text} {[(call.name, call.arguments) for call in answer.calls]}")
            return answer

        try:
            for task in (*instructions.paper().tasks[:4], *tools.paper().tasks[:2]):
                await task.run(ask)
        finally:
            await provider.close()
        return said

    first, second = asyncio.run(answers()), asyncio.run(answers())
    assert len(first) >= 6
    assert first == second


@pytest.mark.parametrize(
    "moment", [("speed", 0), ("speed", 1), ("instructions", 2)], ids=lambda moment: moment[0]
)
def test_an_exam_can_be_ended_at_any_moment(tmp_path: Path, moment: tuple[str, int]) -> None:
    """The best of three, since other programs of the machine may have its cores for a while."""

    async def ended() -> float:
        reached = asyncio.Event()

        def told(step: Step) -> None:
            if (step.discipline, step.done) == moment:
                reached.set()

        task = asyncio.create_task(sat(tmp_path, told))
        async with asyncio.timeout(PATIENCE):
            await reached.wait()
        before = time.monotonic()
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        return time.monotonic() - before

    before = set(psutil.Process().children(recursive=True))
    assert min(asyncio.run(ended()) for _ in range(3)) < 0.2
    assert set(psutil.Process().children(recursive=True)) <= before
    assert not (tmp_path / "exams.json").exists()


def test_what_was_cut_off_gets_more_time() -> None:
    whole = Exam(ModelKey("m", 1, "00"), "", 0.0, 0.0, False, {"tools": Score(9, 11, 60.0, "passed")})
    cut = replace(whole, scores={"tools": Score(0, 11, 60.0, "not_taken", "exam_time_up")})
    blind = replace(whole, scores={"clicks": Score(0, 0, 0.0, "not_taken", "exam_not_for_this_model")})
    assert [allowed(120.0, known) for known in (None, whole, blind, cut)] == [120.0, 120.0, 120.0, 360.0]


def test_a_model_that_cannot_be_had_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OrionError, match="model_unknown"):
        asyncio.run(sat(tmp_path, model="nobody"))


def test_memory_is_looked_at_before_the_model_is_loaded(tmp_path: Path) -> None:
    record = ExamRecord(tmp_path / "exams.json")
    small = LocalModel(memory_limit_mb=20)
    with pytest.raises(OrionError) as raised:
        asyncio.run(sit(library(), record, small, "bundled", lambda step: None))
    assert raised.value.code == "exam_too_large"
    assert set(raised.value.fields) == {"model", "needed_mb", "available_mb"}
    assert int(raised.value.fields["available_mb"]) == 20


def test_an_engine_that_dies_at_the_first_question_is_an_error(tmp_path: Path) -> None:
    record = ExamRecord(tmp_path / "exams.json")
    with pytest.raises(OrionError, match="worker_out_of_memory"):
        asyncio.run(
            sit(library(), record, LocalModel(), "bundled", lambda step: None, command=(*FAKE, "memory"))
        )
    assert not (tmp_path / "exams.json").exists()
