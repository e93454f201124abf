"""Reads what accessibility leaves unsaid on a screen, each spot once for as long as it looks the same."""

from __future__ import annotations

import asyncio
import hashlib
import io
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from sandbox.blind import spots
from sandbox.eyes import Line
from sandbox.guest.rects import Rect

KNOWN = 2_000
"""Spots whose text is remembered; a screen has one or two hundred."""

GAP = 48
"""Pixels between spots on a sheet, so that a reader does not take two for one line."""

SHEET = (1_280, 1_280)
"""Width and height of a sheet of spots; a wider spot has a wider one."""

SHORT, SURE = 2, 0.9
"""What is read with so few characters is taken only with that certainty: an icon may look like a letter."""

LARGEST = 4_096 * 2_304
"""Pixels of a screen that is read. How large it is only the guest says, and looking takes many times its
memory."""

Placed = tuple[Rect, tuple[int, int]]
"""A spot of the screen and where on the sheet it lies."""


class Reader(Protocol):
    """What reads pictures (sandbox/eyes.py)."""

    async def read(self, picture: bytes) -> list[Line]: ...


class Reading:
    """The text on one screen. Used from one event loop; the reader has its own owner."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._known: OrderedDict[bytes, tuple[Line, ...]] = OrderedDict()
        self._last: tuple[bytes, list[Rect], list[Line]] = (b"", [], [])

    async def lines(self, picture: bytes, told: Sequence[Rect]) -> list[Line]:
        """The lines in a PNG of the screen outside the boxes `told`, from top to bottom. Raises as the
        reader; what was read until then is remembered."""
        if (picture, list(told)) == self._last[:2]:
            return list(self._last[2])
        pixels, found = await asyncio.to_thread(_seen, picture, told)
        unread = [(spot, key) for spot, key in found if key not in self._known]
        keys = dict(unread)
        for sheet in sheets([spot for spot, _key in unread]):
            read = await self._reader.read(await asyncio.to_thread(_drawn, pixels, sheet))
            for spot, lines in _shared_out(read, sheet).items():
                self._known[keys[spot]] = lines
        all_ = [_moved(line, spot.x, spot.y) for spot, key in found for line in self._told(key)]
        while len(self._known) > KNOWN:
            self._known.popitem(last=False)
        all_.sort(key=lambda line: (line.y, line.x))
        self._last = (picture, list(told), all_)
        return list(all_)

    def _told(self, key: bytes) -> tuple[Line, ...]:
        self._known.move_to_end(key)
        return self._known[key]


def sheets(spots_: Sequence[Rect]) -> list[list[Placed]]:
    """Lay the spots out beside and below each other, the tallest first, on as few sheets as that needs."""
    found: list[list[Placed]] = []
    x = y = row = 0
    for spot in sorted(spots_, key=lambda spot: -spot.height):
        if x and x + spot.width > SHEET[0]:
            x, y = 0, y + row + GAP // 2
            row = 0
        if not found or (y and y + spot.height > SHEET[1]):
            found.append([])
            x = y = row = 0
        found[-1].append((spot, (x, y)))
        x, row = x + spot.width + GAP, max(row, spot.height)
    return found


def _seen(picture: bytes, told: Sequence[Rect]) -> tuple[Any, list[tuple[Rect, bytes]]]:
    """The pixels of a picture, and its spots with what they look like; none of one that is too large."""
    import numpy
    from PIL import Image

    with Image.open(io.BytesIO(picture), formats=["PNG"]) as image:
        if image.width * image.height > LARGEST:
            return None, []
        pixels = numpy.asarray(image.convert("RGB"))
    return pixels, [(spot, _look(pixels, spot)) for spot in spots(pixels, told)]


def _cut(pixels: Any, spot: Rect) -> Any:
    return pixels[spot.y : spot.y + spot.height, spot.x : spot.x + spot.width]


def _look(pixels: Any, spot: Rect) -> bytes:
    size = f"{spot.width}x{spot.height}:".encode()
    return hashlib.blake2b(size + _cut(pixels, spot).tobytes(), digest_size=16).digest()


def _drawn(pixels: Any, sheet: Sequence[Placed]) -> bytes:
    """A sheet as PNG, every spot on ground of its own colour."""
    import numpy
    from PIL import Image

    width = max(x + spot.width for spot, (x, _y) in sheet)
    height = max(y + spot.height for spot, (_x, y) in sheet)
    paper = numpy.full((height, width, 3), pixels[sheet[0][0].y, sheet[0][0].x], numpy.uint8)
    for spot, (x, y) in sheet:
        paper[y : y + spot.height, x : x + spot.width] = _cut(pixels, spot)
    packed = io.BytesIO()
    Image.fromarray(paper).save(packed, "png", compress_level=1)
    return packed.getvalue()


def _shared_out(lines: Sequence[Line], sheet: Sequence[Placed]) -> dict[Rect, tuple[Line, ...]]:
    """The lines of a sheet by the spot they were read in, placed within it."""
    found: dict[Rect, list[Line]] = {spot: [] for spot, _place in sheet}
    for line in lines:
        if len(line.text) <= SHORT and line.score < SURE:
            continue
        across, down = line.x + line.width // 2, line.y + line.height // 2
        for spot, (x, y) in sheet:
            if x <= across < x + spot.width and y <= down < y + spot.height:
                found[spot].append(_moved(line, -x, -y))
                break
    return {spot: tuple(read) for spot, read in found.items()}


def _moved(line: Line, across: int, down: int) -> Line:
    return replace(line, x=line.x + across, y=line.y + down)
