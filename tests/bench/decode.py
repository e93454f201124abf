"""How much of the engine's bare speed arrives at a door, through worker, session and events."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from pathlib import Path

import resources
from models import hardware
from models.library import Library
from tests.bench.child import Child
from tests.bench.figure import Figure
from tests.bench.local_house import PROFILE, answer, local_house

PAIRS = 7
TOKENS = 64
ENOUGH = 40
"""Answers shorter than this do not count."""
TEMPERATURE = 0.7
GOAL = 0.95
QUESTION = "Tell me a long story about the keeper of a lighthouse, with many details."


def measure(*, peers: bool = False) -> list[Figure]:
    """The ratio of tokens a second to the bare loop: same library, file, threads, sampler and positions; the
    lower one of all threads and one, for on a busy machine several threads hinder one another."""
    del peers
    cores = hardware.usable_cores()
    all_cores = asyncio.run(_pairs(cores))
    one = asyncio.run(_pairs(1)) if cores > 1 else all_cores
    reference = {
        f"bare loop, {cores} threads (tokens/s)": statistics.median(bare for _, bare, _ in all_cores),
        "bare loop, 1 thread (tokens/s)": statistics.median(bare for _, bare, _ in one),
        "lowest of the pairs": min(door / bare for door, bare, _ in all_cores),
        "highest of the pairs": max(door / bare for door, bare, _ in all_cores),
        f"ratio with {cores} threads": _ratio(all_cores),
        "ratio with 1 thread": _ratio(one),
        "ratio of the worker's own count, 1 thread": statistics.median(own / bare for _, bare, own in one),
    }
    value = min(_ratio(all_cores), _ratio(one))
    return [Figure("decode_ratio", value, "", GOAL, "higher", reference)]


def _ratio(pairs: list[tuple[float, float, float]]) -> float:
    return statistics.median(door / bare for door, bare, _ in pairs)


async def _pairs(threads: int) -> list[tuple[float, float, float]]:
    """(tokens a second at the door, of the bare loop, as the worker counts) of interleaved runs."""
    found: list[tuple[float, float, float]] = []
    model = Library((resources.weights_dir(),)).find("bundled").path
    settings: dict[str, object] = {"local_model.threads": threads}
    with tempfile.TemporaryDirectory(prefix="orion-bench-") as folder:
        arguments = ["-m", "tests.bench.bare_decode", str(model), "8192"]
        house = local_house(Path(folder), settings, max_tokens=TOKENS, temperature=TEMPERATURE)
        with Child(arguments) as bare:
            bare.ask()
            async with house as runtime:
                await answer(await runtime.open(profile=PROFILE), QUESTION)
                for _ in range(4 * PAIRS):
                    session = await runtime.open(profile=PROFILE)
                    heard = await answer(session, QUESTION)
                    await session.close()
                    if heard.tokens < ENOUGH:
                        continue
                    count = heard.tokens - 1
                    asked = {"threads": threads, "prompt": heard.prompt, "tokens": count}
                    rate = float(bare.ask(asked | {"temperature": TEMPERATURE}))
                    found.append((count / (heard.last - heard.first), rate, heard.engine_rate))
                    if len(found) == PAIRS:
                        break
    return found
