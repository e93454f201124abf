"""The wire to a worker child: each frame is a length in four bytes, big-endian, then one JSON object."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import Callable
from typing import Any

Frame = dict[str, Any]

LIMIT = 256 * 1024 * 1024
"""No frame is longer; a longer announcement means that the stream is not ours."""

_LENGTH = struct.Struct(">I")


def encode(frame: Frame) -> bytes:
    """The bytes of `frame`; ASCII escapes keep lone surrogates whole."""
    body = json.dumps(frame, separators=(",", ":")).encode("ascii")
    return _LENGTH.pack(len(body)) + body


async def read(stream: asyncio.StreamReader) -> Frame | None:
    """The next frame, or None at the end of the stream; ValueError if the bytes are no frame."""
    try:
        length = _checked(await stream.readexactly(_LENGTH.size))
        return _parsed(await stream.readexactly(length))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


def read_blocking(take: Callable[[int], bytes]) -> Frame | None:
    """The next frame from `take(count)`, which returns fewer bytes at the end; None there."""
    head = take(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    length = _checked(head)
    body = take(length)
    return _parsed(body) if len(body) == length else None


def _checked(head: bytes) -> int:
    (length,) = _LENGTH.unpack(head)
    if length > LIMIT:
        raise ValueError(f"a frame of {length} bytes is not ours")
    return int(length)


def _parsed(body: bytes) -> Frame:
    frame = json.loads(body)
    if not isinstance(frame, dict):
        raise ValueError("a frame is a JSON object")
    return frame
