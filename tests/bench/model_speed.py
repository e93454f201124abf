"""How well tokens a second are told from a file's header and this machine's speeds, for up to three files."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path

import resources
from models import bandwidth, hardware
from models.bandwidth import Timed
from models.fitness import Machine, tokens_per_second
from models.footprint import of_header
from models.gguf import read_header
from tests.bench.child import Child
from tests.bench.figure import Figure

GOAL = 30.0
ROUNDS = 2
PROMPT, TOKENS = 64, 24
"""Tokens already there and tokens timed."""


def measure(*, peers: bool = False) -> list[Figure]:
    """The largest errors in percent, of the bundled model and of those in ORION_BENCH_MODEL (joined as a path
    list). Speeds are taken anew in each round, between the answers of a bare decode loop.

    Both sides are told from their best moments, which is what the machine does when nothing else runs.
    model_speed counts processor time of one thread, which other work on this machine hardly changes;
    model_speed_cores counts the clock with all cores, and only means something on a quiet machine.
    """
    del peers
    named = [Path(part) for part in os.environ.get("ORION_BENCH_MODEL", "").split(os.pathsep) if part]
    reference: list[dict[str, float]] = [{}, {}]
    worst = [0.0, 0.0]
    for path in [*sorted(resources.weights_dir().glob("*.gguf"))[:1], *named]:
        for at, (told, found) in enumerate(_pairs(path)):
            error = 100 * (told - found) / found
            worst[at] = max(worst[at], abs(error))
            reference[at][f"{path.stem}: told (tokens/s)"] = told
            reference[at][f"{path.stem}: measured (tokens/s)"] = found
            reference[at][f"{path.stem}: error (%)"] = error
    return [
        Figure("model_speed", worst[0], "%", GOAL, "lower", reference[0]),
        Figure("model_speed_cores", worst[1], "%", GOAL, "lower", reference[1]),
    ]


def _pairs(path: Path) -> list[tuple[float, float]]:
    """Told and measured: the best of all rounds, with one thread and with all cores."""
    load, cores = of_header(read_header(path)), hardware.usable_cores()
    told: list[list[float]] = [[], []]
    found: list[list[float]] = [[], []]
    with Child(["-m", "tests.bench.bare_decode", str(path), "2048"]) as bare:
        bare.ask()
        for _ in range(ROUNDS):
            timed = _timed()
            for at, threads in enumerate((1, cores)):
                machine = Machine(replace(hardware.look(), usable_cores=threads), (), 0, timed.processor)
                told[at].append(tokens_per_second(load, machine))
                asked = {"threads": threads, "prompt": PROMPT, "tokens": TOKENS, "fastest": True}
                rate, work = bare.ask(asked | {"temperature": 0.0})
                found[at].append(rate if at else 1 / work)
    return [(max(told[at]), max(found[at])) for at in (0, 1)]


def _timed() -> Timed:
    with tempfile.TemporaryDirectory(prefix="orion-bench-") as folder:
        return bandwidth.timed(Path(folder))
