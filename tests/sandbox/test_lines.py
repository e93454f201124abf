"""Every kind of connection an engine is reached by carries both directions at once and loses nothing."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import threading
from pathlib import Path

from sandbox.hijack import Hijacked
from sandbox.lines import line
from tests.sandbox.certificates import certificate


def _framed(stream: int, data: bytes) -> bytes:
    return struct.pack(">B3xI", stream, len(data)) + data


class Pipe:
    """What docker-py calls a named pipe, over a socket."""

    def __init__(self, under: socket.socket) -> None:
        self._under = under
        self.limits: list[float] = []

    def dup(self) -> Pipe:
        return Pipe(self._under)

    def settimeout(self, value: float) -> None:
        self.limits.append(value)

    def recv_into(self, buffer: bytearray) -> int:
        return self._under.recv_into(buffer)

    def send(self, data: bytes) -> int:
        return self._under.send(data[:1000])

    def close(self) -> None:
        self._under.shutdown(socket.SHUT_RDWR)
        self._under.close()


def test_a_named_pipe_is_read_and_written() -> None:
    async def check() -> None:
        near, far = socket.socketpair()
        pipe = Pipe(near)
        connection, early = line(pipe)
        assert (early, len(pipe.limits)) == (b"", 1)
        stream = Hijacked(connection, early, lambda data: None, "test")
        with far:
            far.sendall(_framed(1, b"hello"))
            assert await stream.reader.readexactly(5) == b"hello"
            stream.write(b"x" * 5000)
            got = b""
            while len(got) < 5000:
                got += await asyncio.to_thread(far.recv, 5000)
            stream.abort()
            await stream.closed()

    asyncio.run(check())


class Response:
    """The head of an engine's answer, of which the reader took more than the head."""

    def __init__(self, under: socket.socket, head: int) -> None:
        self.raw = self._fp = self
        self.fp = under.makefile("rb")
        self.fp.read(head)

    def close(self) -> None:
        self.fp.close()


def test_what_the_reader_of_the_head_took_is_not_lost() -> None:
    async def check() -> None:
        near, far = socket.socketpair()
        far.sendall(b"HEAD" + _framed(1, b"early "))
        hijacked = near.makefile("rb", buffering=0)
        hijacked._response = Response(near, 4)  # type: ignore[attr-defined]
        connection, early = line(hijacked)
        assert early == _framed(1, b"early ")
        stream = Hijacked(connection, early, lambda data: None, "test")
        with far:
            far.sendall(_framed(1, b"late"))
            assert await stream.reader.readexactly(10) == b"early late"
            stream.abort()
            await stream.closed()
        hijacked.close()

    asyncio.run(check())


def test_tls_carries_both_directions_at_once(tmp_path: Path) -> None:
    """Megabytes go and come together, so that each direction has to wait for the other's records."""
    near, far = _secured(tmp_path)
    data = bytes(range(256)) * 8_000

    async def check() -> None:
        hijacked = near
        hijacked._response = _Closed()  # type: ignore[attr-defined]
        connection, early = line(hijacked)
        stream = Hijacked(connection, early, lambda piece: None, "test")
        answering = threading.Thread(target=_answer, args=(far, len(data)))
        answering.start()
        stream.write(data)
        got = await asyncio.wait_for(stream.reader.readexactly(len(data)), 30)
        assert got == data
        stream.abort()
        await stream.closed()
        await asyncio.to_thread(answering.join)

    asyncio.run(check())
    far.close()


class _Closed:
    """A response whose head's reader took nothing."""

    def __init__(self) -> None:
        self.raw = self._fp = self
        self.fp = None

    def close(self) -> None:
        """Nothing is held."""


def _answer(far: ssl.SSLSocket, size: int) -> None:
    """Send back what comes, framed as the engine does."""
    while size:
        data = far.recv(min(size, 30_000))
        if not data:
            return
        size -= len(data)
        far.sendall(_framed(1, data))


def _secured(folder: Path) -> tuple[ssl.SSLSocket, ssl.SSLSocket]:
    """Both ends of a TLS connection."""
    made, key = certificate(folder)
    theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    theirs.load_cert_chain(made, key)
    ours = ssl.create_default_context(cafile=str(made))
    ours.check_hostname = False
    near, far = socket.socketpair()
    accepted: list[ssl.SSLSocket] = []
    accepting = threading.Thread(target=lambda: accepted.append(theirs.wrap_socket(far, server_side=True)))
    accepting.start()
    connected = ours.wrap_socket(near)
    accepting.join()
    return connected, accepted[0]
