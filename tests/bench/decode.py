"""How much of the engine's bare speed arrives at a door, through worker, session and events."""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

import psutil

from models import hardware
from runtime.events import Event
from tests.bench.child import Child
from tests.bench.figure import Figure
from tests.bench.local_house import PROFILE, answer, bench_model, local_house
from tests.bench.processor import spent

PAIRS, FEWER = 7, 3
TOKENS = 64
ENOUGH = 40
"""Answers shorter than this do not count."""
TEMPERATURE = 0.7
QUESTION = "Tell me a long story about the keeper of a lighthouse, with many details."


def goal() -> float:
    """0.95 for the bundled model, whose tokens come so fast that everything else weighs more."""
    return 0.97 if os.environ.get("ORION_BENCH_MODEL") else 0.95


@dataclass(frozen=True, slots=True)
class Pair:
    """One answer and a bare loop of as many tokens at the same places: tokens a second at the door, as the
    worker counts and of the bare loop; processor seconds a token of the worker and of the bare loop."""

    door: float
    own: float
    bare: float
    door_work: float
    bare_work: float


def measure(*, peers: bool = False) -> list[Figure]:
    """The ratio of tokens a second to the bare loop: same library, file, context, sampler and positions.

    It is told from what other programs hardly change: the least processor time that a token takes in the bare
    loop and in the worker, with one thread, and the part of the worker's own rate that arrives at the door.
    The rates by the clock, each side's best and the median of pairs, stand beside it.
    """
    del peers
    cores = hardware.usable_cores()
    one = asyncio.run(_pairs(1, PAIRS))
    several = asyncio.run(_pairs(cores, FEWER)) if cores > 1 else one
    work = min(pair.bare_work for pair in one) / min(pair.door_work for pair in one)
    arriving = statistics.median(pair.door / pair.own for pair in one)
    reference = {
        "processor time of bare loop and worker": work,
        "of the worker's rate at the door": arriving,
        "bare loop, 1 thread (tokens/s)": max(pair.bare for pair in one),
        "by the clock, best of each": _best(one),
        "by the clock, median of the pairs": statistics.median(pair.door / pair.bare for pair in one),
        f"bare loop, {cores} threads (tokens/s)": max(pair.bare for pair in several),
        f"by the clock, best of each, {cores} threads": _best(several),
    }
    return [Figure("decode_ratio", work * arriving, "", goal(), "higher", reference)]


def evaluated(tokens: int, most: int) -> int:
    """How many tokens are evaluated between the first one and the end of an answer: the last one of an answer
    that was cut off is not, that of one which ended by itself is."""
    return tokens - 1 if tokens == most else tokens


def _best(pairs: list[Pair]) -> float:
    return max(pair.door for pair in pairs) / max(pair.bare for pair in pairs)


async def _pairs(threads: int, wanted: int) -> list[Pair]:
    """Interleaved answers and bare loops."""
    found: list[Pair] = []
    settings: dict[str, object] = {"local_model.threads": threads}
    with tempfile.TemporaryDirectory(prefix="orion-bench-") as folder:
        arguments = ["-m", "tests.bench.bare_decode", str(bench_model()), "8192"]
        house = local_house(Path(folder), settings, max_tokens=TOKENS, temperature=TEMPERATURE)
        with Child(arguments) as bare:
            bare.ask()
            async with house as runtime:
                await answer(await runtime.open(profile=PROFILE), QUESTION)
                for _ in range(4 * wanted):
                    session = await runtime.open(profile=PROFILE)
                    work = _Work()
                    stop = session.subscribe(work.take)
                    heard = await answer(session, QUESTION)
                    stop()
                    await session.close()
                    if heard.tokens < ENOUGH:
                        continue
                    count = evaluated(heard.tokens, TOKENS)
                    asked = {"threads": threads, "prompt": heard.prompt, "tokens": count}
                    rate, bare_work = bare.ask(asked | {"temperature": TEMPERATURE})
                    door = count / (heard.last - heard.first)
                    own = heard.engine_rate * count / heard.tokens
                    found.append(Pair(door, own, rate, work.seconds / count, bare_work))
                    if len(found) == wanted:
                        break
    return found


class _Work:
    """Processor seconds of the worker between the first words of an answer and its end."""

    def __init__(self) -> None:
        self._pid = next(
            child.pid for child in psutil.Process().children() if "--worker" in " ".join(child.cmdline())
        )
        self._begin = 0.0
        self.seconds = 0.0

    def take(self, event: Event) -> None:
        if event.body.type == "response_chunk" and not self._begin:
            self._begin = spent(self._pid)
        elif event.body.type == "response_complete":
            self.seconds = spent(self._pid) - self._begin
