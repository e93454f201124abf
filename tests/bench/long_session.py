"""How long opening a session of 10,000 messages takes until it is on the screen."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from pathlib import Path

from tests.bench.figure import Figure
from tests.bench.window_house import long_session, probe, scripted_home

MESSAGES = 10_000
ROUNDS = 5
GOAL = 150.0


def measure(*, peers: bool = False) -> list[Figure]:
    """The median from the click to the first paint, the journal read included."""
    del peers
    with tempfile.TemporaryDirectory(prefix="orion-bench-") as folder:
        home = Path(folder)
        scripted_home(home)
        sessions = [long_session(home, MESSAGES, f"Long {number}") for number in range(ROUNDS)]
        few = long_session(home, 10, "Short")
        alone = [_read(home / "sessions" / f"{session}.jsonl") for session in sessions]
        with probe(home, "open", few, *sessions) as window:
            opened = [float(window.next("opened")["opened"]) for _ in range(ROUNDS + 1)]
    reference = {
        "a session of 10 messages": opened[0],
        "reading and parsing the JSON alone": statistics.median(alone),
        "fastest": min(opened[1:]),
        "slowest": max(opened[1:]),
    }
    return [Figure("open_10k", statistics.median(opened[1:]), "ms", GOAL, "lower", reference)]


def _read(path: Path) -> float:
    begin = time.perf_counter()
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert records
    return 1000 * (time.perf_counter() - begin)
