"""Calls of one reply that are about the same path run in their order."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.runtime.scripted_house import Steps, Watch, call, talking


def test_what_one_call_writes_the_next_reads_even_when_the_first_must_be_allowed(fresh_home: Path) -> None:
    write = call("write_file", path="notes/todo.md", text="Pack the books.")
    read = call("read_file", path="notes/todo.md")
    steps: Steps = [write, read, call("echo", text="elsewhere"), {"say": "Done."}]

    async def main() -> Watch:
        async with talking(fresh_home, steps) as (_, session, watch):
            await session.submit("Write it, then read it.")
            question = await watch.until("approval_required")
            await watch.until("tool_call_complete")
            assert [done.name for done in watch.of("tool_call_complete")] == ["echo"]
            await session.answer(question.id, "approve")
            await session.idle()
            return watch

    watch = asyncio.run(main())
    assert [done.name for done in watch.of("tool_call_complete")] == ["echo", "write_file", "read_file"]
    assert "Pack the books." in watch.of("tool_call_complete")[-1].text


def test_a_first_call_that_is_refused_does_not_hold_up_the_next(fresh_home: Path) -> None:
    write = call("write_file", path="a.txt", text="x")
    steps: Steps = [write, call("read_file", path="a.txt"), {"say": "Done."}]

    async def main() -> Watch:
        async with talking(fresh_home, steps) as (_, session, watch):
            await session.submit("go")
            question = await watch.until("approval_required")
            await session.answer(question.id, "deny")
            await session.idle()
            return watch

    watch = asyncio.run(main())
    assert [failed.name for failed in watch.of("tool_call_failed")] == ["write_file", "read_file"]
    assert watch.text == "Done."
