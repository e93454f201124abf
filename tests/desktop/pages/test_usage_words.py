"""Periods and sums are put into words."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from desktop.pages.usage_words import heading, period, summary, top
from runtime.usage_record import Sum

ONE = asdict(Sum(1, 1000, 0, 0, 5, 0, 0.5))


@pytest.mark.parametrize(
    ("bucket", "step", "short", "full"),
    [
        ("2026-11-21 07", "hour", "07", "07:00–08:00"),
        ("2026-11-21", "day", "21 Nov", "Saturday 21 November"),
        ("2026-11", "month", "Nov 2026", "November 2026"),
    ],
)
def test_a_period_is_named_short_and_in_full(bucket: str, step: str, short: str, full: str) -> None:
    label, words = period({"bucket": bucket, **ONE}, step)
    assert (label, words) == (short, f"{full}: $0.50, 1 call, 1,005 tokens")


def test_a_period_tells_what_is_not_known() -> None:
    nothing = {"bucket": "2026-11-21", **asdict(Sum())}
    assert period(nothing, "day")[1].endswith(": nothing")
    unknown = {"bucket": "2026-11-21", **asdict(Sum(2, 10, 0, 0, 5, 0, 0.0, 2))}
    assert "price not known, 2 calls" in period(unknown, "day")[1]
    free = {"bucket": "2026-11-21", **asdict(Sum(2, 10, 0, 0, 5))}
    assert period(free, "day")[1].endswith(": 2 calls, 15 tokens")


def test_amounts_and_sums() -> None:
    assert top("cost", 1.5) == "$1.50"
    assert top("tokens", 12_345.0) == "12,345 tokens"
    assert heading("tokens", "month") == "Tokens by month"
    assert summary(ONE) == "1 call, 1,000 tokens in (0 of them cached), 5 out"
