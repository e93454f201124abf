"""Decides when the picture is still again, without being held up by what blinks and spins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

Area = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels; right and bottom are outside."""

FIRST = 0.3
"""Seconds in which the first sign of an effect is waited for."""
NEAR = 12
"""Pixels between two changes that belong to the same thing."""
SMALL = 0.05
"""Changes next to one another are one thing up to this share of the screen."""
TIMES, SPAN, WIDE_SPAN = 5, 0.35, 1.0
"""An area that changed so often, over so many seconds, does so by itself; one as large as the screen has to
do it for WIDE_SPAN seconds more."""
MEMORY = 10.0
"""Seconds for which an area is known to move by itself after it was seen to."""


@dataclass(slots=True)
class _Spot:
    area: Area
    first: float
    last: float
    times: int = 1
    restless: bool = False


@dataclass
class Stillness:
    """Fed with damage by `saw`, it tells by `patience` how long to wait on. Times are seconds of one clock.

    The picture is still when nothing has changed for `quiet` seconds; where nothing has changed at all since
    `start`, `first` seconds are given to a program that is slow to begin. `restless` are areas known before
    to move by themselves; changes inside them do not count.
    """

    start: float
    size: tuple[int, int]
    quiet: float = 0.06
    longest: float = 3.0
    first: float = FIRST
    restless: Sequence[Area] = ()
    _spots: list[_Spot] = field(default_factory=list)

    def saw(self, now: float, areas: Iterable[Area]) -> None:
        """The areas that changed at `now`."""
        limit = SMALL * self.size[0] * self.size[1]
        for area in areas:
            if any(inside(area, still) for still in self.restless):
                continue
            spot = next((spot for spot in self._spots if _belongs(area, spot.area, limit)), None)
            if spot is None:
                self._spots.append(_Spot(area, now, now))
                continue
            spot.area = union(area, spot.area)
            spot.times += now > spot.last
            spot.last = now
            share = _size(spot.area) / (self.size[0] * self.size[1])
            spot.restless = spot.times >= TIMES and spot.last - spot.first >= SPAN + share * WIDE_SPAN

    def patience(self, now: float) -> float:
        """Seconds to wait on, from `now`; 0.0 when it is still or has lasted too long."""
        first = self.quiet if self._spots else max(self.quiet, self.first)
        end = max(self._last + self.quiet, self.start + first)
        return max(0.0, min(end, self.start + self.longest) - now)

    @property
    def settled(self) -> bool:
        """Whether it ended because of stillness; to be asked when `patience` is 0.0."""
        return self._last + self.quiet <= self.start + self.longest

    @property
    def _last(self) -> float:
        return max((spot.last for spot in self._spots if not spot.restless), default=0.0)

    @property
    def moving(self) -> list[Area]:
        """Areas found to move by themselves."""
        return [spot.area for spot in self._spots if spot.restless]

    def touched(self, region: Area) -> bool:
        """Whether something changed in `region`, though it may look as before again."""
        return any(_meets(spot.area, region) for spot in self._spots if not spot.restless)


def inside(area: Area, other: Area) -> bool:
    """Whether `area` lies in `other`, give or take the edges."""
    return (
        area[0] >= other[0] - NEAR
        and area[1] >= other[1] - NEAR
        and area[2] <= other[2] + NEAR
        and area[3] <= other[3] + NEAR
    )


def union(area: Area, other: Area) -> Area:
    """The smallest area around both."""
    left, top = min(area[0], other[0]), min(area[1], other[1])
    return left, top, max(area[2], other[2]), max(area[3], other[3])


def _meets(area: Area, other: Area, gap: int = 0) -> bool:
    return (
        area[0] < other[2] + gap
        and other[0] < area[2] + gap
        and area[1] < other[3] + gap
        and other[1] < area[3] + gap
    )


def _size(area: Area) -> int:
    return (area[2] - area[0]) * (area[3] - area[1])


def _belongs(area: Area, other: Area, limit: float) -> bool:
    """Whether both are one thing: small together, or much of the same place."""
    if not _meets(area, other, NEAR):
        return False
    together = _size(union(area, other))
    return together <= limit or 2 * min(_size(area), _size(other)) >= together
