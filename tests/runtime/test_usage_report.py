"""Ranges begin at local midnight, periods have no gaps, and models come dearest first."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from runtime.messages import Usage
from runtime.usage_record import Call, UsageRecord
from runtime.usage_report import RANGES, Range, day_began, month_began, report


@pytest.fixture(params=["UTC", "America/New_York", "Pacific/Auckland"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A place on the earth; all three are on summer time or off it at different seasons."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    os.environ["TZ"] = "UTC"
    time.tzset()


def at(*moment: int) -> float:
    """Local time as seconds since the epoch."""
    return datetime(*moment).timestamp()  # type: ignore[arg-type]  # noqa: DTZ001


@pytest.fixture
def record(tmp_path: Path) -> Iterator[UsageRecord]:
    made = UsageRecord(tmp_path / "usage.db")
    yield made
    made.close()


def use(record: UsageRecord, moment: float, model: str = "m", cost: float | None = 1.0) -> None:
    local = model == "home"
    record.add(Call(moment, "s", "t", "local" if local else "paid", model, local, Usage(10, 5), cost, 0.1))


def calls(record: UsageRecord, span: Range, now: float) -> int:
    found = report(record, span, now)["total"]["calls"]
    assert isinstance(found, int)
    return found


def test_ranges_begin_at_local_midnight(zone: str, record: UsageRecord) -> None:
    now = at(2026, 11, 21, 15, 30)
    for moment in (
        at(2026, 11, 21, 0, 0, 0),
        at(2026, 11, 20, 23, 59, 59),
        at(2026, 11, 15, 0, 0, 0),
        at(2026, 11, 14, 23, 59, 59),
        at(2026, 10, 23, 0, 0, 0),
        at(2026, 10, 22, 23, 59, 59),
        at(2025, 1, 1, 12, 0, 0),
    ):
        use(record, moment)
    assert [calls(record, span, now) for span in RANGES] == [1, 3, 5, 7]


def test_days_follow_one_another_across_a_change_of_the_clocks(zone: str, record: UsageRecord) -> None:
    for month, day in ((4, 8), (10, 1), (11, 5)):
        now = at(2026, month, day, 12, 0)
        use(record, now)
        found = report(record, "30d", now)
        days = [period["bucket"] for period in found["periods"]]
        assert len(days) == len(set(days)) == 30
        assert days == sorted(days)
        assert days[-1] == f"2026-{month:02}-{day:02}"
        assert found["periods"][-1]["calls"] == 1


def test_a_call_is_counted_in_the_local_day_it_ended(zone: str, record: UsageRecord) -> None:
    use(record, at(2026, 11, 20, 23, 59, 59))
    use(record, at(2026, 11, 21, 0, 0, 1))
    found = report(record, "7d", at(2026, 11, 21, 8, 0))
    assert {period["bucket"]: period["calls"] for period in found["periods"] if period["calls"]} == {
        "2026-11-20": 1,
        "2026-11-21": 1,
    }


def test_today_is_shown_by_hour(record: UsageRecord) -> None:
    now = at(2026, 11, 21, 15, 30)
    use(record, at(2026, 11, 21, 9, 59, 59))
    found = report(record, "today", now)
    assert (found["step"], len(found["periods"])) == ("hour", 24)
    ninth = found["periods"][9]
    assert (ninth["bucket"], ninth["calls"], ninth["prompt"]) == ("2026-11-21 09", 1, 10)
    assert (ninth["completion"], ninth["cost"], ninth["unknown"]) == (5, 1.0, 0)


def test_all_is_shown_by_day_and_later_by_month(record: UsageRecord) -> None:
    use(record, at(2026, 11, 1, 12, 0))
    assert report(record, "all", at(2026, 11, 3, 12, 0))["step"] == "day"
    assert len(report(record, "all", at(2026, 11, 3, 12, 0))["periods"]) == 3
    found = report(record, "all", at(2027, 3, 3, 12, 0))
    assert [period["bucket"] for period in found["periods"]] == [
        *("2026-11", "2026-12", "2027-01", "2027-02", "2027-03")
    ]


def test_models_come_dearest_first_and_unknown_prices_are_counted(record: UsageRecord) -> None:
    now = at(2026, 11, 21, 15, 30)
    use(record, now, "cheap", 0.1)
    use(record, now, "dear", 2.0)
    use(record, now, "home", 0.0)
    use(record, now, "secret", None)
    found = report(record, "today", now)
    assert [made["model"] for made in found["models"]] == ["dear", "cheap", "home", "secret"]
    assert [made["unknown"] for made in found["models"]] == [0, 0, 0, 1]
    assert found["models"][2]["local"] is True
    assert found["total"]["cost"] == pytest.approx(2.1)
    assert found["total"]["unknown"] == 1


def test_nothing_used_has_no_periods(record: UsageRecord) -> None:
    for span in RANGES:
        found = report(record, span, at(2026, 11, 21, 15, 30))
        assert (found["periods"], found["models"], found["total"]["calls"]) == ([], [], 0)


def test_days_and_months_begin_at_midnight(zone: str) -> None:
    now = at(2026, 11, 21, 15, 30)
    assert day_began(now) == at(2026, 11, 21, 0, 0)
    assert day_began(now, 29) == at(2026, 10, 23, 0, 0)
    assert month_began(now) == at(2026, 11, 1, 0, 0)
