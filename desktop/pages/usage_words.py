"""The words of the usage page: periods, amounts and sums."""

from __future__ import annotations

from typing import Any, Literal

from PySide6.QtCore import QDate, QLocale

from resources.translation import _, ngettext
from runtime.amounts import dollars, priced

Measure = Literal["cost", "tokens"]
Figures = dict[str, Any]


def heading(measure: Measure, step: str) -> str:
    """What the bars show."""
    words = {
        ("cost", "hour"): _("Cost by hour"),
        ("cost", "day"): _("Cost by day"),
        ("cost", "month"): _("Cost by month"),
        ("tokens", "hour"): _("Tokens by hour"),
        ("tokens", "day"): _("Tokens by day"),
        ("tokens", "month"): _("Tokens by month"),
    }
    return words[measure, step]


def top(measure: Measure, amount: float) -> str:
    """The highest amount, for the line above the bars."""
    return dollars(amount) if measure == "cost" else _("{count} tokens").format(count=f"{amount:,.0f}")


def period(found: Figures, step: str) -> tuple[str, str]:
    """What stands under a bar, and all it says."""
    short, full = _when(str(found["bucket"]), step)
    if not found["calls"]:
        return short, _("{time}: nothing").format(time=full)
    calls = ngettext("{n} call", "{n} calls", found["calls"]).format(n=f"{found['calls']:,}")
    tokens = _("{count} tokens").format(count=f"{found['prompt'] + found['completion']:,}")
    parts = [calls, tokens]
    if found["cost"] or found["unknown"]:
        cost = priced(found, local=False)
        unknown = found["unknown"] == found["calls"]
        parts.insert(0, _("price not known") if unknown else cost)
    return short, _("{time}: {what}").format(time=full, what=", ".join(parts))


def summary(total: Figures) -> str:
    """A sum of tokens and calls in one line."""
    calls = ngettext("{n} call", "{n} calls", total["calls"]).format(n=f"{total['calls']:,}")
    told = _("{calls}, {prompt} tokens in ({cached} of them cached), {completion} out")
    return told.format(
        calls=calls,
        prompt=f"{total['prompt']:,}",
        cached=f"{total['cached']:,}",
        completion=f"{total['completion']:,}",
    )


def _when(bucket: str, step: str) -> tuple[str, str]:
    """A period in short and in full."""
    locale = QLocale()
    if step == "hour":
        hour = int(bucket[-2:])
        return f"{hour:02}", f"{hour:02}:00–{hour + 1:02}:00"
    if step == "month":
        first = QDate.fromString(bucket + "-01", "yyyy-MM-dd")
        return locale.toString(first, "MMM yyyy"), locale.toString(first, "MMMM yyyy")
    day = QDate.fromString(bucket, "yyyy-MM-dd")
    return locale.toString(day, "d MMM"), locale.toString(day, "dddd d MMMM")
