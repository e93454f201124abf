"""How many questions of the Berkeley function-calling set a local model gets right, free and under a grammar.

ORION_BENCH_MODEL names the model file, ORION_BENCH_ITEMS the questions a category (100). Replies are kept in
build/bfcl until the engine's sources change: a measurement that was broken off goes on where it stood.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import resources
from models.generation import Call, GenerateRequest, LoadOptions, Sampling
from models.worker_client import LocalEngine
from tests.bench import bfcl
from tests.bench.figure import Figure
from tests.bench.kept import Kept

GOALS = {
    "simple": ("bfcl_simple", 85.0),
    "multiple": ("bfcl_multiple", 75.0),
    "parallel": ("bfcl_parallel", 40.0),
    "irrelevance": ("bfcl_irrelevance", 50.0),
}
ITEMS = 100
TOKENS = 512
WINDOW = 4096


def measure(*, peers: bool = False) -> list[Figure]:
    """The share of right answers in percent, per category, temperature 0; the reference is free decoding."""
    del peers
    model = os.environ.get("ORION_BENCH_MODEL", "")
    if not model:
        print("function_calls: ORION_BENCH_MODEL names no model file, nothing measured")
        return []
    count = int(os.environ.get("ORION_BENCH_ITEMS", ITEMS))
    rights = asyncio.run(_all(Path(model), count))
    return [
        Figure(
            figure,
            100 * sum(rights[name, True]) / len(rights[name, True]),
            "%",
            goal,
            "higher",
            {
                "free decoding": 100 * sum(rights[name, False]) / len(rights[name, False]),
                "questions (count)": float(len(rights[name, True])),
            },
        )
        for name, (figure, goal) in GOALS.items()
    ]


async def _all(model: Path, count: int) -> dict[tuple[str, bool], list[bool]]:
    """Both ways of decoding follow one another for each question: its prompt is evaluated once."""
    options = LoadOptions(str(model), window=WINDOW)
    sources = (*bfcl.ROOT.glob("models/**/*.py"), *bfcl.ROOT.glob("resources/prompts/*.md"))
    kept = Kept(bfcl.FOLDER / "replies.jsonl", f"{model.name} {model.stat().st_size}", sources)
    engine = LocalEngine()
    rights: dict[tuple[str, bool], list[bool]] = {}
    try:
        for name in GOALS:
            asked = bfcl.items(name, count)
            for place, item in enumerate(asked):
                for constrained in (False, True):
                    if (key := f"{name} {place} {constrained}") not in kept:
                        kept.put(key, await _calls(engine, options, item, constrained=constrained))
                print(".", end="", file=sys.stderr, flush=True)
            for constrained in (False, True):
                found = [(item, kept[f"{name} {place} {constrained}"]) for place, item in enumerate(asked)]
                rights[name, constrained] = bfcl.judged(found)
    finally:
        await engine.close()
    print(file=sys.stderr)
    return rights


async def _calls(
    engine: LocalEngine, options: LoadOptions, item: bfcl.Item, *, constrained: bool
) -> list[dict[str, Any]]:
    """The calls of one reply as {name: arguments}; one that is no JSON counts as a call without arguments."""
    system = {"role": "system", "content": resources.text("prompts/orion.tools.md").strip()}
    request = GenerateRequest(
        options,
        "bench",
        [system, *item.messages],
        item.tools(),
        Sampling(temperature=0.0),
        TOKENS,
        constrained=constrained,
    )
    return [
        {event.name: {} if event.fault else json.loads(event.arguments)}
        async for event in engine.generate(request)
        if isinstance(event, Call)
    ]
