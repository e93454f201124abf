"""A program's way to the proxy and out of it, with a door and a host of the test's own at its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from sandbox.egress import EgressProxy
from sandbox.guest.desk import GuestDesk
from sandbox.guest.peer import PeerError
from sandbox.guest.relay import Relay
from tests.sandbox.guest.pairs import pair


@dataclass
class Door:
    """Allows the hosts in `allowed`, names those in `near`, and keeps what it is told."""

    allowed: set[str] = field(default_factory=lambda: {"good.test"})
    near: set[str] = field(default_factory=set)
    asked: list[tuple[str, int]] = field(default_factory=list)
    opens: list[tuple[str, int]] = field(default_factory=list)
    ends: list[tuple[int, int]] = field(default_factory=list)
    was_opened: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    refusals: list[tuple[str, int, str]] = field(default_factory=list)
    full: bool = False
    over_now: asyncio.Event = field(default_factory=asyncio.Event)
    answer: Callable[[], Awaitable[None]] | None = None

    async def permit(self, host: str, port: int) -> bool:
        self.asked.append((host, port))
        if self.answer is not None:
            await self.answer()
        return host in self.allowed

    def named(self, host: str, port: int) -> bool:
        return host in self.near

    def opened(self, host: str, port: int) -> Callable[[int, int], None]:
        if self.full:
            raise PeerError("file_unwritable", "the ledger cannot be written")
        self.opens.append((host, port))
        self.was_opened.set()

        def ended(sent: int, received: int) -> None:
            self.ends.append((sent, received))
            self.ended.set()

        return ended

    async def over(self, host: str, port: int) -> None:
        await self.over_now.wait()

    def refused(self, host: str, port: int, code: str) -> None:
        self.refusals.append((host, port, code))


@dataclass
class Origin:
    """A host on the loopback that keeps what it was sent and answers with `answer`, then closes; with `then`
    it first hears that as well, for as long as more comes, and echoes it."""

    answer: bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
    heard: list[bytes] = field(default_factory=list)
    until: bytes = b"\r\n\r\n"
    then: bytes = b""
    port: int = 0

    async def on_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        data = b""
        while self.until not in data and (more := await reader.read(65_536)):
            data += more
        self.heard.append(data)
        with suppress(OSError):
            writer.write(self.answer)
            while self.then and self.then not in self.heard[-1] and (more := await reader.read(65_536)):
                self.heard[-1] += more
            writer.write(self.then)
            writer.write_eof()
            while more := await reader.read(65_536):
                self.heard[-1] += more
        writer.close()


@dataclass
class Street:
    """A program's way to its proxy, with the door and the origin at its other end."""

    door: Door
    origin: Origin
    relay: Relay
    names: dict[str, list[str]]
    connects: list[tuple[str, int]]

    async def say(self, data: bytes, *, finish: bool = True) -> bytes:
        """Everything that comes back for `data`."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.relay.port)
        try:
            writer.write(data)
            if finish:
                writer.write_eof()
            return await reader.read()
        finally:
            writer.close()


@asynccontextmanager
async def street(door: Door | None = None, origin: Origin | None = None) -> AsyncIterator[Street]:
    """Every public address leads to the origin, since a test reaches no other machine."""
    door, origin = door or Door(), origin or Origin()
    names = {"good.test": ["93.184.216.34"]}
    connects: list[tuple[str, int]] = []

    async def resolve(host: str, port: int) -> list[str]:
        if host not in names:
            raise OSError(-2, "Name or service not known")
        return names[host]

    async def connect(address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        connects.append((address, port))
        return await asyncio.open_connection("127.0.0.1", origin.port)

    server = await asyncio.start_server(origin.on_client, "127.0.0.1", 0)
    origin.port = server.sockets[0].getsockname()[1]
    proxy = EgressProxy(door, resolve=resolve, connect=connect)
    async with pair(host=proxy.operations()) as (_, guest):
        desk = GuestDesk()
        desk.control = guest
        relay = Relay(desk)
        serving = asyncio.create_task(relay.serve(0))
        await relay.serving.wait()
        try:
            yield Street(door, origin, relay, names, connects)
        finally:
            for task in (serving, *desk.tasks):
                task.cancel()
            await asyncio.gather(serving, *desk.tasks, return_exceptions=True)
            server.close()
