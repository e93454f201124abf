"""Chunks are gathered, nothing is lost, order holds."""

from __future__ import annotations

import asyncio

from runtime.events import Event, ResponseChunk, ThinkingChunk, ThinkingStart, ToolChunk
from runtime.outlet import Outlet


def test_chunks_are_gathered_and_the_first_comes_at_once() -> None:
    async def main() -> list[Event]:
        seen: list[Event] = []
        outlet = Outlet("s")
        outlet.subscribe(seen.append)
        for _ in range(1000):
            outlet.emit(ResponseChunk("a"))
        assert seen
        assert isinstance(seen[0].body, ResponseChunk)
        outlet.emit(ThinkingStart())
        return seen

    seen = asyncio.run(main())
    texts = [event.body.text for event in seen if isinstance(event.body, ResponseChunk)]
    assert "".join(texts) == "a" * 1000
    assert len(texts) < 20
    assert [event.seq for event in seen] == list(range(1, len(seen) + 1))
    assert seen[-1].body == ThinkingStart()


def test_what_is_held_comes_by_itself() -> None:
    async def main() -> str:
        arrived = asyncio.Event()
        seen: list[str] = []

        def take(event: Event) -> None:
            assert isinstance(event.body, ResponseChunk)
            seen.append(event.body.text)
            if "".join(seen) == "ab":
                arrived.set()

        outlet = Outlet("s")
        outlet.subscribe(take)
        outlet.emit(ResponseChunk("a"))
        outlet.emit(ResponseChunk("b"))
        async with asyncio.timeout(5):
            await arrived.wait()
        return "".join(seen)

    assert asyncio.run(main()) == "ab"


def test_chunks_of_different_kinds_and_tools_are_not_mixed() -> None:
    async def main() -> list[object]:
        seen: list[object] = []
        outlet = Outlet("s")
        outlet.subscribe(lambda event: seen.append(event.body))
        for body in (ToolChunk("1", "a"), ToolChunk("2", "b"), ToolChunk("2", "c"), ThinkingChunk("d")):
            outlet.emit(body)
        outlet.flush()
        return seen

    assert asyncio.run(main()) == [ToolChunk("1", "a"), ToolChunk("2", "bc"), ThinkingChunk("d")]


def test_a_door_that_left_hears_nothing_more() -> None:
    async def main() -> int:
        seen: list[Event] = []
        outlet = Outlet("s")
        leave = outlet.subscribe(seen.append)
        outlet.emit(ThinkingStart())
        leave()
        leave()
        outlet.emit(ThinkingStart())
        return len(seen)

    assert asyncio.run(main()) == 1
