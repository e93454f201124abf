"""The frames of one stream between host and guest: a header of twelve bytes and at most 64 KB."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

PROTOCOL = 1
"""Version of everything said over the streams; host and guest of different versions part at once."""

LONGEST = 65_536
"""Most bytes of one frame's payload."""

LARGEST = 8_388_608
"""Most bytes of one JSON message (arguments or result), which may take several frames."""

HEADER = struct.Struct(">BBHII")
"""Kind, flags, zero, number of the call (0: the stream itself), bytes of payload that follow."""

MORE, LAST = 1, 2
"""Flags: the message goes on in the call's next frame; no bytes follow from this end of the call."""


class Kind(IntEnum):
    """What a frame says. JSON: HELLO, OPEN, END, FAIL. Bytes: DATA. Four bytes: CREDIT. Empty: the rest."""

    HELLO = 1
    PING = 2
    PONG = 3
    OPEN = 4
    DATA = 5
    CREDIT = 6
    END = 7
    FAIL = 8
    CANCEL = 9


_KINDS = {int(kind): kind for kind in Kind}


class WireError(Exception):
    """What came is no frame of this protocol; the stream cannot be used any more."""


class Reader(Protocol):
    """Where frames come from; an `asyncio.StreamReader` is one."""

    async def readexactly(self, n: int, /) -> bytes: ...


class Writer(Protocol):
    """Where frames go. `write` never waits; `drain` waits while much is unsent and raises OSError once the
    stream is broken; `abort` drops what is unsent and releases whoever waits in `drain`."""

    def write(self, data: bytes, /) -> None: ...
    async def drain(self) -> None: ...
    def abort(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Packet:
    """One frame as it came."""

    kind: Kind
    flags: int
    call: int
    payload: bytes


def pack(kind: Kind, call: int = 0, payload: bytes | memoryview = b"", flags: int = 0) -> bytes:
    """The bytes of one frame; `payload` is at most LONGEST."""
    return b"".join((HEADER.pack(kind, flags, 0, call, len(payload)), payload))


def pieces(kind: Kind, call: int, payload: bytes, flags: int = 0) -> Iterator[bytes]:
    """The frames of one message of any length: `MORE` on all but the last, `flags` on the last."""
    view = memoryview(payload)
    while len(view) > LONGEST:
        yield pack(kind, call, view[:LONGEST], MORE)
        view = view[LONGEST:]
    yield pack(kind, call, view, flags)


async def read(reader: Reader) -> Packet | None:
    """The next frame, or None where the stream ended between two; WireError for anything else."""
    try:
        header = await reader.readexactly(HEADER.size)
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise WireError("the stream ended inside a header") from error
        return None
    number, flags, zero, call, size = HEADER.unpack(header)
    kind = _KINDS.get(number)
    if kind is None or zero or size > LONGEST:
        raise WireError(f"no frame begins with {header.hex()}")
    try:
        payload = await reader.readexactly(size) if size else b""
    except asyncio.IncompleteReadError as error:
        raise WireError("the stream ended inside a frame") from error
    return Packet(kind, flags, call, payload)


def encode(message: dict[str, Any]) -> bytes:
    """A JSON message as ASCII; TypeError or ValueError where `message` is none."""
    return json.dumps(message, separators=(",", ":")).encode("ascii")


def decode(payload: bytes) -> dict[str, Any]:
    """The JSON object in `payload`; WireError for anything else."""
    try:
        message = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise WireError("a message is no JSON") from error
    if not isinstance(message, dict):
        raise WireError("a message is no object")
    return message
