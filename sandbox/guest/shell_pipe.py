"""A pipe from a program, read on the event loop without ever holding it up."""

from __future__ import annotations

import asyncio
import fcntl
import os
import struct
import termios
from collections.abc import Callable
from contextlib import suppress

CAPACITY = 262_144
PACE = 0.005
"""Seconds between two readings of a pipe that floods: what writes to it waits meanwhile."""


class Pipe:
    """The end to read of a new pipe or terminal; `heard` gets what comes. `paced` says whether to go slowly.

    The end to write, `inlet`, is closed by the owner as soon as the program has it; this end closes itself
    when nobody can write any more, or by `close`. Loop's thread only.
    """

    def __init__(self, heard: Callable[[bytes], None], *, terminal: bool = False) -> None:
        self.heard = heard
        self.paced: Callable[[], bool] = lambda: False
        self._outlet, self.inlet = os.openpty() if terminal else os.pipe()
        os.set_blocking(self._outlet, False)
        if not terminal:
            with suppress(OSError):
                fcntl.fcntl(self.inlet, fcntl.F_SETPIPE_SZ, CAPACITY)
        self._loop = asyncio.get_running_loop()
        self._later: asyncio.TimerHandle | None = None
        self._loop.add_reader(self._outlet, self._on_readable)

    def close_inlet(self) -> None:
        """Leave the end to write to the programs that have it."""
        if self.inlet >= 0:
            os.close(self.inlet)
            self.inlet = -1

    def drain(self) -> None:
        """Read what lies in the pipe at this moment, and no more, however fast it fills."""
        if self._outlet < 0:
            return
        (waiting,) = struct.unpack("i", fcntl.ioctl(self._outlet, termios.FIONREAD, b"\0" * 4))
        while waiting > 0 and (data := self._read(waiting)):
            waiting -= len(data)

    def close(self) -> None:
        """Stop reading; programs that go on writing get an error."""
        self.close_inlet()
        if self._later is not None:
            self._later.cancel()
        if self._outlet >= 0:
            self._loop.remove_reader(self._outlet)
            os.close(self._outlet)
            self._outlet = -1

    def _on_readable(self) -> None:
        self._read(CAPACITY)
        if self._outlet >= 0 and self.paced():
            self._loop.remove_reader(self._outlet)
            self._later = self._loop.call_later(PACE, self._resume)

    def _resume(self) -> None:
        self._later = None
        if self._outlet >= 0:
            self._loop.add_reader(self._outlet, self._on_readable)

    def _read(self, size: int) -> bytes:
        try:
            data = os.read(self._outlet, min(size, CAPACITY))
        except BlockingIOError:
            return b""
        except OSError:  # a terminal whose other end is closed
            data = b""
        if data:
            self.heard(data)
        else:
            self.close()
        return data
