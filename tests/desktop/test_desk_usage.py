"""The window's question about usage is answered by a real runtime as plain data."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from desktop import desk_usage
from desktop.desk import Desk
from runtime.assemble import assemble
from tests.runtime.paid_house import set_caps
from tests.runtime.scripted_house import write_profile


def test_what_was_said_in_a_chat_is_in_the_figures(fresh_home: Path) -> None:
    write_profile(fresh_home, [{"say": "Good day."}])
    set_caps(fresh_home, monthly_usd=3.0)

    async def main() -> list[dict[str, Any]]:
        async with assemble(fresh_home, door="test") as runtime:
            desk = Desk(runtime, lambda event: None)
            before = await desk_usage.usage(desk, "today")
            session = await runtime.open(profile="test")
            await session.submit("Hi")
            await session.idle()
            after = await desk_usage.usage(desk, "all")
            await desk.close()
            return [before, after]

    before, after = asyncio.run(main())
    json.dumps([before, after])
    assert (before["total"]["calls"], after["total"]["calls"]) == (0, 1)
    assert after["models"][0]["local"] is True
    assert [cap["limit"] for cap in after["caps"]] == [0.0, 3.0, 0.0]
