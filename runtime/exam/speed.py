"""The first discipline: how fast the model reads and writes on this machine, in the engine's own words."""

from __future__ import annotations

from statistics import median

from runtime.exam.asking import Answer, Ask, Question, said
from runtime.exam.tasks import data

MOST = 24
READ, WRITTEN = 48, 8
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


def speeds(answers: list[Answer]) -> tuple[float, float]:
    """Medians of tokens written and read a second; 0 where nothing meaningful was measured."""
    written = [each.tokens_per_second for each in answers if each.tokens >= WRITTEN]
    read = [each.prefill_per_second for each in answers if each.evaluated >= READ]
    return _median(written), _median(read)


def _median(values: list[float]) -> float:
    measured = [value for value in values if value > 0]
    return round(median(measured), 2) if measured else 0.0
