"""Counts what changes, so that doors can wait for the next change without missing one."""

from __future__ import annotations

import asyncio


class News:
    """Used from one loop. `step` grows with each change; whoever knows a step waits for a later one."""

    def __init__(self) -> None:
        self.step = 0
        self._next = asyncio.Event()

    def tell(self) -> None:
        """Something has changed."""
        self.step += 1
        self._next.set()
        self._next = asyncio.Event()

    async def after(self, seen: int) -> int:
        """The present step once it is beyond `seen`; at once where it is already."""
        while self.step <= seen:
            await self._next.wait()
        return self.step
