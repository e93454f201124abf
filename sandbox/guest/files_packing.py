"""Several files in one stream: for each a head, its content in pieces, and an end."""

from __future__ import annotations

import json
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from sandbox.guest.call import PeerError

HEAD, DATA, END = 1, 2, 3
LARGEST = 1 << 20

_FRAME = struct.Struct(">BI")

Packed = tuple[int, bytes]


def packed(kind: int, payload: bytes) -> bytes:
    """One piece: kind (u8), length (u32), payload of at most LARGEST bytes."""
    return _FRAME.pack(kind, len(payload)) + payload


def told(kind: int, **members: Any) -> bytes:
    """A head or an end, whose payload is a JSON object."""
    return packed(kind, json.dumps(members, separators=(",", ":")).encode("ascii"))


def members(payload: bytes) -> dict[str, Any]:
    """The object of a head or an end. Raises PeerError `garbage`."""
    try:
        found = json.loads(payload)
    except ValueError as error:
        raise PeerError("garbage", "a head that is not JSON") from error
    if not isinstance(found, dict):
        raise PeerError("garbage", "a head that is no object")
    return found


async def unpacked(receive: Callable[[], Awaitable[bytes]]) -> AsyncIterator[Packed]:
    """The pieces of a stream. Raises PeerError `garbage` for one that breaks off or is too large."""
    gathered = bytearray()
    while data := await receive():
        gathered += data
        start = 0
        while len(gathered) - start >= _FRAME.size:
            kind, size = _FRAME.unpack_from(gathered, start)
            if kind not in (HEAD, DATA, END) or size > LARGEST:
                raise PeerError("garbage", "a piece of no known kind or size")
            if len(gathered) - start < _FRAME.size + size:
                break
            start += _FRAME.size
            yield kind, bytes(gathered[start : start + size])
            start += size
        del gathered[:start]
    if gathered:
        raise PeerError("garbage", "the stream broke off")
