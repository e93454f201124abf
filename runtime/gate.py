"""Where a session waits while it is paused: before each model call and before each call of a tool."""

from __future__ import annotations

import asyncio


class Gate:
    """Open until `shut`. While it is shut, `step` lets the model go on until one call of a tool was let
    through. Used from one loop."""

    def __init__(self) -> None:
        self._moved = asyncio.Event()
        self._moved.set()
        self._shut = False
        self._steps = 0

    @property
    def shut(self) -> bool:
        """Whether the session is paused, a step under way included."""
        return self._shut

    @property
    def stepping(self) -> bool:
        """Whether one more call may pass although it is shut."""
        return self._shut and self._steps > 0

    @property
    def waits(self) -> bool:
        """Whether one that passes now would wait."""
        return not self._moved.is_set()

    def close(self) -> bool:
        """Let nobody through; false where nobody was let through already."""
        if self._shut and not self._steps:
            return False
        self._shut, self._steps = True, 0
        self._moved.clear()
        return True

    def open(self) -> bool:
        """Let everybody through; false where that was so already."""
        if not self._shut:
            return False
        self._shut, self._steps = False, 0
        self._moved.set()
        return True

    def step(self) -> None:
        """Let one more call through; nothing while it is open."""
        if self._shut:
            self._steps = 1
            self._moved.set()

    async def passing(self, *, action: bool = False) -> None:
        """Wait until one may go on; an `action` uses up the step."""
        while self._shut and not self._steps:
            await self._moved.wait()
        if self._shut and action:
            self._steps = 0
            self._moved.clear()
