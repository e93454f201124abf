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

from sandbox.hijack import HIGH, Demultiplexer, Hijacked


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
