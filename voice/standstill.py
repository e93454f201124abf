"""How long a stream has given no sign of life, told apart from a program that did not get to run."""

from __future__ import annotations

import time

_LOOK = 0.25
"""Seconds at most that count between two looks."""


class Standstill:
    """A stream's callback gives signs, in its thread; one other thread looks, at least every quarter second.

    Where that thread comes to look late, this program was kept from running, and the callback with it: the
    sound waits in the system, and whoever took the stream for broken would lose it.
    """

    def __init__(self) -> None:
        self._still = 0.0
        self._looked = time.monotonic()

    def sign(self) -> None:
        """The stream goes on."""
        self._still = 0.0

    def look(self) -> float:
        """Seconds without a sign in which there could have been one."""
        now = time.monotonic()
        self._still += min(now - self._looked, _LOOK)
        self._looked = now
        return self._still
