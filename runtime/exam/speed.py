"""The first discipline: how fast the model reads and writes on this machine, in the engine's own words."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from runtime.exam.asking import Answer, Ask, Question, said
from runtime.exam.tasks import data

MOST = 20
READ, WRITTEN = 48, 12
"""Tokens that must at least have been read and written for a figure to mean something."""


async def measure(ask: Ask, at: int) -> Answer:
    """The measurement number `at`: a passage that no other one shares its beginning with is read, and some
    words are written."""
    passages: list[str] = data("speed")["passages"]
    question = Question(f"speed-{at}", (said(f"{passages[at]}\n\n{data('speed')['ask']}"),), MOST)
    return await ask(question)


def count() -> int:
    """How many measurements there are."""
    return len(data("speed")["passages"])


def speeds(answers: Iterable[tuple[Question, Answer]]) -> tuple[float, float]:
    """Medians of tokens written and read a second, over all answers long enough to mean something; 0 where
    there is none. Where tools are offered or pictures shown, other work than the model's is in the times."""
    plain = [answer for question, answer in answers if not question.tools and not question.shows]
    return (
        _median(each.tokens_per_second for each in plain if each.tokens >= WRITTEN),
        _median(each.prefill_per_second for each in plain if each.evaluated >= READ),
    )


def _median(values: Iterable[float]) -> float:
    measured = [value for value in values if value > 0]
    return round(median(measured), 2) if measured else 0.0
