"""The engine's kernels are timed by the real library, in this process and in a child."""

from __future__ import annotations

import json
import subprocess
from itertools import count

import pytest

from models.bindings import Library
from models.kernels import KERNELS, VERSION, Bench, listed, timed
from models.worker_process import default_command


@pytest.fixture(scope="module")
def library() -> Library:
    return Library()


def test_the_processor_is_listed_first(library: Library) -> None:
    rows = [row for row, _device in listed(library.api)]
    assert [row["card"] for row in rows] == sorted(row["card"] for row in rows)
    assert not rows[0]["card"]


def test_kernels_have_rates_and_layers_a_time(library: Library) -> None:
    bench = Bench(library.api, listed(library.api)[0][1])
    try:
        assert 1e7 < bench.rate(8) < 1e13  # Q8_0
        assert 1e7 < bench.rate(12) < 1e13  # Q4_K
        assert 1e-8 < bench.layer() < 1
    finally:
        bench.close()


def test_patience_ends_the_timing(library: Library) -> None:
    clock = count(0, 2)
    rows = timed(library.api, lambda: float(next(clock)))
    assert 0 < len(rows[0]["rates"]) < len(KERNELS)


def test_the_child_says_one_line() -> None:
    command = [*default_command()[:-1], "kernels", "list"]
    done = subprocess.run(command, capture_output=True, timeout=60, check=True)
    told = json.loads(done.stdout)
    assert told["version"] == VERSION
    assert told["devices"][0].keys() == {"name", "card", "free", "shared"}
