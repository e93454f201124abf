"""The gate of a paused session: shut, opened, and one step at a time."""

from __future__ import annotations

import asyncio

from runtime.gate import Gate


def test_an_open_gate_lets_everybody_through_at_once() -> None:
    async def passes() -> None:
        gate = Gate()
        assert not gate.shut
        await gate.passing()
        await gate.passing(action=True)
        assert not gate.open()

    asyncio.run(passes())


def test_a_shut_gate_holds_until_it_is_opened() -> None:
    async def waits() -> None:
        gate = Gate()
        assert gate.close()
        assert not gate.close()
        waiting = [asyncio.create_task(gate.passing(action=action)) for action in (True, False)]
        await asyncio.sleep(0)
        assert gate.shut
        assert gate.waits
        assert not any(task.done() for task in waiting)
        assert gate.open()
        await asyncio.gather(*waiting)

    asyncio.run(waits())


def test_a_step_lets_the_model_on_and_one_action() -> None:
    async def steps() -> None:
        gate = Gate()
        gate.close()
        actions = [asyncio.create_task(gate.passing(action=True)) for _ in range(2)]
        await asyncio.sleep(0)
        gate.step()
        await gate.passing()
        assert gate.shut
        await asyncio.wait(actions, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.sleep(0)
        assert sorted(task.done() for task in actions) == [False, True]
        assert gate.waits
        gate.open()
        await asyncio.gather(*actions)

    asyncio.run(steps())


def test_shutting_takes_back_a_step() -> None:
    gate = Gate()
    gate.close()
    gate.step()
    assert not gate.waits
    assert gate.close()
    assert gate.waits
