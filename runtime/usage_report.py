"""The figures of a stretch of time: what was used by hour, day or month, and by model."""

from __future__ import annotations

import time
from dataclasses import asdict
from datetime import date, timedelta
from pathlib import Path
from typing import Literal

from resources.translation import _, ngettext
from runtime.messages import JsonObject
from runtime.usage_record import Step, Sum, UsageRecord

Range = Literal["today", "7d", "30d", "all"]
RANGES: tuple[Range, ...] = ("today", "7d", "30d", "all")
MOST_DAYS = 92
"""Longer stretches are shown by month."""


def day_began(now: float, back: int = 0) -> float:
    """When the local day of `now`, or one `back` days before it, began."""
    return _midnight(_day(now) - timedelta(days=back))


def month_began(now: float) -> float:
    """When the local month of `now` began."""
    return _midnight(_day(now).replace(day=1))


def read(path: Path, span: Range, now: float) -> JsonObject:
    """The report of the record at `path`, on any thread; raises as UsageRecord."""
    record = UsageRecord(path)
    try:
        return report(record, span, now)
    finally:
        record.close()


def report(record: UsageRecord, span: Range, now: float) -> JsonObject:
    """{range, step, since, total, periods, models} as plain data; raises as UsageRecord.

    `step` is how long each of `periods` is, "hour", "day" or "month"; they follow one another without a gap,
    each {bucket, **sum}, the bucket being local time as "2026-11-21 13", "2026-11-21" or "2026-11".
    `models` are {provider, model, local, **sum}, the dearest first. A sum is as in Sum.
    """
    back = {"today": 0, "7d": 6, "30d": 29}
    since = record.first() if span == "all" else day_began(now, back[span])
    step = _step(span, since, now)
    groups = record.groups(since, step)
    periods = {bucket: Sum() for bucket in _buckets(step, since, now)} if groups else {}
    models: dict[tuple[str, str, bool], Sum] = {}
    total = Sum()
    for group in groups:
        periods[group.bucket] = periods.get(group.bucket, Sum()) + group.sum
        key = (group.provider, group.model, group.local)
        models[key] = models.get(key, Sum()) + group.sum
        total += group.sum
    return {
        "range": span,
        "step": step,
        "since": since,
        "total": asdict(total),
        "periods": [{"bucket": bucket, **asdict(periods[bucket])} for bucket in sorted(periods)],
        "models": [_model(key, found) for key, found in sorted(models.items(), key=_dearest)],
    }


def remarks(report: JsonObject) -> list[str]:
    """What a person must know to read the figures of Spending.report rightly."""
    total, found = report["total"], []
    if count := total["unknown"]:
        words = ngettext(
            "The price of {count} call is not known and not in the sum; write it into {path}.",
            "The prices of {count} calls are not known and not in the sum; write them into {path}.",
            count,
        )
        found.append(words.format(count=count, path=report["own_prices"]))
    if count := total["estimated"]:
        words = ngettext(
            "The tokens of {count} answer are a guess: it broke off, or the service did not tell them.",
            "The tokens of {count} answers are a guess: they broke off, or the service did not tell them.",
            count,
        )
        found.append(words.format(count=count))
    if total["cost"]:
        day = min(made["date"] for made in report["prices"])
        found.append(_("Prices as of {date}; the bill of the service is what counts.").format(date=day))
    return found


def _midnight(day: date) -> float:
    return time.mktime((day.year, day.month, day.day, 0, 0, 0, 0, 0, -1))


def _day(moment: float) -> date:
    """The local day in which `moment` lies."""
    return date(*time.localtime(moment)[:3])


def _step(span: Range, since: float, now: float) -> Step:
    if span == "today":
        return "hour"
    return "month" if now - since > MOST_DAYS * 86_400 else "day"


def _buckets(step: Step, since: float, now: float) -> list[str]:
    """The names of all periods from `since` to `now`."""
    first, last = _day(since), _day(now)
    if step == "hour":
        return [f"{last} {hour:02}" for hour in range(24)]
    if step == "day":
        return [str(first + timedelta(days=number)) for number in range((last - first).days + 1)]
    months = range(first.year * 12 + first.month - 1, last.year * 12 + last.month)
    return [f"{month // 12}-{month % 12 + 1:02}" for month in months]


def _model(key: tuple[str, str, bool], found: Sum) -> JsonObject:
    provider, model, local = key
    return {"provider": provider, "model": model, "local": local, **asdict(found)}


def _dearest(item: tuple[tuple[str, str, bool], Sum]) -> tuple[float, int, tuple[str, str, bool]]:
    key, found = item
    return -found.cost, -(found.prompt + found.completion), key
