"""How long the first token of a long session takes after a restart, beside evaluating all of it anew."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from pathlib import Path

from tests.bench.figure import Figure
from tests.bench.late_turn import long_session_in
from tests.bench.local_house import PROFILE, Answer, answer, local_house

ROUNDS = 2
GOAL = 0.1


def measure(*, peers: bool = False) -> list[Figure]:
    """The ratio of the two times to first token; the model was loaded before by another session in both."""
    del peers
    pairs = asyncio.run(_rounds())
    cold, warm = [cold for cold, _ in pairs], [warm for _, warm in pairs]
    value = statistics.median(turn.first for turn in warm) / statistics.median(turn.first for turn in cold)
    reference = {
        "history (tokens)": float(warm[-1].prompt),
        "of it from disk (tokens)": float(warm[-1].cached),
        "cold (ms)": 1000 * statistics.median(turn.first for turn in cold),
        "reopened (ms)": 1000 * statistics.median(turn.first for turn in warm),
    }
    return [Figure("reopen_ttft_ratio", value, "", GOAL, "lower", reference)]


async def _rounds() -> list[tuple[Answer, Answer]]:
    """Of each round the first turn of a session that was never read, and its next one in a new process."""
    found: list[tuple[Answer, Answer]] = []
    with tempfile.TemporaryDirectory(prefix="orion-bench-") as folder:
        for _ in range(ROUNDS):
            async with local_house(Path(folder), {}, max_tokens=8, temperature=0.0) as runtime:
                await answer(await runtime.open(profile=PROFILE), "Hello.")
                session = await runtime.open(name := long_session_in(runtime))
                cold = await answer(session, "Who was he?")
            async with local_house(Path(folder), {}, max_tokens=8, temperature=0.0) as runtime:
                await answer(await runtime.open(profile=PROFILE), "Hello.")
                found.append((cold, await answer(await runtime.open(name), "And then?")))
    return found
