"""Actions under way that can be ended from outside, with the reason as an error in place of their result."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

from runtime.errors import OrionError

T = TypeVar("T")


class Interruptible:
    """Those that run now. Used from one loop."""

    def __init__(self) -> None:
        self._yielding: dict[asyncio.Future[Any], bool] = {}
        self._why: dict[asyncio.Future[Any], OrionError] = {}

    async def run(self, action: Awaitable[T], *, yields: bool) -> T:
        """The result of `action`, or the error it was ended with; cancelling the caller cancels it too."""
        task = asyncio.ensure_future(action)
        self._yielding[task] = yields
        try:
            return await task
        except asyncio.CancelledError:
            why, current = self._why.get(task), asyncio.current_task()
            if why is not None and not (current is not None and current.cancelling()):
                raise why from None
            raise
        finally:
            self._yielding.pop(task, None)
            self._why.pop(task, None)

    def end(self, why: OrionError, *, all_: bool = True) -> None:
        """End all of them with `why`, or only those that yield."""
        for task, yields in list(self._yielding.items()):
            if all_ or yields:
                self._why[task] = why
                task.cancel()
