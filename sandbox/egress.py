"""The only way out of the sandbox: single connections to hosts by name, allowed, checked and counted."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from resources.sentences import sentence
from sandbox.egress_addresses import Address, Allowlist, address, is_metadata, is_public, plain_host
from sandbox.egress_http import HANDSHAKE, Malformed, Request, Sent, parse, server_name
from sandbox.guest.peer import Call, Operation, PeerError

__all__ = ["Allowlist", "EgressDoor", "EgressProxy"]

MOST = 128
"""Connections that may be open or wait for permission at once; each holds at most a window of bytes."""

RATE = 50.0
"""New connections a second that are served after the first MOST, because each is written down twice."""

PIECES = 100
"""Pieces in which the greeting of TLS may come: it is looked at anew with each."""

CONNECTING = 15.0
"""Seconds to look a name up, and to connect to one address of it."""

SAYING = 30.0
"""Seconds in which a program must have said what it wants of the host."""

SILENCE = 600.0
"""Seconds without a byte in either direction after which a connection is closed."""

PIECE = 65_536

SWITCHED = b"HTTP/1.1 101 "
"""How a host begins that agrees to a websocket."""

Resolve = Callable[[str, int], Awaitable[list[str]]]
Connect = Callable[[str, int], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


class EgressDoor(Protocol):
    """What decides and remembers. Called on the loop's thread, with hosts in their plain form."""

    async def permit(self, host: str, port: int) -> bool:
        """Whether the host may be reached; may take as long as the user does."""
        ...

    def named(self, host: str, port: int) -> bool:
        """Whether the user's own list names this very address or host of the user's own network. Only such
        are reached by address, and only for such may a name lead to where not everybody is."""
        ...

    def opened(self, host: str, port: int) -> Callable[[int, int], None]:
        """Enter a connection into the ledger before it is made; what it raises forbids the connection.
        Returns what is called once at its end with the bytes sent and received."""
        ...

    async def over(self, host: str, port: int) -> None:
        """Return once the host may not be reached any more; connections to it are closed then."""
        ...

    def refused(self, host: str, port: int, code: str) -> None:
        """Told of every connection that was not made or was cut off for what it sent."""
        ...


class EgressProxy:
    """Serves the guests. Stateless apart from counting; `resolve` gives the addresses of a name."""

    def __init__(
        self, door: EgressDoor, *, resolve: Resolve | None = None, connect: Connect | None = None
    ) -> None:
        self._door = door
        self._resolve = resolve or _looked_up
        self._connect = connect or asyncio.open_connection
        self._open = 0
        self._due = 0.0

    def operations(self) -> dict[str, Operation]:
        """`egress.open` {host, port}: `+` once the connection stands, then bytes both ways → {sent,
        received}. PeerError with a code egress_… and its sentence where it is refused or fails."""
        return {"egress.open": self.open}

    async def open(self, call: Call) -> dict[str, Any]:
        """Serve one connection."""
        said, port = str(call.arguments.get("host", "")), call.arguments.get("port")
        host = plain_host(said)
        if not host or not isinstance(port, int) or not 0 < port < 65_536:
            raise PeerError("egress_unresolved", sentence("egress_unresolved", host=said[:253]))
        if self._open >= MOST:
            raise PeerError("egress_busy", sentence("egress_busy", limit=MOST))
        self._open += 1
        try:
            await self._paced()
            return await self._served(call, host, port)
        except PeerError as error:
            if error.code.startswith("egress_"):
                self._door.refused(host, port, error.code)
            raise
        finally:
            self._open -= 1

    async def _paced(self) -> None:
        """Wait for this connection's turn."""
        now = time.monotonic()
        self._due = max(self._due, now - MOST / RATE) + 1 / RATE
        if self._due > now:
            await asyncio.sleep(self._due - now)

    async def _served(self, call: Call, host: str, port: int) -> dict[str, Any]:
        addresses = await self._judged(host, port)
        ended = self._door.opened(host, port)
        flow = _Flow(call, host, port)
        try:
            reader, writer = await self._reached(host, port, addresses)
            try:
                await flow.run(reader, writer, self._door.over(host, port))
            finally:
                writer.transport.abort()
        finally:
            ended(flow.sent, flow.received)
        return {"sent": flow.sent, "received": flow.received}

    async def _judged(self, host: str, port: int) -> list[Address]:
        """The addresses that may be connected to. Raises PeerError."""
        literal, named = address(host), self._door.named(host, port)
        if literal is not None and (not named or is_metadata(literal)):
            raise _refusal("egress_address", host, port)
        if not await self._door.permit(host, port):
            raise _refusal("egress_refused", host, port)
        if literal is not None:
            return [literal]
        try:
            async with asyncio.timeout(CONNECTING):
                texts = await self._resolve(host, port)
        except (OSError, TimeoutError, UnicodeError) as error:
            raise _refusal("egress_unresolved", host, port) from error
        found = [one for one in map(address, texts) if one is not None]
        allowed = [one for one in found if not is_metadata(one) and (named or is_public(one))]
        if found and not allowed:
            raise _refusal("egress_private", host, port, address=str(found[0]))
        if not allowed:
            raise _refusal("egress_unresolved", host, port)
        return allowed

    async def _reached(
        self, host: str, port: int, addresses: list[Address]
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to one of exactly these addresses: the name is not looked up again."""
        reason = ""
        for one in addresses[:4]:
            try:
                async with asyncio.timeout(CONNECTING):
                    return await self._connect(str(one), port)
            except TimeoutError:
                reason = reason or "no answer"
            except OSError as error:
                reason = error.strerror or str(error)
        raise _refusal("egress_failed", host, port, reason=reason)


class _Flow:
    """The bytes of one connection: checked where it begins, counted as they go."""

    def __init__(self, call: Call, host: str, port: int) -> None:
        self.sent = self.received = 0
        self._call, self._host, self._port = call, host, port
        self._last = time.monotonic()
        self._switched: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    async def run(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, over: Coroutine[Any, Any, None]
    ) -> None:
        """Until the host closes, the permission is `over`, or what the program sends must not go on."""
        ending = asyncio.create_task(over)
        try:
            await self._call.send(b"+")
            await self._pass(reader, writer, ending)
        finally:
            ending.cancel()

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, ending: asyncio.Task[None]
    ) -> None:
        up = asyncio.create_task(self._up(writer))
        down = asyncio.create_task(self._down(reader))
        quiet = asyncio.create_task(self._quiet())
        try:
            pending: set[asyncio.Task[None]] = {up, down, quiet, ending}
            while not any(task.done() for task in (down, quiet, ending)):
                finished, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task in finished:
                    task.result()
        except OSError as error:
            if not self.received:
                raise _refusal(
                    "egress_failed", self._host, self._port, reason=str(error) or "closed"
                ) from error
        finally:
            for task in (up, down, quiet):
                task.cancel()
            await asyncio.gather(up, down, quiet, return_exceptions=True)

    async def _down(self, reader: asyncio.StreamReader) -> None:
        begun = b""
        while data := await reader.read(PIECE):
            self.received += len(data)
            self._last = time.monotonic()
            if not self._switched.done():
                begun += data[: len(SWITCHED)]
                if len(begun) >= len(SWITCHED):
                    self._switched.set_result(begun.startswith(SWITCHED))
            await self._call.send(data)
        await self._call.finish()

    async def _up(self, writer: asyncio.StreamWriter) -> None:
        async def give(data: bytes) -> None:
            self.sent += len(data)
            self._last = time.monotonic()
            writer.write(data)
            await writer.drain()

        sent = Sent(self._call.receive)
        try:
            async with asyncio.timeout(SAYING):
                request = await self._said(sent)
            if request is not None:
                await give(request.head)
                if not request.upgrade:
                    await sent.body(request, give)
                    return
                if not await self._switched:  # a second request could be meant for another host
                    return
        except Malformed as error:
            raise _refusal("egress_protocol", self._host, self._port) from error
        await sent.all(give)
        if writer.can_write_eof():
            writer.write_eof()

    async def _said(self, sent: Sent) -> Request | None:
        """The one plain request that a connection may make, or None for TLS. Raises Malformed for anything
        else, PeerError for a host that is not this connection's."""
        first = await sent.peek(1)
        if not first:
            return None
        if first[0] == HANDSHAKE:
            await self._check_tls(sent)
            return None
        request = parse(await sent.head())
        if (request.host, request.port) != (self._host, self._port):
            raise _refusal("egress_mismatch", self._host, self._port, other=f"{request.host}:{request.port}")
        return request

    async def _check_tls(self, sent: Sent) -> None:
        hello, name, pieces = b"", None, 0
        while name is None:
            pieces += 1
            if pieces > PIECES:
                raise Malformed("the handshake comes in crumbs")
            wanted = len(hello) + 1
            hello = await sent.peek(wanted)
            if len(hello) < wanted:
                raise Malformed("it ends too early")
            name = server_name(hello)
        if name and name != self._host:
            raise _refusal("egress_mismatch", self._host, self._port, other=name)

    async def _quiet(self) -> None:
        left = SILENCE
        while left > 0:
            await asyncio.sleep(left)
            left = self._last + SILENCE - time.monotonic()


def _refusal(code: str, host: str, port: int, **fields: str) -> PeerError:
    return PeerError(code, sentence(code, host=host, port=port, **fields))


async def _looked_up(host: str, port: int) -> list[str]:
    """What this machine's system says. Raises OSError."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(where[0]) for *_, where in found]
