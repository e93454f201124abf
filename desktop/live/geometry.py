"""Where the sandbox's screen lies in the pane, and which of its pixels a point of the pane is."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, gcd

from PySide6.QtCore import QPointF, QRect

WASTE = 1.25
"""Up to this enlargement a whole factor is preferred: sharp, in a slightly wider frame."""
STEP = 32
"""A scaled picture's width is rounded down to a step of at most so many device pixels, for tiles that fit."""


@dataclass(frozen=True, slots=True)
class Fit:
    """`guest` is the screen's size in its own pixels; left, top, width, height are its place in the viewport
    in device pixels; `ratio` is device pixels per unit of the window. `tile` is the smallest part of the
    screen that scales to whole device pixels, (0, 0) where only the whole does."""

    guest: tuple[int, int]
    ratio: float
    left: int
    top: int
    width: int
    height: int
    tile: tuple[int, int]

    @property
    def exact(self) -> bool:
        """Whether each pixel of the screen is a whole number of device pixels."""
        return self.width % self.guest[0] == 0 and self.height % self.guest[1] == 0

    def to_guest(self, point: QPointF, *, clamp: bool = False) -> tuple[int, int] | None:
        """The screen's pixel under a point of the viewport; None outside, or with `clamp` the nearest."""
        x = floor((point.x() * self.ratio - self.left) * self.guest[0] / self.width)
        y = floor((point.y() * self.ratio - self.top) * self.guest[1] / self.height)
        inside = 0 <= x < self.guest[0] and 0 <= y < self.guest[1]
        if not inside and not clamp:
            return None
        return min(max(x, 0), self.guest[0] - 1), min(max(y, 0), self.guest[1] - 1)

    def to_view(self, x: float, y: float) -> QPointF:
        """The middle of the screen's pixel as a point of the viewport, in units of the window."""
        return QPointF(
            ((x + 0.5) * self.width / self.guest[0] + self.left) / self.ratio,
            ((y + 0.5) * self.height / self.guest[1] + self.top) / self.ratio,
        )

    def tiled(self, rect: QRect) -> tuple[QRect, QRect]:
        """The least part of the screen around `rect` that scales to whole device pixels, and where that part
        is in the scaled picture (both without the place of the picture)."""
        wide, high = self.tile if self.tile != (0, 0) else self.guest
        left, top = rect.left() // wide * wide, rect.top() // high * high
        right, bottom = -(-(rect.right() + 1) // wide) * wide, -(-(rect.bottom() + 1) // high) * high
        part = QRect(left, top, min(right, self.guest[0]) - left, min(bottom, self.guest[1]) - top)
        return part, QRect(
            part.left() * self.width // self.guest[0],
            part.top() * self.height // self.guest[1],
            part.width() * self.width // self.guest[0],
            part.height() * self.height // self.guest[1],
        )


def fit_into(guest: tuple[int, int], area: tuple[int, int], ratio: float) -> Fit:
    """The whole screen in a viewport of `area` units, centred."""
    room = (max(1, floor(area[0] * ratio)), max(1, floor(area[1] * ratio)))
    scale = min(room[0] / guest[0], room[1] / guest[1])
    if scale >= 1 and scale / floor(scale) <= WASTE:
        size, tile = (guest[0] * floor(scale), guest[1] * floor(scale)), (1, 1)
    else:
        size, tile = _scaled(guest, scale)
    return _placed(guest, ratio, room, size, tile, (0, 0))


def actual_size(
    guest: tuple[int, int], area: tuple[int, int], ratio: float, pan: tuple[int, int] = (0, 0)
) -> Fit:
    """The screen at 100 %: each of its pixels one unit, rounded to whole device pixels; `pan` in those."""
    factor = max(1, floor(ratio + 0.25))
    room = (max(1, floor(area[0] * ratio)), max(1, floor(area[1] * ratio)))
    return _placed(guest, ratio, room, (guest[0] * factor, guest[1] * factor), (1, 1), pan)


def _scaled(guest: tuple[int, int], scale: float) -> tuple[tuple[int, int], tuple[int, int]]:
    """A size close below `scale` in the screen's own proportions, and the tile that fits into it."""
    common = gcd(*guest)
    unit = (guest[0] // common, guest[1] // common)
    steps = floor(common * scale)
    coarse = max((s for s in (1, 2, 4, 8) if s * unit[0] <= STEP and common % s == 0), default=0)
    if coarse and steps >= coarse:
        steps = steps // coarse * coarse
        tiles = gcd(common, steps)
        return (unit[0] * steps, unit[1] * steps), (common // tiles, common // tiles)
    return (max(1, floor(guest[0] * scale)), max(1, floor(guest[1] * scale))), (0, 0)


def _placed(
    guest: tuple[int, int],
    ratio: float,
    room: tuple[int, int],
    size: tuple[int, int],
    tile: tuple[int, int],
    pan: tuple[int, int],
) -> Fit:
    left = (room[0] - size[0]) // 2 if size[0] <= room[0] else -pan[0]
    top = (room[1] - size[1]) // 2 if size[1] <= room[1] else -pan[1]
    return Fit(guest, ratio, left, top, size[0], size[1], tile)
