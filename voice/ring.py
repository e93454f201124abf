"""A fixed buffer between a sound callback and a thread, in which neither waits for the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voice.sound import Samples


class Ring:
    """Frames of float32 with `channels` values each, at most `capacity` of them.

    One thread writes and one reads. Each changes only its own counter, after the frames are in place.
    """

    def __init__(self, capacity: int, channels: int) -> None:
        import numpy as np

        self._frames: Any = np.zeros((capacity, channels), np.float32)
        self._capacity = capacity
        self._written = 0
        self._read = 0

    def write(self, frames: Samples) -> bool:
        """Take a copy of `frames`, shape (n, channels); False, and none is taken, where there is no room."""
        count, begin = len(frames), self._written % self._capacity
        if self._written + count - self._read > self._capacity:
            return False
        first = min(count, self._capacity - begin)
        self._frames[begin : begin + first] = frames[:first]
        self._frames[: count - first] = frames[first:]
        self._written += count
        return True

    def read(self) -> tuple[int, Samples]:
        """How many frames were read before, and a copy of all that came since, of shape (n, channels)."""
        import numpy as np

        before, after = self._read, self._written
        begin, count = before % self._capacity, after - before
        first = min(count, self._capacity - begin)
        taken: Samples = np.concatenate([self._frames[begin : begin + first], self._frames[: count - first]])
        self._read = after
        return before, taken

    @property
    def written(self) -> int:
        """How many frames were ever taken."""
        return self._written
