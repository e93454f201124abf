"""How soon the window stands on the screen after the start, and how much memory it takes when idle."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from tests.bench.figure import Figure
from tests.bench.window_house import memory, probe, scripted_home

ROUNDS = 5
START_GOAL = 600.0
MEMORY_GOAL = 150.0


def measure(*, peers: bool = False) -> list[Figure]:
    """Medians of warm starts, each followed by the start of a bare Qt window."""
    del peers
    times: dict[str, list[float]] = {"start": [], "bare": []}
    work: dict[str, list[float]] = {"start": [], "bare": []}
    sizes: dict[str, list[dict[str, float]]] = {"start": [], "bare": []}
    with tempfile.TemporaryDirectory(prefix="orion-bench-") as folder:
        home = Path(folder)
        scripted_home(home)
        for _ in range(ROUNDS + 1):
            for kind in ("start", "bare"):
                with probe(home, kind) as window:
                    frame = window.next("first_frame")
                    times[kind].append(1000 * frame["first_frame"])
                    work[kind].append(1000 * frame["processor"])
                    window.next("idle")
                    sizes[kind].append(memory(window.pid))
    shown = {kind: statistics.median(found[1:]) for kind, found in times.items()}
    pss, rss, private = (
        {kind: statistics.median(size[name] for size in found) for kind, found in sizes.items()}
        for name in ("Pss", "Rss", "private")
    )
    best = {
        "bare Qt window": shown["bare"],
        "fastest": min(times["start"]),
        "processor time": statistics.median(work["start"]),
        "processor time, bare Qt window": statistics.median(work["bare"]),
    }
    others = {"bare Qt window": pss["bare"], "private": private["start"], "resident": rss["start"]}
    return [
        Figure("start_to_window", shown["start"], "ms", START_GOAL, "lower", best),
        Figure("idle_pss", pss["start"], "MB", MEMORY_GOAL, "lower", others),
    ]
