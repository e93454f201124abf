"""Amounts of money and of bytes in the words that people are shown."""

from __future__ import annotations

from resources.translation import _
from runtime.messages import JsonObject


def dollars(amount: float) -> str:
    """An amount for people: in cents, and to a hundredth of one where it is less than ten."""
    if amount and amount < 0.0001:
        return "<$0.0001"
    if amount >= 0.1:
        return f"${amount:,.2f}"
    whole, exact = f"{amount:.2f}", f"{amount:.4f}"
    return f"${whole if float(whole) == float(exact) else exact}"


def priced(figures: JsonObject, *, local: bool) -> str:
    """What the calls of `figures` {calls, cost, unknown} cost, for people; a price that is not known is never
    shown as nothing."""
    if local:
        return _("free")
    if figures["unknown"] and figures["unknown"] == figures["calls"]:
        return _("unknown")
    cost = dollars(figures["cost"])
    return _("at least {cost}").format(cost=cost) if figures["unknown"] else cost


def size(count: int) -> str:
    """A number of bytes for people."""
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return ""
