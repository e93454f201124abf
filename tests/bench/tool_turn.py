"""What tools cost: decoding under a grammar beside free decoding, cached turns with tools beside without."""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from typing import Any

import resources
from models.generation import Finished, GenerateRequest, LoadOptions, Prefill, Sampling
from models.library import Library
from models.worker_client import LocalEngine
from tests.bench.figure import Figure

ROUNDS = 7
TOKENS = 64
TOOLS = 30
GRAMMAR = r"""root ::= "{\"text\": \"" [^"\\\x00-\x1F]* "\"}"
"""
STORY = [{"role": "user", "content": "Tell me a long story about the keeper of a lighthouse."}]


def measure(*, peers: bool = False) -> list[Figure]:
    """Both ratios, medians of interleaved rounds, for ORION_BENCH_MODEL or the bundled model."""
    del peers
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    path = os.environ.get("ORION_BENCH_MODEL") or str(
        Library((resources.weights_dir(),)).find("bundled").path
    )
    engine, options = LocalEngine(), LoadOptions(path, window=8192)
    try:
        await engine.load(options)
        free, held = await _decoding(engine, options)
        none, many = await _cached(engine, options)
    finally:
        await engine.close()
    ratio = statistics.median(one / other for one, other in zip(held, free, strict=True))
    wait = statistics.median(many) / statistics.median(none)
    return [
        Figure("grammar_ratio", ratio, "", 0.90, "higher", {"free (tokens/s)": statistics.median(free)}),
        Figure("tools_ttft_ratio", wait, "", 1.2, "lower", {"no tools (ms)": 1000 * statistics.median(none)}),
    ]


async def _decoding(engine: LocalEngine, options: LoadOptions) -> tuple[list[float], list[float]]:
    """Tokens a second, free and under the grammar, of the same prompt."""
    rates: dict[str, list[float]] = {"": [], GRAMMAR: []}
    for seed in range(ROUNDS):
        for grammar, found in rates.items():
            sampling = Sampling(seed=seed, grammar=grammar)
            request = GenerateRequest(options, "decode", STORY, [], sampling, TOKENS)
            async for event in engine.generate(request):
                if isinstance(event, Finished):
                    found.append(event.usage.tokens_per_second)
    return rates[""], rates[GRAMMAR]


async def _cached(engine: LocalEngine, options: LoadOptions) -> tuple[list[float], list[float]]:
    """Seconds to the first token of later turns, without tools and with TOOLS of them."""
    waits: dict[int, list[float]] = {0: [], TOOLS: []}
    for count, found in waits.items():
        said: list[dict[str, Any]] = [*STORY]
        for turn in range(ROUNDS + 1):
            request = GenerateRequest(options, f"turn {count}", said, _tools(count), Sampling(0.0), 1)
            begin, first = time.perf_counter(), 0.0
            async for event in engine.generate(request):
                if not isinstance(event, Prefill):
                    first = first or time.perf_counter() - begin
            if turn:
                found.append(first)
            said = [*said, {"role": "assistant", "content": "Once"}, {"role": "user", "content": "Go on."}]
    return waits[0], waits[TOOLS]


def _tools(count: int) -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    return [
        {
            "type": "function",
            "function": {"name": f"tool_{at}", "description": f"Does task {at}.", "parameters": schema},
        }
        for at in range(count)
    ]
