"""The header of the file in which Xvfb keeps its screen (`-fbdir`): X11's window dump, `XWDFile.h`."""

from __future__ import annotations

import struct
from dataclasses import dataclass

HEADER = struct.Struct(">25I")
"""header_size, file_version, pixmap_format, pixmap_depth, pixmap_width, pixmap_height, xoffset, byte_order,
bitmap_unit, bitmap_bit_order, bitmap_pad, bits_per_pixel, bytes_per_line, visual_class, red_mask, green_mask,
blue_mask, bits_per_rgb, colormap_entries, ncolors, window_width, window_height, window_x, window_y, and the
width of the window's border."""

VERSION, Z_PIXMAP, COLOR = 7, 2, 12


@dataclass(frozen=True, slots=True)
class Layout:
    """Where pixels lie: `height` rows of `stride` bytes from `offset` on, four bytes a pixel, blue first."""

    width: int
    height: int
    stride: int
    offset: int

    @property
    def size(self) -> int:
        """Bytes of the whole file."""
        return self.offset + self.stride * self.height


def layout(header: bytes) -> Layout:
    """Read the first bytes of the file; ValueError where it is no picture of 32-bit BGRX pixels."""
    if len(header) < HEADER.size:
        raise ValueError("a window dump shorter than its header")
    fields = HEADER.unpack_from(header)
    size, version, form, depth, width, height = fields[:6]
    order, bits, stride, colors = fields[7], fields[11], fields[12], fields[19]
    if version != VERSION or form != Z_PIXMAP or size < HEADER.size:
        raise ValueError(f"no window dump of version {VERSION}")
    if depth not in (24, 32) or bits != 32 or order != 0 or fields[14:17] != (0xFF0000, 0xFF00, 0xFF):
        raise ValueError(f"pixels of {bits} bits, depth {depth}, order {order}")
    if not width or not height or stride < 4 * width or stride % 4:
        raise ValueError(f"rows of {stride} bytes for {width} pixels")
    return Layout(width, height, stride, size + COLOR * colors)
