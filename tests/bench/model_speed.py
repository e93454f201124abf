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
    """The largest error in percent, of the bundled model and of those in ORION_BENCH_MODEL (joined as a path
    list). Speeds are taken anew in each round, between the answers of a bare decode loop, and both sides are
    told from their best moments, which is what the machine does when nothing else runs.

    What counts is the processor time of one thread, which other work here hardly changes. With all cores and
    by the clock, which stands beside it, a figure only means something on a quiet machine.
    """
    del peers
    named = [Path(part) for part in os.environ.get("ORION_BENCH_MODEL", "").split(os.pathsep) if part]
    reference: dict[str, float] = {}
    worst = 0.0
    for path in [*sorted(resources.weights_dir().glob("*.gguf"))[:1], *named]:
        for who, (told, found) in zip(("one thread", "all cores"), _pairs(path), strict=True):
            error = 100 * (told - found) / found
            worst = max(worst, abs(error)) if who == "one thread" else worst
            reference[f"{path.stem}, {who}: told (tokens/s)"] = told
            reference[f"{path.stem}, {who}: measured (tokens/s)"] = found
            reference[f"{path.stem}, {who}: error (%)"] = error
    return [Figure("model_speed", worst, "%", GOAL, "lower", reference)]


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
