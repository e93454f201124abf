"""How a frame of the screen crosses the stream: a head, the parts that changed, and their pixels.

Head: bytes that follow, number, time, pointer, parts. A part: place, size, bytes, packing; then all pixels
(32 bits, blue first, rows without gaps) in the order of the parts.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from sandbox.guest.rects import Rect
from sandbox.guest.wire import WireError

HEAD = struct.Struct(">IIdHHHH")
PART = struct.Struct(">HHHHIB3x")

RAW, LZ4 = 0, 1
SMALL = 256
"""Bytes below which packing costs more than it spares."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A frame as it came: pixels of each part unpacked."""

    number: int
    time: float
    pointer: tuple[int, int]
    rects: tuple[Rect, ...]
    pixels: tuple[bytes, ...]


def encode(number: int, time: float, pointer: tuple[int, int], parts: Sequence[tuple[Rect, bytes]]) -> bytes:
    """The frame's bytes; pixels of a part are `4 * width * height` bytes."""
    import lz4.block

    table, blocks = [], []
    for rect, pixels in parts:
        packing, block = RAW, pixels
        if len(pixels) >= SMALL:
            packed = lz4.block.compress(pixels, mode="fast", acceleration=2, store_size=False)
            if len(packed) < len(pixels):
                packing, block = LZ4, packed
        table.append(PART.pack(rect.x, rect.y, rect.width, rect.height, len(block), packing))
        blocks.append(block)
    size = HEAD.size - 4 + sum(map(len, table)) + sum(map(len, blocks))
    head = HEAD.pack(size, number, time, *pointer, len(table), 0)
    return b"".join((head, *table, *blocks))


class Frames:
    """Puts frames together from bytes that come in any pieces, for a screen of one size.

    WireError for what is no frame of that screen: the guest is not trusted with the host's memory.
    """

    def __init__(self, width: int, height: int) -> None:
        self._width, self._height = width, height
        self._most = 2 * 4 * width * height + 65_536
        self._gathered = bytearray()

    def feed(self, data: bytes) -> list[Sent]:
        """Take bytes; the frames that are complete with them."""
        self._gathered += data
        found = []
        while len(self._gathered) >= 4:
            size = int.from_bytes(self._gathered[:4], "big") + 4
            if not HEAD.size <= size <= self._most:
                raise WireError(f"a frame of {size} bytes")
            if len(self._gathered) < size:
                break
            found.append(self._frame(bytes(self._gathered[:size])))
            del self._gathered[:size]
        return found

    def _frame(self, data: bytes) -> Sent:
        import lz4.block

        _, number, time, x, y, count, _ = HEAD.unpack_from(data)
        start = HEAD.size + count * PART.size
        if start > len(data):
            raise WireError("a frame shorter than its list of parts")
        rects, pixels = [], []
        room = 2 * self._width * self._height
        for left, top, width, height, size, packing in PART.iter_unpack(data[HEAD.size : start]):
            rect = Rect(left, top, width, height)
            if rect.within(self._width, self._height) != rect or start + size > len(data):
                raise WireError(f"a part outside the screen or the frame: {rect}")
            room -= rect.area
            if room < 0:  # packed, a frame could be a thousand times as large as what came
                raise WireError("parts that are more than twice the screen")
            block = data[start : start + size]
            start += size
            if packing == LZ4:
                try:
                    block = lz4.block.decompress(block, uncompressed_size=4 * rect.area)
                except lz4.block.LZ4BlockError as error:
                    raise WireError("a part that cannot be unpacked") from error
            if len(block) != 4 * rect.area:
                raise WireError("a part with too few pixels")
            rects.append(rect)
            pixels.append(block)
        return Sent(number, time, (x, y), tuple(rects), tuple(pixels))
