"""Finds the spots of a screen that show something of which accessibility says nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sandbox.guest.rects import Rect

CONTRAST = 20
"""Difference between neighbouring pixels, of 255, from which on there is an edge: pale text has more."""

TALLEST = 72
"""Pixels of an upright edge from which on it is a frame and no letter."""

APART, BELOW = 24, 3
"""Empty pixels side by side, and one below the other, that part two spots: more than between words, and less
than between lines."""

LEAST = (4, 5)
"""Width and height of the smallest letter."""

MARGIN = 4
"""Pixels around a spot that belong to it: a reader needs some ground around the letters."""

DEEPEST = 8
"""How often a spot is parted into smaller ones."""


def spots(pixels: Any, told: Iterable[Rect]) -> list[Rect]:
    """Boxes around what is drawn outside the boxes `told`, about one for a line of text, from top to bottom.
    `pixels`: the screen as an array of height × width × 3 bytes."""
    import numpy

    shades = pixels.astype(numpy.int16)
    height, width = pixels.shape[:2]
    edges = numpy.zeros((height, width), bool)
    edges[:, 1:] = numpy.abs(shades[:, 1:] - shades[:, :-1]).max(axis=2) > CONTRAST
    for box in told:
        if (seen := box.within(width, height)) is not None:
            edges[seen.y : seen.y + seen.height, seen.x : seen.x + seen.width] = False
    edges &= ~_frames(edges)
    found = [box for box in _parted(edges, Rect(0, 0, width, height), DEEPEST) if _is_letter(box)]
    return [_wider(box, width, height) for box in sorted(found, key=lambda box: (box.y, box.x))]


def _frames(edges: Any) -> Any:
    """Where an edge runs upright for TALLEST pixels or more."""
    import numpy

    height, width = edges.shape
    if height < TALLEST:
        return numpy.zeros_like(edges)
    sums = numpy.zeros((height + 1, width), numpy.int32)
    numpy.cumsum(edges, axis=0, out=sums[1:])
    whole = (sums[TALLEST:] - sums[:-TALLEST]) == TALLEST  # [y]: from y on the edge runs that far
    runs = numpy.zeros((height + 1, width), numpy.int32)
    runs[: whole.shape[0]] += whole
    runs[TALLEST : TALLEST + whole.shape[0]] -= whole
    return numpy.cumsum(runs[:height], axis=0) > 0


def _parted(edges: Any, box: Rect, depth: int) -> list[Rect]:
    """Cut `box` along its empty rows, then along its empty columns, and so on."""
    part = edges[box.y : box.y + box.height, box.x : box.x + box.width]
    rows = _runs(part.any(axis=1), BELOW)
    found: list[Rect] = []
    for top, bottom in rows:
        for left, right in _runs(part[top:bottom].any(axis=0), APART):
            inner = Rect(box.x + left, box.y + top, right - left, bottom - top)
            if depth == 0 or inner == box:
                found.append(inner)
            else:
                found += _parted(edges, inner, depth - 1)
    return found


def _runs(filled: Any, gap: int) -> list[tuple[int, int]]:
    """The stretches of `filled`, those with less than `gap` between them as one."""
    import numpy

    places = numpy.flatnonzero(filled)
    if not places.size:
        return []
    cuts = numpy.flatnonzero(numpy.diff(places) > gap)
    begins = [int(places[0]), *(int(places[cut + 1]) for cut in cuts)]
    ends = [*(int(places[cut]) + 1 for cut in cuts), int(places[-1]) + 1]
    return list(zip(begins, ends, strict=True))


def _is_letter(box: Rect) -> bool:
    return box.width >= LEAST[0] and box.height >= LEAST[1]


def _wider(box: Rect, width: int, height: int) -> Rect:
    """The box with a margin, within the screen."""
    left, top = max(0, box.x - MARGIN), max(0, box.y - MARGIN)
    right, bottom = min(width, box.x + box.width + MARGIN), min(height, box.y + box.height + MARGIN)
    return Rect(left, top, right - left, bottom - top)
