"""Pipes and sockets as the two ends of a peer's stream, and how a second process hands its own over."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import socket
import time

ROOM = 1_048_576
"""Bytes that a pipe and a reader hold; fewer wake-ups a frame of the screen than with the usual 64 KB."""

_F_SETPIPE_SZ = 1031


class Sink:
    """A `wire.Writer` over asyncio's own writer."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    def write(self, data: bytes, /) -> None:
        """Take bytes to send; dropped once the stream is closing."""
        if not self._writer.is_closing():
            self._writer.write(data)

    async def drain(self) -> None:
        """Wait while much is unsent; OSError once the stream is broken."""
        await self._writer.drain()

    def abort(self) -> None:
        """Close at once, where it is not closed already; what is unsent is lost."""
        if not self._writer.is_closing():
            self._writer.transport.abort()


async def streams(reading: int, writing: int) -> tuple[asyncio.StreamReader, Sink]:
    """Reader and writer over two descriptors of pipes or sockets, which they own from now on."""
    loop = asyncio.get_running_loop()
    for descriptor in (reading, writing):
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, _F_SETPIPE_SZ, ROOM)
    reader = asyncio.StreamReader(limit=ROOM // 2)
    await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(reading, "rb", buffering=0)
    )
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(writing, "wb", buffering=0)
    )
    return reader, Sink(asyncio.StreamWriter(transport, protocol, None, loop))


def keep_protocol() -> tuple[int, int]:
    """This process's stdin and stdout under new numbers; 0 reads nothing and 1 writes to stderr from now on,
    so that no library and no child can write into the protocol."""
    reading, writing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return reading, writing


def listen(path: str) -> socket.socket:
    """A socket at `path` for `hand_over`; only this user may connect."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        listener.bind(path)
    finally:
        os.umask(mask)
    listener.listen(1)
    listener.setblocking(False)
    return listener


async def taken_over(listener: socket.socket) -> tuple[int, int, socket.socket]:
    """Wait for the process that hands its descriptors over: (reading, writing) and the connection whose end
    lets that process go."""
    loop = asyncio.get_running_loop()
    while True:
        connection, _ = await loop.sock_accept(listener)
        connection.settimeout(2)
        try:
            _, descriptors, _, _ = await asyncio.to_thread(socket.recv_fds, connection, 1, 2)
        except OSError:
            descriptors = []
        if len(descriptors) == 2:
            return descriptors[0], descriptors[1], connection
        for descriptor in descriptors:
            os.close(descriptor)
        connection.close()


def hand_over(path: str, patience: float) -> int:
    """Give stdin and stdout of this process to the guest that listens at `path`, waiting up to `patience`
    seconds for it, and stay until the guest lets go, since the engine ends the stream with the process."""
    before = time.monotonic() + patience
    while True:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(path)
        except OSError:
            connection.close()
            if time.monotonic() > before:
                return 1
            time.sleep(0.01)
            continue
        with connection:
            socket.send_fds(connection, [b"\0"], [0, 1])
            for descriptor in (0, 1):
                os.close(descriptor)
            connection.recv(1)
        return 0
