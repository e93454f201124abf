"""When each frame of a stream is heard, from the uneven times that a sound system reports."""

from __future__ import annotations

_TIME = 4.0
"""Seconds over which reports are averaged: they wander by some milliseconds, the device's clock does not."""

_JUMP = 0.03
"""Seconds of difference by which a stream is known to have stood still or leapt."""


class Timeline:
    """Maps frame numbers of a stream at `rate` to time.monotonic() and back.

    `tick` and `restart` are for the stream's callback; the others may be called in any thread, since what is
    known is one value that is replaced as a whole.
    """

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self._known: tuple[int, float] | None = None
        self._reports = 0

    def restart(self, frame: int, time: float) -> None:
        """The stream begins anew with `frame`, about at `time`; the next report is believed as it is."""
        self._known, self._reports = (frame, time), 0

    def tick(self, frame: int, time: float) -> None:
        """The sound system says that `frame` is heard at `time`."""
        if self._known is None or self._reports == 0:
            self._known, self._reports = (frame, time), 1
            return
        passed = (frame - self._known[0]) / self.rate
        difference = time - (self._known[1] + passed)
        if abs(difference) > _JUMP:
            self._known, self._reports = (frame, time), 1
            return
        self._reports += 1
        share = max(1 / self._reports, passed / _TIME)
        self._known = (frame, self._known[1] + passed + min(1.0, share) * difference)

    def time_of(self, frame: float) -> float | None:
        """When `frame` is heard; None before the first report."""
        known = self._known
        return None if known is None else known[1] + (frame - known[0]) / self.rate

    def frame_at(self, time: float) -> float | None:
        """Which frame is heard at `time`; None before the first report."""
        known = self._known
        return None if known is None else known[0] + (time - known[1]) * self.rate
