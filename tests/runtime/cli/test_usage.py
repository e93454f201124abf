"""What models used and cost is printed by model; an unknown price is marked, and asking stores nothing."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from runtime.messages import Usage
from runtime.usage_record import Call, UsageRecord
from tests.runtime.cli.commands import Here
from tests.runtime.paid_house import paid_profile, set_caps

DAY = 86_400.0


def used(home: Path, *calls: tuple[float, str, str, float | None]) -> None:
    """Calls as (days ago, provider, model, cost)."""
    home.mkdir(parents=True, exist_ok=True)
    record = UsageRecord(home / "usage.db")
    for ago, provider, model, cost in calls:
        moment = time.time() - ago * DAY
        tokens = Usage(12_000, 345, cached=10_000)
        record.add(Call(moment, "s", "t", provider, model, provider == "local", tokens, cost, 1.0))
    record.close()


def test_the_table_shows_tokens_and_cost_by_model(fresh_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used(
        fresh_home, (0, "openai", "gpt-6-luna", 1.25), (0, "local", "small", 0.0), (0, "openai", "new", None)
    )
    set_caps(fresh_home, daily_usd=5.0)
    ran = Here(monkeypatch).run("usage")
    lines = ran.out.splitlines()
    assert lines[0].split() == ["Today", "calls", "in", "cached", "out", "cost"]
    assert lines[1].split() == ["openai/gpt-6-luna", "1", "12,000", "10,000", "345", "$1.25"]
    assert lines[2].split() == ["local/small", "1", "12,000", "10,000", "345", "free"]
    assert lines[3].split() == ["openai/new", "1", "12,000", "10,000", "345", "unknown"]
    assert lines[4].split() == ["total", "3", "36,000", "30,000", "1,035", "at", "least", "$1.25"]
    assert lines[5] == "cap for a day: $1.25 of $5.00"
    assert "The price of 1 call is not known" in ran.err
    assert ran.code == 0


@pytest.mark.parametrize(("span", "calls"), [("today", 1), ("7d", 2), ("30d", 3), ("all", 4)])
def test_a_range_says_how_far_back(
    fresh_home: Path, monkeypatch: pytest.MonkeyPatch, span: str, calls: int
) -> None:
    used(fresh_home, *((ago, "openai", "m", 0.5) for ago in (0, 4, 20, 400)))
    report = json.loads(Here(monkeypatch).run("usage", "--range", span, "--json").out)
    assert (report["range"], report["total"]["calls"]) == (span, calls)
    assert report["models"][0]["cost"] == pytest.approx(0.5 * calls)


def test_where_nothing_was_used_it_says_so_and_makes_nothing(
    fresh_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = Here(monkeypatch).run("usage", "-r", "all")
    assert (ran.code, ran.out) == (0, "All time: no model was asked.\n")
    assert not fresh_home.exists()


def test_a_range_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = Here(monkeypatch).run("usage", "--range", "8d")
    assert ran.code == 2
    assert "8d" in ran.err


def test_a_damaged_record_is_one_sentence(fresh_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh_home.mkdir(parents=True)
    (fresh_home / "usage.db").write_bytes(b"damaged" * 1000)
    ran = Here(monkeypatch).run("usage")
    assert ran.code == 1
    assert str(fresh_home / "usage.db") in ran.err
    assert "Traceback" not in ran.err


def test_what_was_asked_in_the_terminal_is_in_the_table(
    fresh_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paid_profile(monkeypatch, fresh_home, [{"say": "Good day."}])
    here = Here(monkeypatch)
    assert here.run("ask", "Hi", "--profile", "test").code == 0
    (model,) = json.loads(here.run("usage", "--json").out)["models"]
    assert (model["provider"], model["model"], model["calls"], model["local"]) == (
        *("paid", "test.script"),
        *(1, False),
    )
    assert model["cost"] > 0


def test_a_reached_cap_is_a_sentence_and_a_failure(fresh_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paid_profile(monkeypatch, fresh_home, [{"say": "Good day."}], loop=True)
    set_caps(fresh_home, daily_usd=0.0001)
    here = Here(monkeypatch)
    assert here.run("ask", "Hi", "--profile", "test").code == 0
    ran = here.run("ask", "Hi", "--profile", "test")
    assert ran.code == 1
    assert ran.out == ""
    assert "Your cap for a day of $0.0001 is reached" in ran.err
