"""What the areas of the guest share: the screen, the two streams to the host, and the tasks that run."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandbox.guest.display import Display
    from sandbox.guest.peer import Peer


class GuestDesk:
    """One guest. `display` is None in a container without a screen; `control` is there before any area is
    asked, `bulk` from when the host's second stream has come. `tasks` are cancelled at the end."""

    def __init__(self) -> None:
        self.display: Display | None = None
        self.control: Peer | None = None
        self.bulk: Peer | None = None
        self.tasks: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run `work` until it ends or the guest does."""
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task
