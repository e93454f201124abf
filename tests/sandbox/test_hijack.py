"""The engine's stream is taken apart however it is cut, and both directions hold back when nobody takes."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.hijack import HIGH, Demultiplexer, Hijacked, line


def _framed(stream: int, data: bytes) -> bytes:
    return struct.pack(">B3xI", stream, len(data)) + data


@given(
    said=st.lists(st.tuples(st.integers(1, 2), st.binary(max_size=40)), max_size=12),
    cuts=st.lists(st.integers(1, 50), max_size=40),
)
def test_frames_split_and_merged_anywhere(said: list[tuple[int, bytes]], cuts: list[int]) -> None:
    rest = b"".join(_framed(*one) for one in said)
    parts, found = Demultiplexer(), {1: b"", 2: b""}
    for cut in [*cuts, len(rest)]:
        for stream, piece in parts.feed(rest[:cut]):
            found[stream] += piece
        rest = rest[cut:]
    for stream in (1, 2):
        assert found[stream] == b"".join(data for number, data in said if number == stream)


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(ValueError, match="number 72"):
        Demultiplexer().feed(b"HTTP/1.1 200 OK")


class Plain:
    """A connection over a socket."""

    def __init__(self, under: socket.socket) -> None:
        self._under = under
        self.recv, self.sendall = under.recv, under.sendall

    def close(self) -> None:
        self._under.shutdown(socket.SHUT_RDWR)
        self._under.close()


@asynccontextmanager
async def _joined(early: bytes = b"") -> AsyncIterator[tuple[Hijacked, socket.socket, list[bytes]]]:
    """A stream, the engine's end of it, and what came as errors."""
    near, far = socket.socketpair()
    complaints: list[bytes] = []
    stream = Hijacked(Plain(near), early, complaints.append, "test")
    with far:
        yield stream, far, complaints
        stream.abort()
        await stream.closed()


def test_output_errors_and_what_came_before_are_told_apart() -> None:
    async def check() -> None:
        async with _joined(_framed(2, b"oh ") + _framed(1, b"he")[:9]) as (stream, far, complaints):
            far.sendall(b"e" + _framed(2, b"no") + _framed(1, b"llo"))
            assert await stream.reader.readexactly(5) == b"hello"
            assert b"".join(complaints) == b"oh no"
            stream.write(b"in")
            await stream.drain()
            assert await asyncio.to_thread(far.recv, 10) == b"in"

    asyncio.run(check())


def test_the_end_of_the_connection_is_the_end_of_the_reader() -> None:
    async def check() -> None:
        async with _joined() as (stream, far, _):
            far.sendall(_framed(1, b"last"))
            far.shutdown(socket.SHUT_RDWR)
            assert await stream.reader.read() == b"last"
            with pytest.raises(ConnectionResetError):
                await stream.drain()
            stream.write(b"dropped")

    asyncio.run(check())


def test_garbage_ends_the_reader() -> None:
    async def check() -> None:
        async with _joined() as (stream, far, _):
            far.sendall(b"Cannot connect to the engine")
            assert await stream.reader.read() == b""

    asyncio.run(check())


def test_who_does_not_read_holds_the_engine_back() -> None:
    async def check() -> None:
        async with _joined() as (stream, far, _):
            far.setblocking(False)
            loop = asyncio.get_running_loop()
            block, sent = _framed(1, b"x" * 65_536), 0
            sending = asyncio.create_task(loop.sock_sendall(far, block * 200))
            while not sending.done() and sent < 400:
                await asyncio.sleep(0.005)
                sent += 1
            assert not sending.done()
            assert len(stream.reader._buffer) <= 4 * HIGH  # type: ignore[attr-defined]
            got = 0
            while got < 200 * 65_536:
                got += len(await stream.reader.read(HIGH))
            await sending

    asyncio.run(check())


def test_drain_waits_for_an_engine_that_does_not_read_and_abort_frees_it() -> None:
    async def check() -> None:
        async with _joined() as (stream, far, _):
            stream.write(b"x" * (4 * HIGH))
            draining = asyncio.create_task(stream.drain())
            await asyncio.sleep(0.02)
            assert not draining.done()
            far.setblocking(False)
            got = 0
            while got < 4 * HIGH:
                got += len(await asyncio.get_running_loop().sock_recv(far, HIGH))
            await asyncio.wait_for(draining, 10)
            stream.write(b"x" * (4 * HIGH))
            draining = asyncio.create_task(stream.drain())
            await asyncio.sleep(0)
            stream.abort()
            with pytest.raises(ConnectionResetError):
                await asyncio.wait_for(draining, 10)

    asyncio.run(check())


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
