"""Messages that waited when the program died: kept, in order, and answered."""

from __future__ import annotations

import asyncio
from pathlib import Path

from runtime.assemble import assemble
from tests.runtime.scripted_house import Steps, Watch, talking, write_profile

STEPS: Steps = [{"say": {"text": "one two three", "delay": 0.001}}, {"say": "Second."}, {"say": "Third."}]


async def _killed_while_one_waits(home: Path, *, after_the_turn: bool) -> str:
    """A session whose journal ends as a kill leaves it; with a message that was still waiting."""
    async with talking(home, STEPS) as (_, session, watch):
        await session.submit("first")
        await watch.until("response_chunk")
        await session.submit("second")
        await session.idle()
        identifier = session.id
    path = home / "sessions" / f"{identifier}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    queued = next(number for number, line in enumerate(lines) if b'"type":"queued"' in line)
    done = [line for line in lines if b'"type":"done"' in line][-1:] if after_the_turn else []
    path.write_bytes(b"".join(lines[: queued + 1] + done))
    write_profile(home, [{"say": "Second."}, {"say": "Third."}])
    return identifier


def _said(rows: list[dict[str, str]]) -> list[str]:
    return [row["text"] for row in rows if row["kind"] == "user"]


def test_a_message_that_waited_opens_the_next_turn(fresh_home: Path) -> None:
    async def main() -> None:
        identifier = await _killed_while_one_waits(fresh_home, after_the_turn=True)
        async with assemble(fresh_home) as runtime:
            again = await runtime.open(identifier)
            waits = [again.interrupted]
            watch = Watch(again)
            await again.continue_()
            await again.idle()
            waits.append(again.interrupted)
            assert waits == [True, False]
            assert watch.text == "Second."
            assert not any(row.get("queued") for row in again.rows())

    asyncio.run(main())


def test_a_new_message_does_not_overtake_one_that_waited(fresh_home: Path) -> None:
    async def main() -> None:
        for after_the_turn in (True, False):
            identifier = await _killed_while_one_waits(fresh_home, after_the_turn=after_the_turn)
            async with assemble(fresh_home) as runtime:
                again = await runtime.open(identifier)
                await again.submit("third")
                await again.idle()
                assert _said(again.rows()) == ["first", "second", "third"]

    asyncio.run(main())
