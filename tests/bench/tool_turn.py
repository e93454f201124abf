"""What tools cost: decoding under a grammar beside the bare loop, cached turns with tools beside without."""

from __future__ import annotations

import asyncio
import statistics
import time
from contextlib import AsyncExitStack, aclosing
from typing import Any

from models.generation import Finished, GenerateRequest, LoadOptions, Prefill, Sampling, Usage
from models.worker_client import LocalEngine
from runtime.fitting import TOOLS as PART
from runtime.messages import ToolSpec
from runtime.slimming import slim
from tests.bench.child import Child
from tests.bench.decode import evaluated
from tests.bench.figure import Figure
from tests.bench.local_house import bench_model
from tests.bench.processor import spent

ROUNDS = 7
TOKENS, ENOUGH = 64, 40
"""Most tokens of an answer, and how many count."""
TOOLS = 30
WINDOW = 8192
GRAMMAR = r"""root ::= "{\"text\": \"" [^"\\\x00-\x1F]* "\"}"
"""
STORY = [{"role": "user", "content": "Tell me a long story about the keeper of a lighthouse."}]


def measure(*, peers: bool = False) -> list[Figure]:
    """Both ratios for ORION_BENCH_MODEL or the bundled model, interleaved, with one thread, because on a busy
    machine several hinder one another."""
    del peers
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    options = LoadOptions(str(bench_model()), window=WINDOW, threads=1)
    with Child(["-m", "tests.bench.bare_decode", options.path, str(WINDOW)]) as bare:
        bare.ask()
        return [await _decoding(bare, options), await _cached(bare, options)]


async def _decoding(bare: Child, options: LoadOptions) -> Figure:
    """What a token costs the bare loop and the worker under a grammar, in processor time, which other
    programs hardly change; tokens a second beside it."""
    rates: dict[str, list[float]] = {"": [], GRAMMAR: [], "bare": []}
    work: dict[str, list[float]] = {"": [], GRAMMAR: [], "bare": []}
    async with AsyncExitStack() as stack:
        engine = await _engine(stack, options)
        for seed in range(ROUNDS):
            for grammar in ("", GRAMMAR):
                sampling = Sampling(seed=seed, grammar=grammar)
                request = GenerateRequest(options, "decode", STORY, [], sampling, TOKENS)
                usage, seconds = await _worked(engine, request)
                if usage.completion_tokens < ENOUGH:
                    continue
                count = evaluated(usage.completion_tokens, TOKENS)
                rates[grammar].append(1000 * count / usage.decode_ms)
                asked = {"threads": 1, "prompt": usage.prompt_tokens, "tokens": count}
                work[grammar].append(seconds / count)
                rate, seconds = bare.ask(asked | {"temperature": sampling.temperature})
                rates["bare"].append(rate)
                work["bare"].append(seconds)
    best = {side: max(found) for side, found in rates.items()}
    least = {side: min(found) for side, found in work.items()}
    reference = {
        "without grammar": least["bare"] / least[""],
        "bare loop (tokens/s)": best["bare"],
        "by the clock, best of each": best[GRAMMAR] / best["bare"],
        "by the clock, without grammar": best[""] / best["bare"],
    }
    return Figure("grammar_ratio", least["bare"] / least[GRAMMAR], "", 0.90, "higher", reference)


async def _cached(bare: Child, options: LoadOptions) -> Figure:
    """Seconds to the first token of later turns, without tools and with TOOLS of them, the least of each, for
    other programs only add to it. Each conversation has a worker of its own: neither makes room for the
    other."""
    waits: dict[int, list[float]] = {0: [], TOOLS: []}
    sizes: dict[int, Usage] = {}
    async with AsyncExitStack() as stack:
        engines = {count: await _engine(stack, options) for count in waits}
        said: list[dict[str, Any]] = [*STORY]
        for turn in range(ROUNDS + 1):
            for count, engine in engines.items():
                request = GenerateRequest(options, "turn", said, tools(count), Sampling(0.0), 1)
                wait, usage = await _first(engine, request)
                if turn:
                    waits[count].append(wait)
                    sizes[count] = usage
            said = [*said, {"role": "assistant", "content": "Once"}, {"role": "user", "content": "Go on."}]
    engine_alone = {count: _bare_turn(bare, sizes[count]) for count in waits}
    reference = {
        "no tools (ms)": 1000 * min(waits[0]),
        f"{TOOLS} tools (ms)": 1000 * min(waits[TOOLS]),
        "median of the pairs": statistics.median(
            many / none for none, many in zip(waits[0], waits[TOOLS], strict=True)
        ),
        "of them shown in this window": float(len(tools(TOOLS))),
        f"tokens of the prompt with {TOOLS} tools": float(sizes[TOOLS].prompt_tokens),
        "of them new": float(sizes[TOOLS].prompt_tokens - sizes[TOOLS].cached_tokens),
        "no tools, bare engine (ms)": 1000 * engine_alone[0],
        f"{TOOLS} tools, bare engine (ms)": 1000 * engine_alone[TOOLS],
        "ratio of the bare engine": engine_alone[TOOLS] / engine_alone[0],
    }
    return Figure("tools_ttft_ratio", min(waits[TOOLS]) / min(waits[0]), "", 1.2, "lower", reference)


def _bare_turn(bare: Child, usage: Usage) -> float:
    """Seconds in which the engine alone evaluates what was new in a turn behind what was not."""
    new = usage.prompt_tokens - usage.cached_tokens
    return float(bare.ask({"threads": 1, "prompt": usage.cached_tokens, "turn": new, "times": ROUNDS}))


async def _engine(stack: AsyncExitStack, options: LoadOptions) -> LocalEngine:
    engine = LocalEngine()
    stack.push_async_callback(engine.close)
    await engine.load(options)
    return engine


async def _worked(engine: LocalEngine, request: GenerateRequest) -> tuple[Usage, float]:
    """The usage of an answer, and the worker's processor seconds from its first token on."""
    begin = 0.0
    async with aclosing(engine.generate(request)) as events:
        async for event in events:
            if isinstance(event, Finished):
                return event.usage, spent(engine.pid) - begin
            if not isinstance(event, Prefill):
                begin = begin or spent(engine.pid)
    raise RuntimeError("the worker gave no answer")


async def _first(engine: LocalEngine, request: GenerateRequest) -> tuple[float, Usage]:
    """Seconds to the first token, and the usage."""
    begin, first = time.perf_counter(), 0.0
    async with aclosing(engine.generate(request)) as events:
        async for event in events:
            if not isinstance(event, Prefill):
                first = first or time.perf_counter() - begin
            if isinstance(event, Finished):
                return first, event.usage
    raise RuntimeError("the worker gave no answer")


def tools(count: int) -> list[dict[str, Any]]:
    """What a request in this window shows of so many tools."""
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    known = tuple(ToolSpec(f"tool_{at}", f"Does task {at}.", schema) for at in range(count))
    shown = slim(known, int(PART * WINDOW), STORY[0]["content"]) if known else ()
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
        }
        for tool in shown
    ]
