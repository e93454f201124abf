"""The standard streams of a process in a container, over the connection that the engine hands out."""

from __future__ import annotations

import asyncio
import contextlib
import struct
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from sandbox.lines import Line

_HEADER = struct.Struct(">B3xI")
_OUT, _ERR = 1, 2
CHUNK = 262_144
"""Bytes that are read at once."""

HIGH = 1_048_576
"""Bytes that may wait unsent before `drain` waits, and unread before the thread does."""


class Demultiplexer:
    """Takes the engine's frames of eight bytes and a payload apart, however they are split and merged.
    ValueError for what is no such frame. The format is that of the engine's "attach" without a terminal."""

    def __init__(self) -> None:
        self._header = b""
        self._stream = self._left = 0

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """Take bytes; what they hold, as (1 output or 2 errors, bytes), a frame perhaps in several pieces."""
        found = []
        view = memoryview(data)
        while len(view):
            if not self._left:
                need = _HEADER.size - len(self._header)
                self._header += bytes(view[:need])
                view = view[need:]
                if len(self._header) == _HEADER.size:
                    self._stream, self._left = _HEADER.unpack(self._header)
                    self._header = b""
                    if self._stream > _ERR:
                        raise ValueError(f"no stream has the number {self._stream}")
                continue
            piece, view = bytes(view[: self._left]), view[self._left :]
            self._left -= len(piece)
            found.append((self._stream, piece))
        return found


class Hijacked:
    """Reader and `wire.Writer` of a process: its output comes out of `reader`, what is written becomes its
    input, and `complained` is called with its errors (in the loop's thread).

    Two threads block on the connection, so that a named pipe, TLS and a plain socket are treated alike; both
    end with `abort`, `closed()` waits for that. Made and used in the loop's thread.
    """

    def __init__(self, line: Line, early: bytes, complained: Callable[[bytes], None], name: str) -> None:
        self.reader = asyncio.StreamReader(limit=HIGH // 2)
        self.reader.set_transport(_Valve(self))
        self._line, self._complained = line, complained
        self._loop = asyncio.get_running_loop()
        self._unsent: deque[bytes] = deque()
        self._unsent_size = self._unfed = 0
        self._broken = self._paused = False
        self._low = asyncio.Event()
        self._sending = threading.Condition()
        self._reading = threading.Condition()
        self._threads = [
            threading.Thread(target=self._read, args=(early,), name=f"{name}-out", daemon=True),
            threading.Thread(target=self._write, name=f"{name}-in", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    # --- the writer of a peer -------------------------------------------------------------------------

    def write(self, data: bytes, /) -> None:
        """Take bytes to send; dropped once the connection is broken."""
        with self._sending:
            if self._broken:
                return
            self._unsent.append(data)
            self._unsent_size += len(data)
            self._sending.notify()

    async def drain(self) -> None:
        """Wait while more than HIGH is unsent; ConnectionResetError once the connection is broken."""
        while self._unsent_size > HIGH and not self._broken:
            self._low.clear()
            await self._low.wait()
        if self._broken:
            raise ConnectionResetError

    def abort(self) -> None:
        """Close the connection; idempotent."""
        with self._sending, self._reading:
            first, self._broken = not self._broken, True
            self._unsent.clear()
            self._sending.notify_all()
            self._reading.notify_all()
        self._low.set()
        if first:
            self._line.close()

    async def closed(self) -> None:
        """Wait until both threads have ended, after `abort`."""
        for thread in self._threads:
            await asyncio.to_thread(thread.join, 5)

    def pause(self, paused: bool) -> None:
        """Read nothing more for now, or go on."""
        with self._reading:
            self._paused = paused
            self._reading.notify_all()

    # --- the threads ----------------------------------------------------------------------------------

    def _read(self, early: bytes) -> None:
        parts = Demultiplexer()
        try:
            data = early or self._line.recv(CHUNK)
            while data:
                found = parts.feed(data)
                for stream in (_ERR, _OUT):
                    pieces = [piece for number, piece in found if number == stream]
                    if pieces:
                        self._hand(stream, b"".join(pieces))
                with self._reading:
                    self._reading.wait_for(lambda: self._broken or not (self._paused or self._unfed > HIGH))
                    if self._broken:
                        break
                data = self._line.recv(CHUNK)
        except Exception:  # noqa: BLE001 (the edge of a thread: a pipe's library has errors of its own)
            return  # said by the end of the stream
        finally:
            self._call(self._on_end)

    def _hand(self, stream: int, piece: bytes) -> None:
        with self._reading:
            self._unfed += len(piece)
        self._call(self._feed if stream == _OUT else self._complain, piece)

    def _write(self) -> None:
        try:
            while True:
                with self._sending:
                    self._sending.wait_for(lambda: self._unsent or self._broken)
                    if self._broken:
                        return
                    data = b"".join(self._unsent)
                    self._unsent.clear()
                self._line.sendall(data)
                with self._sending:
                    was, self._unsent_size = self._unsent_size, self._unsent_size - len(data)
                if was > HIGH:
                    self._call(self._low.set)
        except Exception:  # noqa: BLE001 (the edge of a thread: a pipe's library has errors of its own)
            self._call(self._on_end)

    def _call(self, work: Callable[..., None], *arguments: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
            self._loop.call_soon_threadsafe(work, *arguments)

    # --- in the loop ----------------------------------------------------------------------------------

    def _feed(self, piece: bytes) -> None:
        self._fed(piece)
        if not self._broken:
            self.reader.feed_data(piece)

    def _complain(self, piece: bytes) -> None:
        self._fed(piece)
        self._complained(piece)

    def _fed(self, piece: bytes) -> None:
        with self._reading:
            self._unfed -= len(piece)
            self._reading.notify_all()

    def _on_end(self) -> None:
        self.abort()
        self.reader.feed_eof()


class _Valve(asyncio.ReadTransport):
    """What a StreamReader asks to stop and go on as it fills and empties."""

    def __init__(self, stream: Hijacked) -> None:
        super().__init__()
        self._stream = stream

    def pause_reading(self) -> None:
        self._stream.pause(True)

    def resume_reading(self) -> None:
        self._stream.pause(False)
