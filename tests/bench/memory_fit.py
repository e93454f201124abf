"""How well the memory of a worker is predicted from a file's header, for up to three model files."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

import psutil

import resources
from models import fit
from models.generation import Finished, GenerateRequest, LoadOptions, Sampling
from models.gguf import read_header
from models.worker_client import LocalEngine
from tests.bench.figure import Figure

GOAL = 10.0
WINDOW = 2048
PART = 0.1
"""Part of the window that is filled, so that a large model takes seconds; what the rest adds is small."""


def measure(*, peers: bool = False) -> list[Figure]:
    """The largest error in percent, of the bundled model and of those in ORION_BENCH_MODEL (joined as a path
    list); the pages that other processes share count in full, so each file is a copy of its own."""
    del peers
    named = [Path(part) for part in os.environ.get("ORION_BENCH_MODEL", "").split(os.pathsep) if part]
    reference: dict[str, float] = {}
    worst = 0.0
    for path in [*sorted(resources.weights_dir().glob("*.gguf"))[:1], *named]:
        predicted, measured = _pair(path, WINDOW)
        error = 100 * (predicted - measured) / measured
        worst = max(worst, abs(error))
        reference[f"{path.stem}: predicted (MB)"] = predicted
        reference[f"{path.stem}: measured (MB)"] = measured
        reference[f"{path.stem}: error (%)"] = error
    return [Figure("memory_fit", worst, "%", GOAL, "lower", reference)]


def _pair(path: Path, window: int) -> tuple[float, float]:
    with tempfile.TemporaryDirectory(prefix="orion-bench-") as folder:
        copied = Path(folder) / path.name
        shutil.copyfile(path, copied)
        measured = asyncio.run(_pss(copied, window))
        return fit.predict(read_header(copied), window) / (1 << 20), measured


async def _pss(path: Path, window: int) -> float:
    """Proportional set size in MB of the worker after an answer."""
    engine = LocalEngine()
    options = LoadOptions(str(path), window=window)
    text = "word " * int(PART * window)
    request = GenerateRequest(
        options, "bench", [{"role": "user", "content": text}], sampling=Sampling(0.0), max_tokens=4
    )
    try:
        async for event in engine.generate(request):
            if isinstance(event, Finished):
                return float(psutil.Process(engine.pid).memory_full_info().pss) / (1 << 20)
    finally:
        await engine.close()
    raise RuntimeError("the worker gave no answer")
