"""Rectangles of the screen: joined, cut to it, and found as the parts where two pictures differ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

TILE = 32
"""Edge of the squares that are compared, in pixels."""

MOST = 48
"""Rectangles of one frame at most; a picture that differs in more places is sent in fewer, larger parts."""


@dataclass(frozen=True, slots=True)
class Rect:
    """A part of the screen in pixels; `x` and `y` are its left upper corner. None is empty."""

    x: int
    y: int
    width: int
    height: int

    @property
    def area(self) -> int:
        """Pixels inside."""
        return self.width * self.height

    def within(self, width: int, height: int) -> Rect | None:
        """What lies on a screen of that size, or None where nothing does."""
        left, top = max(0, self.x), max(0, self.y)
        right, bottom = min(width, self.x + self.width), min(height, self.y + self.height)
        return Rect(left, top, right - left, bottom - top) if right > left and bottom > top else None


def bounds(rects: Iterable[Rect]) -> Rect:
    """The smallest rectangle around at least one."""
    found = list(rects)
    left, top = min(rect.x for rect in found), min(rect.y for rect in found)
    right = max(rect.x + rect.width for rect in found)
    bottom = max(rect.y + rect.height for rect in found)
    return Rect(left, top, right - left, bottom - top)


def joined(rects: Iterable[Rect]) -> list[Rect]:
    """Rectangles that cover all of `rects` and do not overlap one another: those that do become one."""
    found: list[Rect] = []
    for rect in rects:
        grown = rect
        while touching := [other for other in found if _overlap(other, grown)]:
            found = [other for other in found if other not in touching]
            grown = bounds([grown, *touching])
        found.append(grown)
    return found


def _overlap(one: Rect, two: Rect) -> bool:
    return (
        one.x < two.x + two.width
        and two.x < one.x + one.width
        and one.y < two.y + two.height
        and two.y < one.y + one.height
    )


def changed(before: Any, now: Any, within: Rect) -> list[Rect]:
    """The parts of `within` where two pictures (arrays h×w of 32-bit pixels) differ, to the tile."""
    import numpy

    left, top = within.x - within.x % TILE, within.y - within.y % TILE
    right, bottom = within.x + within.width, within.y + within.height
    differs = before[top:bottom, left:right] != now[top:bottom, left:right]
    rows = numpy.logical_or.reduceat(differs, range(0, differs.shape[0], TILE), axis=0)
    tiles = numpy.logical_or.reduceat(rows, range(0, rows.shape[1], TILE), axis=1)
    found = runs(tiles)
    if len(found) > MOST:
        found = [bounds(found)]
    at = [Rect(left + r.x * TILE, top + r.y * TILE, r.width * TILE, r.height * TILE) for r in found]
    return [Rect(r.x, r.y, min(r.width, right - r.x), min(r.height, bottom - r.y)) for r in at]


def runs(tiles: Any) -> list[Rect]:
    """The true cells of a grid as rectangles: runs of each row, and equal runs of rows below one another."""
    open_runs: dict[tuple[int, int], Rect] = {}
    done: list[Rect] = []
    for y, row in enumerate(tiles):
        still: dict[tuple[int, int], Rect] = {}
        for x, width in _spans(row.tolist()):
            above = open_runs.pop((x, width), None)
            still[x, width] = Rect(x, above.y, width, above.height + 1) if above else Rect(x, y, width, 1)
        done += open_runs.values()
        open_runs = still
    return done + list(open_runs.values())


def _spans(row: list[bool]) -> Iterable[tuple[int, int]]:
    start = -1
    for x, cell in enumerate([*row, False]):
        if cell and start < 0:
            start = x
        elif not cell and start >= 0:
            yield start, x - start
            start = -1
