"""Takes an exam: one discipline after the other, the most telling first, until the time is up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from runtime.errors import Field, OrionError
from runtime.exam import clicks, elements, instructions, json_replies, pictures, speed, tools
from runtime.exam.asking import Answer, Ask, Question
from runtime.exam.exam import ORDER, SEEING, UNSEEING, Discipline, Exam, ModelFacts, Score, Step
from runtime.exam.tasks import Paper, Task

BUDGET = 120.0
"""Seconds for all of it, loading the model included."""

PAPERS: Mapping[Discipline, Callable[[], Paper]] = {
    "instructions": instructions.paper,
    "tools": tools.paper,
    "json": json_replies.paper,
    "elements": elements.paper,
    "pictures": pictures.paper,
    "clicks": clicks.paper,
}

_WRONG = frozenset({"context_overflow"})
"""Errors that are an answer of the model: it could not."""


async def examine(
    ask: Ask,
    facts: ModelFacts,
    told: Callable[[Step], None],
    *,
    budget: float = BUDGET,
    known: Exam | None = None,
) -> Exam:
    """Ask everything and mark it, first what an earlier exam (`known`) had no time for.

    What there is no time for after `budget` seconds is `not_taken` with the code exam_time_up, as a whole:
    half a discipline earns and loses nothing. An error of the engine ends a discipline in the same way, with
    its own code. Cancelling ends all at once, without a result.

    Raises OrionError where not even the first question is answered.
    """
    began = time.monotonic()
    sitting = _Sitting(ask, facts, told, asyncio.get_running_loop().time() + budget)
    await sitting.speed()
    for name in sorted(ORDER[1:], key=lambda name: known is not None and known.state(name) != "not_taken"):
        sitting.scores[name] = await sitting.take(name)
    speeds = speed.speeds(sitting.answers)
    return Exam(
        model=facts.key,
        build=facts.build,
        when=round(time.time(), 3),
        seconds=round(time.monotonic() - began, 2),
        sees=facts.sees,
        scores=sitting.scores,
        tokens_per_second=speeds[0],
        prefill_per_second=speeds[1],
    )


class _Sitting:
    """One model before the examiner until `deadline`, a time of the event loop."""

    def __init__(self, ask: Ask, facts: ModelFacts, told: Callable[[Step], None], deadline: float) -> None:
        self._put = ask
        self._facts = facts
        self._told = told
        self._deadline = deadline
        self.scores: dict[Discipline, Score] = {}
        self.answers: list[tuple[Question, Answer]] = []

    async def _ask(self, question: Question) -> Answer:
        answer = await self._put(question)
        self.answers.append((question, answer))
        return answer

    async def speed(self) -> None:
        """Measure. The first measurement loads the model."""
        answers: list[Answer] = []
        of, began = speed.count(), time.monotonic()
        self._told(Step("speed", 0, of))
        try:
            async with asyncio.timeout_at(self._deadline):
                for at in range(of):
                    answers.append(await speed.measure(self._ask, at))
                    self._told(Step("speed", len(answers), of))
        except TimeoutError:
            pass
        score = Score(len(answers), of, _since(began), "passed" if answers else "not_taken")
        if len(answers) < of:
            score = replace(score, code="exam_time_up", fields={"done": len(answers), "of": of})
        self.scores["speed"] = score
        self._told(Step("speed", len(answers), of, score.state))

    async def take(self, name: Discipline) -> Score:
        """One discipline."""
        if name in (UNSEEING if self._facts.sees else SEEING):
            other: dict[str, Field] = {"model": self._facts.key.name, "discipline": name}
            return self._left_out(name, Score(0, 0, 0.0, "not_taken", "exam_not_for_this_model", other))
        paper, right, began = PAPERS[name](), list[bool](), time.monotonic()
        of = len(paper.tasks)
        self._told(Step(name, 0, of))
        missed = Score(0, of, 0.0, "not_taken")
        try:
            async with asyncio.timeout_at(self._deadline):
                for task in paper.tasks:
                    right.append(await self._well(task))
                    self._told(Step(name, len(right), of))
        except TimeoutError:
            fields: dict[str, Field] = {"done": len(right), "of": of}
            missed = replace(missed, seconds=_since(began), code="exam_time_up", fields=fields)
            return self._left_out(name, missed)
        except OrionError as error:
            missed = replace(missed, seconds=_since(began), code=error.code, fields=error.fields)
            return self._left_out(name, missed)
        score = Score(sum(right), of, _since(began), "passed" if paper.passed(right) else "failed")
        self._told(Step(name, of, of, score.state))
        return score

    async def _well(self, task: Task) -> bool:
        try:
            return await task.run(self._ask)
        except OrionError as error:
            if error.code not in _WRONG:
                raise
            return False

    def _left_out(self, name: Discipline, score: Score) -> Score:
        self._told(Step(name, 0, score.of, "not_taken"))
        return score


def _since(began: float) -> float:
    return round(time.monotonic() - began, 2)
