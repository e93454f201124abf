"""Actions that are ended from outside with a reason."""

from __future__ import annotations

import asyncio

import pytest

from runtime.errors import OrionError
from runtime.interruptible import Interruptible


async def _never() -> None:
    await asyncio.Event().wait()


async def _begun(actions: Interruptible, *, yields: bool) -> asyncio.Task[None]:
    task = asyncio.create_task(actions.run(_never(), yields=yields))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return task


def test_the_result_comes_through() -> None:
    async def result() -> int:
        async def three() -> int:
            return 3

        return await Interruptible().run(three(), yields=True)

    assert asyncio.run(result()) == 3


def test_ending_raises_the_reason() -> None:
    async def ended() -> None:
        actions = Interruptible()
        task = await _begun(actions, yields=False)
        actions.end(OrionError("computer_stopped"))
        await task

    with pytest.raises(OrionError, match="computer_stopped"):
        asyncio.run(ended())


def test_only_what_yields_can_be_ended_alone() -> None:
    async def ended() -> tuple[bool, bool]:
        actions = Interruptible()
        one, other = await _begun(actions, yields=True), await _begun(actions, yields=False)
        actions.end(OrionError("wheel_taken"), all_=False)
        await asyncio.wait([one])
        done = other.done()
        other.cancel()
        await asyncio.wait([other])
        return isinstance(one.exception(), OrionError), done

    assert asyncio.run(ended()) == (True, False)


def test_cancelling_the_caller_is_no_reason() -> None:
    async def cancelled() -> bool:
        actions = Interruptible()
        task = await _begun(actions, yields=True)
        actions.end(OrionError("wheel_taken"))
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(cancelled())
