"""When each frame of a stream is heard, from the uneven times that a sound system reports."""

from __future__ import annotations

_SMOOTH = 0.05
"""How much of a difference is believed at once: reports jitter by milliseconds."""

_JUMP = 0.03
"""Seconds of difference beyond which the stream has really stood still or leapt."""


class Timeline:
    """Maps frame numbers of a stream at `rate` to time.monotonic() and back.

    `tick` is for the stream's callback; the others may be called in any thread, since the newest report
    is one value that is replaced as a whole.
    """

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self._known: tuple[int, float] | None = None

    def tick(self, frame: int, time: float) -> float:
        """Frame number `frame` is said to be heard at `time`; when that is by all reports so far."""
        if self._known is None:
            self._known = (frame, time)
            return time
        expected = self._known[1] + (frame - self._known[0]) / self.rate
        difference = time - expected
        believed = time if abs(difference) > _JUMP else expected + _SMOOTH * difference
        self._known = (frame, believed)
        return believed

    def time_of(self, frame: float) -> float | None:
        """When `frame` is heard; None before the first report."""
        known = self._known
        return None if known is None else known[1] + (frame - known[0]) / self.rate

    def frame_at(self, time: float) -> float | None:
        """Which frame is heard at `time`; None before the first report."""
        known = self._known
        return None if known is None else known[0] + (time - known[1]) * self.rate
