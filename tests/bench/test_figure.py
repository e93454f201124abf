"""Figures are judged by their goals, shown with what they are compared with, and stored as agreed."""

from __future__ import annotations

import importlib
import inspect
import json
from pathlib import Path

import pytest

from tests.bench.__main__ import BENCHES, bench_of
from tests.bench.figure import Figure, percentile, store, table

FAST = Figure("fast", 1.23456, "ms", 2.0, "lower", {"bare": 1.0}, {"other": 9.0})


def test_a_goal_is_met_from_its_better_side() -> None:
    assert FAST.met
    assert not Figure("slow", 2.1, "ms", 2.0, "lower").met
    assert Figure("ratio", 0.96, "", 0.95, "higher").met
    assert not Figure("ratio", 0.94, "", 0.95, "higher").met


@pytest.mark.parametrize(("percent", "value"), [(50, 50.0), (95, 95.0), (1, 1.0)])
def test_percentiles_lie_within_the_values(percent: int, value: float) -> None:
    assert percentile([float(number) for number in range(101)], percent) == pytest.approx(value)
    assert percentile([7.0], percent) == 7.0


def test_the_table_names_value_goal_verdict_and_comparisons() -> None:
    text = table([FAST, Figure("slow", 3.0, "MB", 2.0, "lower")])
    for words in ("fast", "1.235 ms", "goal ≤ 2", "met", "1 bare", "9 peer other", "MISSED"):
        assert words in text


def test_the_file_is_a_list_with_the_agreed_keys(tmp_path: Path) -> None:
    store([FAST], tmp_path / "build" / "bench.json")
    (row,) = json.loads((tmp_path / "build" / "bench.json").read_text("utf-8"))
    assert list(row) == ["name", "value", "unit", "goal", "better", "reference", "peers"]
    assert (row["value"], row["reference"], row["peers"]) == (1.235, {"bare": 1.0}, {"other": 9.0})


def test_every_bench_can_be_asked_for_by_its_name_or_its_figures() -> None:
    assert bench_of("open_10k") == bench_of("long_session") == "long_session"
    assert bench_of("nothing") == ""
    for bench, figures in BENCHES.items():
        module = importlib.import_module(f"tests.bench.{bench}")
        assert list(inspect.signature(module.measure).parameters) == ["peers"]
        assert all(f'"{figure}"' in inspect.getsource(module) for figure in figures)
