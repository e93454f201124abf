"""What the window may ask about usage and cost; questions to the desk like its own methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from desktop.desk import Desk
    from runtime.usage_report import Range

Plain = dict[str, Any]


async def usage(desk: Desk, span: Range) -> Plain:
    """The figures of a stretch of time, as Spending.report gives them."""
    return desk.runtime.spending.report(span)
