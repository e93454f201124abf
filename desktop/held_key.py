"""A key that is held to talk: what may be one, and how the window notices that it goes down and up."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QKeyCombination, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QWindow
from PySide6.QtWidgets import QApplication, QKeySequenceEdit, QWidget

_MODIFIERS = {
    Qt.KeyboardModifier.ControlModifier: Qt.Key.Key_Control,
    Qt.KeyboardModifier.AltModifier: Qt.Key.Key_Alt,
    Qt.KeyboardModifier.ShiftModifier: Qt.Key.Key_Shift,
    Qt.KeyboardModifier.MetaModifier: Qt.Key.Key_Meta,
}
REPEATS_MS = 12
"""A key that is pressed again so soon was not let go: it repeats."""

_FIRST_SILENT = 0x01000000
"""Qt's keys from here on stand for no character."""
_TAKEN = (
    *(Qt.Key.Key_Escape, Qt.Key.Key_Tab, Qt.Key.Key_Backtab, Qt.Key.Key_Backspace, Qt.Key.Key_Return),
    *(Qt.Key.Key_Enter, Qt.Key.Key_Delete, Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_PageUp),
    *(Qt.Key.Key_PageDown, Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down),
)


@dataclass(frozen=True, slots=True)
class HeldKey:
    """One key with the modifiers that must be down when it goes down."""

    key: Qt.Key
    modifiers: Qt.KeyboardModifier

    @property
    def name(self) -> str:
        """As it is written in the settings: portable, such as "Ctrl+Space"."""
        return self._sequence().toString(QKeySequence.SequenceFormat.PortableText)

    @property
    def words(self) -> str:
        """As the platform writes it."""
        return self._sequence().toString(QKeySequence.SequenceFormat.NativeText)

    @property
    def modifier_keys(self) -> tuple[Qt.Key, ...]:
        """The keys of its modifiers."""
        return tuple(key for modifier, key in _MODIFIERS.items() if modifier in self.modifiers)

    def _sequence(self) -> QKeySequence:
        return QKeySequence(int(self.modifiers.value) | int(self.key))


def held_key(text: str) -> HeldKey | None:
    """The key that `text` names as in the settings; None for something that is no key, is needed for writing
    or moving about, or would write a character while it is held."""
    sequence = QKeySequence(text, QKeySequence.SequenceFormat.PortableText)
    if sequence.count() != 1:
        return None
    pressed: QKeyCombination = sequence[0]  # type: ignore[index]  # it can be indexed, the types forgot
    key, modifiers = pressed.key(), pressed.keyboardModifiers()
    writing = modifiers & ~Qt.KeyboardModifier.ShiftModifier == Qt.KeyboardModifier.NoModifier
    if key in (Qt.Key.Key_unknown, *_MODIFIERS.values()) or key in _TAKEN:
        return None
    if writing and int(key) < _FIRST_SILENT:
        return None
    return HeldKey(key, modifiers)


class Hold(QObject):
    """Tells a key that repeats from one that is let go: X servers send both for each repetition, the next
    press right behind. `began` once when it goes down, `ended` once when it stays up."""

    began = Signal()
    ended = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.down = False
        self._up = QTimer(self)
        self._up.setObjectName("key goes up")
        self._up.setSingleShot(True)
        self._up.setInterval(REPEATS_MS)
        self._up.timeout.connect(self.end)

    def press(self) -> None:
        """The key was pressed, or repeats."""
        self._up.stop()
        if not self.down:
            self.down = True
            self.began.emit()

    def release(self) -> None:
        """The key was let go, unless it repeats."""
        if self.down:
            self._up.start()

    def end(self) -> None:
        """The key counts as up from now on."""
        self._up.stop()
        if self.down:
            self.down = False
            self.ended.emit()


class WindowKey(QObject):
    """Watches one window for the key: `pressed` once when it goes down, `released` once when it or one of its
    modifiers goes up or the window loses the keyboard. No other part of the window sees the key, but for a
    field in which a key is chosen."""

    pressed = Signal()
    released = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._key: HeldKey | None = None
        self._talks = False
        """It is down with its modifiers. It may stay down alone: what it repeats then is not written."""
        self._hold = Hold(self)
        self._hold.began.connect(self._begin)
        self._hold.ended.connect(self._end)

    def set_key(self, key: HeldKey | None) -> None:
        """Watch for `key` from now on; None for no key."""
        self._hold.end()
        self._key = key
        self._watch()

    def _watch(self) -> None:
        """The keys of a window pass its native window first; it is there once the window is shown."""
        handle: QWindow | None = self._window.windowHandle()
        if handle is None:
            self._window.installEventFilter(self)
        else:
            self._window.removeEventFilter(self)
            handle.removeEventFilter(self)
            handle.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if watched is self._window:
            if kind == QEvent.Type.Show:
                self._watch()
            return False
        if self._key is None:
            return False
        if kind == QEvent.Type.FocusOut:
            self._hold.end()
        elif kind == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._on_press(event, self._key)
        elif kind == QEvent.Type.KeyRelease and isinstance(event, QKeyEvent):
            return self._on_release(event, self._key)
        return False

    def _on_press(self, event: QKeyEvent, key: HeldKey) -> bool:
        if event.key() != key.key or isinstance(QApplication.focusWidget(), QKeySequenceEdit):
            return False
        wanted = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier == key.modifiers
        if not self._hold.down and (event.isAutoRepeat() or not wanted):
            return False
        self._hold.press()
        return True

    def _on_release(self, event: QKeyEvent, key: HeldKey) -> bool:
        if event.key() == key.key and self._hold.down:
            if not event.isAutoRepeat():
                self._hold.release()
            return True
        if event.key() in key.modifier_keys:
            self._end()
        return False

    def _begin(self) -> None:
        self._talks = True
        self.pressed.emit()

    def _end(self) -> None:
        if self._talks:
            self._talks = False
            self.released.emit()
