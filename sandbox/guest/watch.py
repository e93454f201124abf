"""Compares pictures of the screen: what really looks different, where, and how much of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from sandbox.guest.damage import DamageLog
from sandbox.guest.display import Display
from sandbox.guest.rects import Rect, changed
from sandbox.guest.settle import Area, Stillness


class Watch:
    """Tells a Stillness what looks different, wherever the server says that something was drawn. The owner of
    `damage` closes it."""

    def __init__(self, display: Display, damage: DamageLog) -> None:
        self._display = display
        self._damage = damage
        self._seen = self.begin()

    def begin(self) -> Any:
        """Forget what happened so far; the picture as it is now, an array (h, w) of 32-bit pixels."""
        self._damage.take()
        self._seen = self._display.pixels()
        return self._seen

    async def until(self, still: Stillness) -> None:
        """Return when `still` has no more patience."""
        while (wait := still.patience(time.monotonic())) > 0:
            await self.glance(still, wait)

    async def glance(self, still: Stillness, seconds: float) -> None:
        """Tell `still` of the next change, if one comes within `seconds`."""
        if not await self._damage.wait(seconds):
            return
        drawn = self._damage.take()
        now = self._display.pixels()
        found = [part for rect in drawn for part in self._differing(rect, now)]
        self._seen = now
        if found:
            still.saw(time.monotonic(), [(r.x, r.y, r.x + r.width, r.y + r.height) for r in found])

    def _differing(self, rect: Rect, now: Any) -> list[Rect]:
        cut = rect.within(self._display.width, self._display.height)
        return changed(self._seen, now, cut) if cut else []


def area(region: Sequence[int], size: tuple[int, int]) -> Area:
    """[x, y, width, height] as edges, cut to a screen of that size."""
    x, y, width, height = (int(number) for number in region)
    return max(0, x), max(0, y), min(size[0], x + width), min(size[1], y + height)


def differing(before: Any, after: Any, ignored: Sequence[Area]) -> Any:
    """Where two pictures differ, an array (h, w) of truth values, false in `ignored`."""
    differs = before != after
    for other in ignored:
        differs[other[1] : other[3], other[0] : other[2]] = False
    return differs


def share(differs: Any, within: Area) -> float:
    """The share of pixels of `within` that differ; 0.0 for an empty one."""
    part = differs[within[1] : within[3], within[0] : within[2]]
    return float(part.mean()) if part.size else 0.0


def box(differs: Any, without: Area) -> list[int] | None:
    """[x, y, width, height] around the pixels that differ outside of `without`."""
    found = differs.copy()
    found[without[1] : without[3], without[0] : without[2]] = False
    rows, columns = found.any(axis=1).nonzero()[0], found.any(axis=0).nonzero()[0]
    if not len(rows):
        return None
    left, top = int(columns[0]), int(rows[0])
    return [left, top, int(columns[-1]) + 1 - left, int(rows[-1]) + 1 - top]
