"""Holds a key on Windows and macOS: pynput listens to the keyboard, in a thread of its own."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence

from desktop.held_key import HeldKey

if TYPE_CHECKING:
    from desktop.hot_key import Told, Troubled

_NAMES = {"ins": "insert", "scrolllock": "scroll_lock", "capslock": "caps_lock", "numlock": "num_lock"}


class PynputGrab:
    """See Grab. `keyboard` is the module pynput.keyboard unless another is given."""

    def __init__(
        self, key: HeldKey, pressed: Told, released: Told, trouble: Troubled, keyboard: Any = None
    ) -> None:
        self._pressed, self._released = pressed, released
        self._keyboard = keyboard or importlib.import_module("pynput.keyboard")
        self._held: set[Any] = set()
        self._down = False
        self._listener: Any = None
        try:
            self._wanted = set(self._keyboard.HotKey.parse(pynput_name(key)))
        except ValueError:
            trouble("hot_key_unfit", {"key": key.words})
            return
        self._listener = self._keyboard.Listener(on_press=self._on_press, on_release=self._on_release)
        self._listener.start()
        if getattr(self._listener, "IS_TRUSTED", True) is False:
            trouble("hot_key_untrusted", {"key": key.words})

    def close(self) -> None:
        listener, self._listener = self._listener, None
        if listener is not None:
            listener.stop()
            listener.join()

    def _on_press(self, key: Any) -> None:
        self._held.add(self._listener.canonical(key))
        if not self._down and self._wanted <= self._held:
            self._down = True
            self._pressed()

    def _on_release(self, key: Any) -> None:
        self._held.discard(self._listener.canonical(key))
        if self._down and not self._wanted <= self._held:
            self._down = False
            self._released()


def pynput_name(key: HeldKey) -> str:
    """The key as pynput writes it, such as "<ctrl>+<space>"."""
    kinds = Qt.KeyboardModifier
    control, meta = ("cmd", "ctrl") if sys.platform == "darwin" else ("ctrl", "cmd")
    names = {kinds.ControlModifier: control, kinds.AltModifier: "alt"}
    names |= {kinds.ShiftModifier: "shift", kinds.MetaModifier: meta}
    written = QKeySequence(key.key).toString(QKeySequence.SequenceFormat.PortableText).lower()
    last = written if len(written) == 1 else f"<{_NAMES.get(written, written)}>"
    return "+".join([*(f"<{name}>" for kind, name in names.items() if kind in key.modifiers), last])
