"""A key that is held to talk while any other program has the keyboard, by whatever way the desktop offers."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from desktop.held_key import HeldKey, held_key

Fields = dict[str, str | int | float]


class Grab(Protocol):
    """One key held by one of the ways; its thread calls what it was made with."""

    def close(self) -> None:
        """Give the key back and end the thread; nothing is called afterwards. Idempotent."""


Told = Callable[[], object]
Troubled = Callable[[str, Fields], object]
Way = Callable[[HeldKey, Told, Told, Troubled], Grab]


class HotKey(QObject):
    """`pressed` once when the key goes down anywhere, `released` once when it comes up; `trouble` carries
    code and fields where it cannot be had. Used on the main thread; `close` before the application ends."""

    pressed = Signal()
    released = Signal()
    trouble = Signal(str, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._written = ""
        self._grab: Grab | None = None

    def set_key(self, written: str) -> None:
        """Hold the key that `written` names as in the settings; "" for none."""
        if written == self._written:
            return
        self.close()
        self._written = written
        if not written:
            return
        key, found = held_key(written), way()
        if key is None:
            self.trouble.emit("hot_key_unfit", {"key": written})
        elif found is None:
            self.trouble.emit("hot_key_impossible", {"key": key.words})
        else:
            self._grab = found(key, self.pressed.emit, self.released.emit, self.trouble.emit)

    def close(self) -> None:
        """Give the key back, as if it had been let go; idempotent."""
        self._written = ""
        grab, self._grab = self._grab, None
        if grab is not None:
            grab.close()
            self.released.emit()


def way() -> Way | None:
    """How a key is held on this desktop; None where no way is known. Imports what that needs."""
    if sys.platform in ("win32", "darwin"):
        from desktop.hot_key_pynput import PynputGrab

        return PynputGrab
    if QGuiApplication.platformName().startswith("wayland") or os.environ.get("WAYLAND_DISPLAY"):
        from desktop.hot_key_portal import PortalGrab

        return PortalGrab
    if os.environ.get("DISPLAY"):
        from desktop.hot_key_x11 import X11Grab

        return X11Grab
    return None


def obstacle() -> str:
    """The code of the sentence that says why no key can be held here; "" where one can."""
    return "" if way() is not None else "hot_key_impossible"
