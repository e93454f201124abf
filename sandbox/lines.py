"""Connections that docker-py hands out, made alike: a socket, TLS, and a named pipe of Windows."""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import threading
from collections.abc import Callable
from typing import Any, Protocol

SILENCE = 30.0
"""Seconds after which a named pipe is given up on which nothing comes or goes."""


LONGEST = 262_144
"""Bytes that are written to a named pipe at once."""


class Line(Protocol):
    """A connection as docker-py hands it out, reduced to what is needed; calls block."""

    def recv(self, size: int, /) -> bytes: ...
    def sendall(self, data: bytes, /) -> None: ...
    def close(self) -> None: ...


def line(hijacked: Any) -> tuple[Line, bytes]:
    """The connection in what `exec_start(socket=True)` returns, and the bytes that the reader of the answer's
    head had already taken out of it. Nothing may have been sent on it yet."""
    under = getattr(hijacked, "_sock", hijacked)
    response = getattr(hijacked, "_response", None)
    if not isinstance(under, socket.socket):
        return _Piped(under, response), b""
    under.settimeout(0)
    head = response.raw._fp.fp if response is not None else None
    try:
        early = bytes(head.read1(len(head.peek()))) if head is not None and head.peek() else b""
    except (ssl.SSLWantReadError, BlockingIOError):
        early = b""
    if isinstance(under, ssl.SSLSocket):
        return _Secured(under, response), early
    under.settimeout(None)
    return _Plain(under, response), early


class _Plain:
    """A socket whose `close` also wakes the thread that reads."""

    def __init__(self, under: socket.socket, response: Any) -> None:
        self._under, self._response = under, response
        self.recv, self.sendall = under.recv, under.sendall

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._under.shutdown(socket.SHUT_RDWR)
        self._response.close()
        self._under.close()


class _Piped:
    """A named pipe of Windows. A read that runs out of time may lose what just comes, so the time is longer
    than any live stream is silent; two objects share the pipe, since each has one limit for both ways."""

    def __init__(self, under: Any, response: Any) -> None:
        self._reading, self._writing, self._response = under, under.dup(), response
        for end in (self._reading, self._writing):
            end.settimeout(SILENCE)

    def recv(self, size: int, /) -> bytes:
        buffer = bytearray(size)
        return bytes(buffer[: self._reading.recv_into(buffer)])

    def sendall(self, data: bytes, /) -> None:
        view = memoryview(data)
        while len(view):
            view = view[self._writing.send(bytes(view[:LONGEST])) :]

    def close(self) -> None:
        self._reading.close()


class _Secured:
    """A TLS socket that one thread reads and another writes: its library allows only one at a time inside."""

    def __init__(self, under: ssl.SSLSocket, response: Any) -> None:
        self._under, self._response = under, response
        self._lock = threading.Lock()

    def recv(self, size: int, /) -> bytes:
        return bytes(self._patiently(lambda: self._under.recv(size)))

    def sendall(self, data: bytes, /) -> None:
        view = memoryview(data)
        while len(view):
            piece = view
            view = view[self._patiently(lambda: self._under.send(piece[:16_384])) :]  # noqa: B023 (called at once)

    def _patiently(self, work: Callable[[], Any]) -> Any:
        while True:
            try:
                with self._lock:
                    return work()
            except ssl.SSLWantReadError:
                select.select([self._under], [], [])
            except ssl.SSLWantWriteError:
                select.select([], [self._under], [])
            except ValueError as error:
                raise ConnectionResetError from error

    def close(self) -> None:
        with contextlib.suppress(OSError):
            socket.socket.shutdown(self._under, socket.SHUT_RDWR)
        self._response.close()
        self._under.close()
