"""Ends the process with SIGKILL at a chosen disk operation: before it, after it, or within a write."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from typing import Any, Literal

Moment = Literal["before", "after", "torn"]
OPERATIONS = (
    "write",
    "fsync",
    "replace",
    "rename",
    "link",
    "unlink",
    "mkdir",
    "truncate",
    "ftruncate",
    "open",
)


def die() -> None:
    """SIGKILL to the own process: no handler, no flush, no goodbye."""
    os.kill(os.getpid(), signal.SIGKILL)


class Sabotage:
    """Counts the disk operations of the whole process from `arm` on and kills it at operation `at`.

    For processes that exist to be killed: it replaces functions of the module os. In a moment "torn" a write
    leaves half of its bytes; other operations die before.
    """

    def __init__(self, at: int, moment: Moment) -> None:
        self._at = at
        self._moment = moment
        self._count = 0
        self._lock = threading.Lock()

    def arm(self) -> None:
        """From now on operations count."""
        for name in OPERATIONS:
            setattr(os, name, self._watched(name, getattr(os, name)))

    def _watched(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def operation(*arguments: Any, **named: Any) -> Any:
            with self._lock:
                self._count += 1
                last = self._count == self._at
            if not last:
                return original(*arguments, **named)
            if self._moment == "torn" and name == "write":
                descriptor, data = arguments
                original(descriptor, memoryview(data)[: max(1, len(data) // 2)])
            if self._moment == "after":
                original(*arguments, **named)
            die()
            return None

        return operation
