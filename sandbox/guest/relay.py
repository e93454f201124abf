"""The proxy in the container, which asks the host for every connection; and the way in to its ports."""

from __future__ import annotations

import asyncio
import html
import sys
from typing import Any

from sandbox.guest.call import Call, PeerError, PeerGone
from sandbox.guest.desk import GuestDesk
from sandbox.guest.peer import Operation, Peer

ADDRESS, PORT = "127.0.0.1", 3128
MOST_CLIENTS = 128
LONGEST_HEAD = 65_536
PIECE = 65_536

ASKING = 30.0
"""Seconds in which a client must have sent the head of its request."""

_REASONS = {400: "Bad Request", 408: "Request Timeout", 431: "Request Header Fields Too Large"}
_STATUS = {"egress_busy": 503, "egress_failed": 502, "egress_unresolved": 502}


class Refusal(Exception):
    """Nothing is asked of the host."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(status, text)
        self.status, self.text = status, text


class Relay:
    """The proxy; each connection of a client is one of the host's, so that each request is checked there."""

    def __init__(self, desk: GuestDesk) -> None:
        self._desk = desk
        self._clients = asyncio.Semaphore(MOST_CLIENTS)
        self.port = 0
        self.serving = asyncio.Event()

    async def serve(self, port: int = PORT) -> None:
        """Listen until cancelled; `port` 0 takes any."""
        server = await _listening(self._on_client, port)
        self.port = server.sockets[0].getsockname()[1]
        self.serving.set()
        async with server:
            await server.serve_forever()

    async def _on_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._desk.tasks.add(task)
            task.add_done_callback(self._desk.tasks.discard)
        try:
            async with self._clients:
                await self._answered(reader, writer)
        except (ConnectionError, PeerGone):
            return
        except asyncio.CancelledError:
            return  # the stream's own callback reports a cancelled task as an error
        finally:
            writer.close()

    async def _answered(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await _head(reader)
            if not head:
                return
            host, port, tunnel = wanted(head)
        except Refusal as refusal:
            await _say(writer, refusal.status, refusal.text)
            return
        control = self._desk.control
        if control is None:
            return
        await self._connected(control, host, port, (reader, writer), b"" if tunnel else head)

    async def _connected(
        self,
        control: Peer,
        host: str,
        port: int,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        head: bytes,
    ) -> None:
        """Join the client to the host; `head` is what goes there first, empty for a tunnel."""
        reader, writer = client
        stands = False
        try:
            async with await control.open("egress.open", host=host, port=port) as call:
                if not await _stands(call):
                    return
                if head:
                    await call.send(head)
                else:
                    stands = True
                    writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                stands = await joined(call, reader, writer) or stands
                await call.result()
        except PeerError as error:
            if stands:
                writer.transport.abort()
            else:
                await _say(writer, _STATUS.get(error.code, 403), error.text or error.code)


async def joined(call: Call, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Pass bytes between a connection and a call until the call brings no more; whether it brought any.
    Raises how the call failed where it brought none, and aborts the connection where it did."""
    brought = False

    async def out() -> None:
        while data := await reader.read(PIECE):
            await call.send(data)
        await call.finish()

    sending = asyncio.create_task(out())
    try:
        while data := await call.receive():
            brought = True
            writer.write(data)
            await writer.drain()
    except PeerError:
        if not brought:
            raise
        writer.transport.abort()
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
    return brought


def wanted(head: bytes) -> tuple[str, int, bool]:
    """Host and port that the head of a request asks for, and whether it wants a tunnel. Raises Refusal."""
    try:
        method, target, _ = head.split(b"\r\n", 1)[0].decode("ascii").split(" ")
    except ValueError as error:
        raise Refusal(400, "This is a proxy, and that is not a request it can read.") from error
    if method == "CONNECT":
        host, port = _authority(target, 443)
        return host, port, True
    scheme, found, rest = target.partition("://")
    if not found or scheme.lower() not in ("http", "ws"):
        raise Refusal(400, "This is a proxy: ask it for http://… or by CONNECT.")
    host, port = _authority(rest.partition("/")[0].partition("?")[0], 80)
    return host, port, False


def _authority(text: str, default: int) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        host, port = text, str(default)
    if not host or not port.isdigit() or not 0 < int(port[:6]) < 65_536:
        raise Refusal(400, "The host in that request cannot be read.")
    return host.strip("[]"), int(port)


async def _head(reader: asyncio.StreamReader) -> bytes:
    """The head of a request; b"" where none came. Raises Refusal."""
    try:
        async with asyncio.timeout(ASKING):
            return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""
    except asyncio.LimitOverrunError as error:
        raise Refusal(431, "The head of that request is too long.") from error
    except TimeoutError as error:
        raise Refusal(408, "The request did not come in time.") from error


async def _stands(call: Call) -> bool:
    """Wait for the word that the connection stands. Raises PeerError where it does not."""
    first = await call.receive()
    if not first:
        await call.result()
    return first == b"+"


async def _say(writer: asyncio.StreamWriter, status: int, text: str) -> None:
    """An answer of our own. The text is also the reason in its first line, which is all that many programs
    show of a tunnel that was refused."""
    reason = _REASONS.get(status) or "".join(sign if " " <= sign <= "~" else "?" for sign in text)
    shown = html.escape(text)
    page = f"<!doctype html><meta charset=utf-8><title>{shown}</title><p>{shown}</p>\n".encode()
    head = f"HTTP/1.1 {status} {reason}\r\nContent-Type: text/html; charset=utf-8\r\n"
    head += f"Content-Length: {len(page)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
    writer.write(head.encode("ascii") + page)
    await writer.drain()


async def _listening(on_client: Any, port: int) -> asyncio.Server:
    """A server on the loopback; where an older guest still has the port, it is waited for."""
    for _ in range(50):
        try:
            return await asyncio.start_server(on_client, ADDRESS, port, limit=LONGEST_HEAD)
        except OSError as error:
            sys.stderr.write(f"the relay waits for its port: {error}\n")
            await asyncio.sleep(0.2)
    return await asyncio.start_server(on_client, ADDRESS, port, limit=LONGEST_HEAD)


async def connect(call: Call) -> dict[str, Any]:
    """`net.connect`; see `operations`."""
    port = call.arguments.get("port")
    if not isinstance(port, int) or not 0 < port < 65_536:
        raise PeerError("port", str(port))
    try:
        reader, writer = await asyncio.open_connection(ADDRESS, port)
    except OSError as error:
        raise PeerError("port_closed", error.strerror or str(error)) from error
    incoming = asyncio.create_task(_into(call, writer))
    try:
        await call.send(b"+")
        while data := await reader.read(PIECE):
            await call.send(data)
        await call.finish()
    except ConnectionError:
        return {}
    finally:
        incoming.cancel()
        await asyncio.gather(incoming, return_exceptions=True)
        writer.close()
    return {}


async def _into(call: Call, writer: asyncio.StreamWriter) -> None:
    while data := await call.receive():
        writer.write(data)
        await writer.drain()
    writer.write_eof()


def operations(desk: GuestDesk) -> dict[str, Operation]:
    """Starts the proxy, and offers `net.connect` {port}: `+` once a program of the container that listens
    there has taken the connection, then bytes both ways → {}."""
    desk.spawn(Relay(desk).serve())
    return {"net.connect": connect}
