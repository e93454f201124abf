"""The child's end of the pipes: orders are read in one thread, events are written in another."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable

from voice.events import VoiceEvent
from voice.frames import RANKS, BrokenFrame, Frame, Rank, encode, frame_of, order, read

WAITING = 256
"""Frames that may wait to be written; with more, levels and partial texts are dropped."""

BROKEN = 3
"""The exit code after a frame that is none."""


class Wire:
    """The two descriptors of the protocol. Native libraries write to 1 and 2: both end in stderr.

    The end of stdin, of the reader, or a broken frame ends the process.
    """

    def __init__(self) -> None:
        self._input = os.dup(0)
        self._output = os.dup(1)
        os.dup2(2, 1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        self._ready = threading.Condition()
        self._lanes: tuple[deque[Frame], deque[Frame]] = (deque(), deque())
        self.dropped = 0
        threading.Thread(target=self._write, name="wire out", daemon=True).start()

    def tell(self, event: VoiceEvent) -> None:
        """Send `event`; returns at once, from any thread."""
        self.send(frame_of(event))

    def send(self, frame: Frame) -> None:
        """Send a frame; returns at once, from any thread. Data is dropped when too much waits."""
        rank = RANKS[frame["t"]]
        with self._ready:
            if rank is Rank.DATA and len(self._lanes[1]) >= WAITING:
                self.dropped += 1
                return
            self._lanes[rank is not Rank.SYSTEM].append(frame)
            self._ready.notify()

    def listen(self, accept: Callable[[Frame], None], end: Callable[[], None]) -> None:
        """Hand every order to `accept` in a thread; the process ends when `end` returns after the last."""
        threading.Thread(target=self._read, args=(accept, end), name="wire in", daemon=True).start()

    def flush(self, seconds: float) -> None:
        """Return when all frames are on their way, or after `seconds`."""
        with self._ready:
            self._ready.wait_for(lambda: not any(self._lanes), seconds)

    def _read(self, accept: Callable[[Frame], None], end: Callable[[], None]) -> None:
        code = 0
        try:
            while (frame := read(self._take)) is not None:
                accept(order(frame))
        except BrokenFrame as error:
            sys.stderr.write(f"voice: {error}\n")
            code = BROKEN
        end()
        sys.stderr.flush()
        os._exit(code)

    def _take(self, count: int) -> bytes:
        pieces: list[bytes] = []
        while count > 0:
            piece = os.read(self._input, min(count, 1 << 20))
            if not piece:
                break
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)

    def _write(self) -> None:
        while True:
            with self._ready:
                self._ready.wait_for(lambda: any(self._lanes))
                lane = self._lanes[0] or self._lanes[1]
                data = memoryview(encode(lane[0]))
            try:
                while data:
                    data = data[os.write(self._output, data) :]
            except OSError:
                os._exit(0)
            with self._ready:
                lane.popleft()
                self._ready.notify_all()
