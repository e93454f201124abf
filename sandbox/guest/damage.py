"""What is drawn on the screen, told by the X server itself, so that nobody needs to look for it."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from sandbox.guest.peer import PeerError
from sandbox.guest.rects import Rect, joined

_GENERIC = 35
"""X11's number of an event of a later extension."""


class Damage:
    """A connection of its own over which the server says what is drawn and that the pointer moves.

    The server reports the box around everything since the last report was taken; while nobody waits it has
    nothing to say and nothing is read, however much is drawn.
    """

    def __init__(self, x: Any) -> None:
        self._x = x
        self._root = x.screen().root
        self._logs: set[DamageLog] = set()
        self._damage = 0
        self._waiting = 0
        self._descriptor = x.fileno()
        self.pointer = (0, 0)

    def log(self, pointer: bool) -> DamageLog:
        """A log that begins now."""
        if not self._damage:
            self._begin()
        made = DamageLog(self, pointer)
        self._logs.add(made)
        return made

    def _begin(self) -> None:
        from Xlib.ext import damage, xinput

        self._x.damage_query_version()
        self._x.xinput_query_version()
        self._root.xinput_select_events([(xinput.AllMasterDevices, xinput.RawMotionMask)])
        self._damage = self._root.damage_create(damage.DamageReportBoundingBox)
        self._x.sync()
        self.drain()  # the server begins by calling the whole screen drawn
        self._x.sync()

    def forget(self, log: DamageLog) -> None:
        """Tell `log` nothing more."""
        self._logs.discard(log)

    def drain(self, *, settled: bool = False) -> None:
        """Tell all logs what the server has said. With `settled` the server has also begun its next report
        when this returns: what is drawn from now on is told later, what was drawn before can be seen."""
        from Xlib.error import ConnectionClosedError

        try:
            self._drain(settled)
        except (ConnectionClosedError, OSError) as error:
            raise PeerError("display_gone", str(error)) from error

    def _drain(self, settled: bool) -> None:
        self._read()
        if settled:
            found = self._root.query_pointer()
            self.pointer = found.root_x, found.root_y
            self._read()  # what came with that answer makes the descriptor readable no more

    def _read(self) -> None:
        from Xlib.ext import xinput

        drawn: list[Rect] = []
        moved = False
        for _ in range(self._x.pending_events()):
            event = self._x.next_event()
            if event.type == _GENERIC:
                moved = moved or event.evtype == xinput.RawMotion
            elif getattr(event, "damage", None) is not None:
                area = event.area
                drawn.append(Rect(area.x, area.y, area.width, area.height))
        if drawn:
            self._x.damage_subtract(self._damage)
            self._x.flush()
        for log in self._logs:
            log.told(drawn, moved)

    def listen(self) -> None:
        """Someone waits: read what the server says as it comes."""
        self._waiting += 1
        if self._waiting == 1:
            asyncio.get_running_loop().add_reader(self._descriptor, self._on_readable)

    def ignore(self) -> None:
        """One fewer waits."""
        self._waiting -= 1
        if self._waiting == 0:
            asyncio.get_running_loop().remove_reader(self._descriptor)

    def _on_readable(self) -> None:
        try:
            self.drain()
        except PeerError as error:
            for log in self._logs:
                log.lost(error)

    def close(self) -> None:
        """Leave the server; logs hear nothing more."""
        leave(self._x)


def leave(x: Any) -> None:
    """End a connection to an X server, also one that is broken."""
    from Xlib.error import ConnectionClosedError

    with contextlib.suppress(ConnectionClosedError, OSError):
        x.close()
    x.display.socket.close()


class DamageLog:
    """What was drawn since it was last taken. Loop's thread only; one task waits at a time."""

    def __init__(self, damage: Damage, pointer: bool) -> None:
        self._damage = damage
        self._pointer = pointer
        self._rects: list[Rect] = []
        self._moved = False
        self._fault: PeerError | None = None
        self._stirred = asyncio.Event()

    async def wait(self, seconds: float | None = None) -> bool:
        """Wait until something was drawn since `take` (or the pointer moved, if asked for); False after
        `seconds` without. PeerError("display_gone")."""
        self._damage.drain()
        if self._stirred.is_set():
            return True
        self._damage.listen()
        try:
            async with asyncio.timeout(seconds):
                await self._stirred.wait()
        except TimeoutError:
            return False
        finally:
            self._damage.ignore()
        if self._fault is not None:
            raise self._fault
        return True

    def take(self) -> list[Rect]:
        """What was drawn since the last time, coarsely: boxes that do not overlap. All of it can be seen by a
        capture made after this returns, and what is drawn later is told later."""
        self._damage.drain(settled=True)
        taken, self._rects, self._moved = joined(self._rects), [], False
        self._stirred.clear()
        return taken

    @property
    def pointer(self) -> tuple[int, int]:
        """Where the pointer was at the last `take`."""
        return self._damage.pointer

    def told(self, drawn: list[Rect], moved: bool) -> None:
        """The server said something."""
        self._rects += drawn
        self._moved = self._moved or moved
        if self._rects or (self._pointer and self._moved):
            self._stirred.set()

    def lost(self, error: PeerError) -> None:
        """The server is gone."""
        self._fault = error
        self._stirred.set()

    def close(self) -> None:
        """Be told nothing more."""
        self._damage.forget(self)
