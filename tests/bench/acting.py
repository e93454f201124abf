"""How often a local model does what it is told with tools: a file written, read back and answered for.

ORION_BENCH_MODEL names the model file, ORION_BENCH_RUNS the runs (5). Every write is approved.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from pathlib import Path

from runtime.assemble import assemble
from runtime.events import ApprovalRequired, Event, ResponseComplete
from tests.bench.figure import Figure

SENTENCE = "Create notes/todo.md with three tasks about moving house, then read it back to me"
FILE = "notes/todo.md"
TASKS = 3
RUNS = 5
PATIENCE = 900.0


def measure(*, peers: bool = False) -> list[Figure]:
    """The share of runs after which the file holds three tasks and the answer holds them too."""
    del peers
    model = os.environ.get("ORION_BENCH_MODEL", "")
    if not model:
        print("acting: ORION_BENCH_MODEL names no model file, nothing measured")
        return []
    runs = [asyncio.run(_run(model)) for _ in range(int(os.environ.get("ORION_BENCH_RUNS", RUNS)))]
    right = 100 * sum(good for good, _ in runs) / len(runs)
    reference = {
        "runs (count)": float(len(runs)),
        "a run (s)": statistics.median(seconds for _, seconds in runs),
    }
    return [Figure("acts", right, "%", 100.0, "higher", reference)]


async def _run(model: str) -> tuple[bool, float]:
    """(whether it went well, seconds) in a home of its own."""
    answers: list[str] = []
    approving: set[asyncio.Task[None]] = set()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="orion-bench-") as folder:
        async with assemble(Path(folder), door="bench") as runtime:
            session = await runtime.open(profile="orion-local")
            await session.use(model=model)

            def take(event: Event) -> None:
                match event.body:
                    case ApprovalRequired(id=ident):
                        task = asyncio.create_task(session.answer(ident, "approve", door="bench"))
                        approving.add(task)
                    case ResponseComplete(text=text, final=True):
                        answers.append(text)
                    case _:
                        pass

            stop = session.subscribe(take)
            await session.submit(SENTENCE)
            async with asyncio.timeout(PATIENCE):
                await session.idle()
            stop()
            file = runtime.home.workspace / FILE
            written = file.read_text("utf-8") if file.is_file() else ""
            await session.close()
    return _right(written, answers[-1] if answers else ""), time.monotonic() - begin


def _right(written: str, answer: str) -> bool:
    """Whether three tasks were written, a line each or in one line with commas, and all are read back."""
    lines = [line for line in written.splitlines() if line.strip()]
    parts = lines if len(lines) >= TASKS else written.split(",")
    tasks = [task for part in parts if len((task := part.strip("-*#[] 0123456789.\n")).split()) > 1]
    return len(tasks) >= TASKS and all(task in answer for task in tasks[-TASKS:])
