"""A guest that is killed with keys and a button down leaves none of them pressed for the next one."""

from __future__ import annotations

import asyncio
from typing import Any

from sandbox.channel import Guest, attach

STATE = """
from Xlib.display import Display
x = Display()
bits = x.query_keymap()
down = [code for code in range(256) if bits[code // 8] >> code % 8 & 1]
print(len(down), x.screen().root.query_pointer().mask & 0x1F00)
"""


async def _state(container: Any) -> str:
    """How many keys are down in the container, and which buttons."""
    found = await asyncio.to_thread(container.exec_run, ["python3", "-c", STATE])
    return str(found.output.decode()).strip()


async def _until(container: Any, state: str) -> None:
    async with asyncio.timeout(20):
        while await _state(container) != state:
            pass


def test_the_next_guest_lets_go_of_what_a_killed_one_held(bare_container: Any) -> None:
    async def check() -> None:
        guest = await attach(bare_container, {})
        hold = [{"do": "button", "down": True}, {"do": "key", "key": "ctrl+shift", "hold": 60}]
        await guest.control.open("input.act", steps=hold)
        await _until(bare_container, "2 256")
        await asyncio.to_thread(bare_container.exec_run, ["pkill", "-9", "-f", "sandbox.guest control"])
        await guest.wait_lost()
        await guest.close()
        again: Guest = await attach(bare_container, {})
        try:
            await _until(bare_container, "0 0")
        finally:
            await again.close()

    asyncio.run(check())
