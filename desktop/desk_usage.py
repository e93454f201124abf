"""What the window may ask about usage and cost; questions to the desk like its own methods."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from runtime.usage_report import Range, read

if TYPE_CHECKING:
    from desktop.desk import Desk

Plain = dict[str, Any]


async def usage(desk: Desk, span: Range) -> Plain:
    """The figures of a stretch of time, as Spending.report gives them."""
    spending = desk.runtime.spending
    return spending.explain(await asyncio.to_thread(read, spending.path, span, spending.now()))
