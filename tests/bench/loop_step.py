"""What one step of the loop costs: a model reply that calls one tool, judged, run and made durable."""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from runtime.assemble import assemble
from runtime.events import Event, ToolComplete
from tests.bench.figure import Figure, percentile
from tests.bench.peers.run import loop_steps
from tests.runtime.scripted_house import Steps, call, write_profile

STEPS = 180
WARM = 20
"""First steps that do not count."""
SYNCS = 2
"""Records of a step that are written through to the disk: the intent and the result."""
GOAL = 2.0


def measure(*, peers: bool = False) -> list[Figure]:
    """p95 of a step with its writes to the disk and without, in milliseconds."""
    with tempfile.TemporaryDirectory(prefix="orion-bench-") as folder:
        alone = _syncs_alone(Path(folder), SYNCS)
        whole, own, syncs = asyncio.run(_steps(Path(folder)))
        alone += _syncs_alone(Path(folder), SYNCS)
    reference = {
        f"{SYNCS} fsyncs alone, p95": percentile(alone, 95),
        f"{SYNCS} fsyncs alone, median": statistics.median(alone),
        "median": statistics.median(whole),
        "fsyncs of a step": statistics.mean(syncs),
    }
    own_reference = {"median": statistics.median(own), "p99": percentile(own, 99)}
    others = loop_steps(STEPS, WARM) if peers else {}
    return [
        Figure("loop_step", percentile(whole, 95), "ms", GOAL, "lower", reference, {}),
        Figure("loop_step_overhead", percentile(own, 95), "ms", GOAL, "lower", own_reference, others),
    ]


async def _steps(home: Path) -> tuple[list[float], list[float], list[int]]:
    """Milliseconds of each step, the same without waiting for the disk, and the number of fsyncs."""
    steps: Steps = []
    for number in range(STEPS):
        steps += [{"say": f"Step {number}."}, call("echo", text=f"step {number}")]
    write_profile(home, [*steps, {"say": "Done."}], name="bench", policy={"max_iterations": STEPS + 2})
    ends: list[tuple[float, float, int]] = []
    with _timed_fsync() as waits:

        def take(event: Event) -> None:
            if isinstance(event.body, ToolComplete):
                ends.append((time.perf_counter(), sum(waits), len(waits)))

        async with assemble(home, door="bench") as runtime:
            runtime.save_settings({"agent.bounded_iterations": STEPS + 2})
            session = await runtime.open(profile="bench")
            session.subscribe(take)
            await session.submit("Go.")
            await session.idle()
    pairs = list(zip(ends[WARM:], ends[WARM + 1 :], strict=False))
    whole = [1000 * (after[0] - before[0]) for before, after in pairs]
    waited = [1000 * (after[1] - before[1]) for before, after in pairs]
    own = [total - wait for total, wait in zip(whole, waited, strict=True)]
    return whole, own, [after[2] - before[2] for before, after in pairs]


@contextmanager
def _timed_fsync() -> Iterator[list[float]]:
    """Seconds of every fsync of this process meanwhile."""
    waits: list[float] = []
    original = os.fsync

    def timed(fd: Any) -> None:
        begin = time.perf_counter()
        original(fd)
        waits.append(time.perf_counter() - begin)

    os.fsync = timed
    try:
        yield waits
    finally:
        os.fsync = original


def _syncs_alone(folder: Path, times: int) -> list[float]:
    """Milliseconds of `times` appended and synced lines on the same disk, repeated."""
    line = b"x" * 250 + b"\n"
    found: list[float] = []
    with (folder / "alone").open("ab", buffering=0) as out:
        for _ in range(STEPS // 2):
            begin = time.perf_counter()
            for _ in range(times):
                out.write(line)
                os.fsync(out.fileno())
            found.append(1000 * (time.perf_counter() - begin))
    return found
