"""News are waited for without missing one."""

from __future__ import annotations

import asyncio

from runtime.news import News


def test_a_change_after_what_was_seen_is_told_to_all_who_wait() -> None:
    async def work() -> None:
        news = News()
        assert await news.after(-1) == 0
        waiting = [asyncio.create_task(news.after(0)) for _ in range(2)]
        await asyncio.sleep(0)
        assert not any(task.done() for task in waiting)
        news.tell()
        assert await asyncio.gather(*waiting) == [1, 1]
        news.tell()
        assert await news.after(0) == 2

    asyncio.run(work())
