"""Holds a key on X11: a passive grab of the root window, on a connection and a thread of its own."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence

from desktop.held_key import HeldKey

if TYPE_CHECKING:
    from desktop.hot_key import Told, Troubled

_NAMES = {
    Qt.Key.Key_Space: "space",
    Qt.Key.Key_Insert: "Insert",
    Qt.Key.Key_Pause: "Pause",
    Qt.Key.Key_Print: "Print",
    Qt.Key.Key_ScrollLock: "Scroll_Lock",
    Qt.Key.Key_NumLock: "Num_Lock",
    Qt.Key.Key_CapsLock: "Caps_Lock",
    Qt.Key.Key_Menu: "Menu",
    Qt.Key.Key_Help: "Help",
}


class X11Grab:
    """See Grab. The key repeats while it is held; what counts is the key itself, as the server knows it."""

    def __init__(self, key: HeldKey, pressed: Told, released: Told, trouble: Troubled) -> None:
        self._key = key
        self._pressed, self._released, self._trouble = pressed, released, trouble
        self._down = False
        self._wake, self._waker = os.pipe()
        self._thread = threading.Thread(target=self._run, name="hot key", daemon=True)
        self._thread.start()

    def close(self) -> None:
        if self._waker >= 0:
            os.close(self._waker)
            self._waker = -1
            self._thread.join()
            os.close(self._wake)

    def _run(self) -> None:
        from Xlib import display, error

        try:
            connection = display.Display()
        except (error.DisplayError, OSError) as problem:
            self._trouble("hot_key_no_display", {"key": self._key.words, "reason": str(problem)})
            return
        try:
            if self._take(connection):
                self._listen(connection)
        except (error.ConnectionClosedError, OSError) as problem:
            self._trouble("hot_key_no_display", {"key": self._key.words, "reason": str(problem)})
        else:
            connection.close()

    def _take(self, connection: Any) -> bool:
        """Grab the key with every state of the locks; False, after a word, where that cannot be."""
        from Xlib import X, error

        code = connection.keysym_to_keycode(_keysym(self._key))
        if not code:
            self._trouble("hot_key_unfit", {"key": self._key.words})
            return False
        root, refused = connection.screen().root, error.CatchError(error.BadAccess)
        for mask in _masks(self._key, connection):
            root.grab_key(code, mask, False, X.GrabModeAsync, X.GrabModeAsync, onerror=refused)
        connection.sync()
        if refused.get_error() is not None:
            root.ungrab_key(code, X.AnyModifier)
            connection.sync()
            self._trouble("hot_key_taken", {"key": self._key.words})
            return False
        self._code = code
        return True

    def _listen(self, connection: Any) -> None:
        """Until closed."""
        while True:
            while connection.pending_events():
                self._on_event(connection.next_event(), connection)
            ready, _, _ = select.select([connection.fileno(), self._wake], [], [])
            if self._wake in ready:
                return

    def _on_event(self, event: Any, connection: Any) -> None:
        from Xlib import X

        if event.type == X.KeyPress and event.detail == self._code and not self._down:
            self._down = True
            self._pressed()
        elif event.type == X.KeyRelease and event.detail == self._code and self._down:
            held = connection.query_keymap()[self._code // 8] >> self._code % 8 & 1
            if not held:  # a key that repeats says it is let go each time, and is still down
                self._down = False
                self._released()
        elif event.type == X.MappingNotify:
            connection.refresh_keyboard_mapping(event)
            if connection.keysym_to_keycode(_keysym(self._key)) != self._code:
                connection.screen().root.ungrab_key(self._code, X.AnyModifier)
                self._take(connection)


def _keysym(key: HeldKey) -> int:
    """X's number for the key; 0 for one that X does not name."""
    from Xlib import XK

    if name := _NAMES.get(key.key):
        return int(XK.string_to_keysym(name))
    written = QKeySequence(key.key).toString(QKeySequence.SequenceFormat.PortableText)
    if len(written) == 1:
        letter = ord(written.lower())
        return letter if letter < 0x100 else 0x01000000 + letter
    return int(XK.string_to_keysym(written))


def _masks(key: HeldKey, connection: Any) -> Iterator[int]:
    """The key's modifiers with every state of the locks, which must not matter."""
    from Xlib import XK, X

    kinds = Qt.KeyboardModifier
    wanted = {
        kinds.ControlModifier: X.ControlMask,
        kinds.AltModifier: X.Mod1Mask,
        kinds.ShiftModifier: X.ShiftMask,
        kinds.MetaModifier: X.Mod4Mask,
    }
    mask = sum(bit for modifier, bit in wanted.items() if modifier in key.modifiers)
    locks = [X.LockMask]
    for name in ("Num_Lock", "Scroll_Lock"):
        code = connection.keysym_to_keycode(XK.string_to_keysym(name))
        for index, codes in enumerate(connection.get_modifier_mapping()):
            if code and code in codes:
                locks.append(1 << index)
    free = [bit for bit in dict.fromkeys(locks) if not bit & mask]
    for count in range(len(free) + 1):
        for chosen in combinations(free, count):
            yield mask | sum(chosen)
