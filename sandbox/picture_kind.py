"""What a picture is by its first bytes: names and words of the machine it comes from are not believed."""

from __future__ import annotations

from typing import Literal

WIDEST = 8_000
"""Most pixels of an edge; services refuse larger pictures, and with them all that is said after."""

_HEAD = 65_536
"""Bytes in which a picture has to say what it is."""


def picture_kind(data: bytes) -> str:
    """The media type of a PNG, JPEG, GIF or WebP file, "" for anything else and for edges that cannot be."""
    data = data[:_HEAD]
    if data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:16] == b"IHDR":
        return "image/png" if _fits(data[16:20], data[20:24], "big") else ""
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return "image/gif" if _fits(data[6:8], data[8:10], "little") else ""
    if data[:3] == b"\xff\xd8\xff":
        return "image/jpeg" if _fits(*_frame(data), "big") else ""
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else ""


def _fits(width: bytes, height: bytes, order: Literal["big", "little"]) -> bool:
    return all(0 < int.from_bytes(edge, order) <= WIDEST for edge in (width, height))


def _frame(data: bytes) -> tuple[bytes, bytes]:
    """Width and height as a JPEG's frame header has them; empty where there is none."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return data[at + 7 : at + 9], data[at + 5 : at + 7]
        at += 1 if marker == 0xFF else 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return b"", b""
