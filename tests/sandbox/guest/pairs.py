"""Two peers joined by a pair of sockets, and a stream into which a test writes any bytes."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from sandbox.guest.peer import Operation, Peer


class Sink:
    """A `Writer` over asyncio's own."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    def write(self, data: bytes, /) -> None:
        if not self._writer.is_closing():
            self._writer.write(data)

    async def drain(self) -> None:
        await self._writer.drain()

    def abort(self) -> None:
        self._writer.transport.abort()


@asynccontextmanager
async def pair(
    host: Mapping[str, Operation] | None = None,
    guest: Mapping[str, Operation] | None = None,
    *,
    patience: float = 10.0,
) -> AsyncIterator[tuple[Peer, Peer]]:
    """The host's end and the guest's end of one stream, both running, with the operations each serves."""
    left, right = socket.socketpair()
    one = Peer(*await streams(left), host or {}, leads=True, facts={"end": "host"}, patience=patience)
    two = Peer(*await streams(right), guest or {}, facts={"end": "guest"}, patience=patience)
    running = [asyncio.create_task(peer.run()) for peer in (one, two)]
    try:
        await one.ready()
        await two.ready()
        yield one, two
    finally:
        one.close()
        await asyncio.gather(*running)


async def streams(end: socket.socket) -> tuple[asyncio.StreamReader, Sink]:
    """Reader and writer of one end of a pair of sockets."""
    reader, writer = await asyncio.open_connection(sock=end)
    return reader, Sink(writer)


@dataclass
class Kept:
    """A `Writer` that keeps what is written; `stuck` never lets `drain` return before `abort`."""

    stuck: bool = False
    written: bytearray = field(default_factory=bytearray)
    more: asyncio.Event = field(default_factory=asyncio.Event)
    aborted: asyncio.Event = field(default_factory=asyncio.Event)

    async def has(self, data: bytes) -> None:
        """Wait until `data` was written."""
        while data not in self.written:
            self.more.clear()
            await self.more.wait()

    def write(self, data: bytes, /) -> None:
        self.written += data
        self.more.set()

    async def drain(self) -> None:
        if self.stuck:
            await self.aborted.wait()
            raise ConnectionResetError

    def abort(self) -> None:
        self.aborted.set()
