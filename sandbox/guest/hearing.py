"""Tells when the program in front has read all keys and clicks that were sent to it."""

from __future__ import annotations

import asyncio
import time
from typing import Any

SUBSTRUCTURE_NOTIFY = 1 << 19
CLIENT_MESSAGE, MAPPING_NOTIFY = 33, 34
ANY_TYPE = 0


class Hearing:
    """Asks the active window by _NET_WM_PING, which programs answer from the queue their keys arrive in.

    A program that does not know the question (xterm) is given `patience` seconds instead. One that knows it
    and is busy is waited for, once at most `longest` seconds, and then only `patience` until it answers.
    Uses the given X connection, which nobody else reads events from; one question at a time.
    """

    def __init__(self, display: Any, patience: float = 0.03, longest: float = 3.0) -> None:
        self._x = display
        self._root = display.screen().root
        self._patience = patience
        self._longest = longest
        self._active = display.intern_atom("_NET_ACTIVE_WINDOW")
        self._protocols = display.intern_atom("WM_PROTOCOLS")
        self._ping = display.intern_atom("_NET_WM_PING")
        self._asked = 0
        self._remapped = False
        self._silent = 0
        self._root.change_attributes(event_mask=SUBSTRUCTURE_NOTIFY)

    async def heard(self) -> bool:
        """Return once everything sent so far was read; False when it is only supposed."""
        window = self._window()
        if window is None:
            self._x.sync()
            await asyncio.sleep(self._patience)
            return False
        self._asked = self._asked % 0x7FFFFFFF + 1
        from Xlib.protocol import event

        data = (32, [self._ping, self._asked, window.id, 0, 0])
        window.send_event(event.ClientMessage(window=window, client_type=self._protocols, data=data))
        self._x.flush()
        answered = await self._answered(window.id)
        self._silent = 0 if answered else window.id
        return answered

    def _window(self) -> Any:
        """The active window, where it answers questions."""
        from Xlib.error import XError

        try:
            found = self._root.get_full_property(self._active, ANY_TYPE)
            if found is None or not found.value or not found.value[0]:
                return None
            window = self._x.create_resource_object("window", found.value[0])
            protocols = window.get_full_property(self._protocols, ANY_TYPE)
        except XError:  # it has just been closed
            return None
        return window if protocols is not None and self._ping in protocols.value else None

    async def _answered(self, window: int) -> bool:
        deadline = time.monotonic() + (self._patience if window == self._silent else self._longest)
        loop, readable = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._x.fileno(), readable.set)
        try:
            while True:
                readable.clear()
                while self._x.pending_events():
                    if self._is_answer(self._x.next_event(), window):
                        return True
                async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                    await readable.wait()
        except TimeoutError:
            return False
        finally:
            loop.remove_reader(self._x.fileno())

    def _is_answer(self, event: Any, window: int) -> bool:
        self._remapped = self._remapped or event.type == MAPPING_NOTIFY
        if event.type != CLIENT_MESSAGE or event.client_type != self._protocols:
            return False
        _size, data = event.data
        return bool(data[0] == self._ping and data[1] == self._asked and data[2] == window)

    def remapped(self) -> bool:
        """Whether the keymap has changed since this was asked; what else was heard is thrown away."""
        while self._x.pending_events():
            self._is_answer(self._x.next_event(), 0)
        remapped, self._remapped = self._remapped, False
        return remapped
