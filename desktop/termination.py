"""Ctrl+C in the terminal and a polite kill end the window like closing it does."""

from __future__ import annotations

import signal
import socket
from types import FrameType

from PySide6.QtCore import QObject, QSocketNotifier, Signal


class Termination(QObject):
    """`requested` fires on SIGINT or SIGTERM. Python runs signal handlers only when it runs at all, so a
    socket wakes the Qt loop. Main thread only; call `restore` at the end."""

    requested = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ours, theirs = socket.socketpair()
        self._theirs = theirs
        self._ours.setblocking(False)
        theirs.setblocking(False)
        self._notifier = QSocketNotifier(self._ours.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_woken)
        self._before = {number: signal.signal(number, self._on_signal) for number in _SIGNALS}
        self._wakeup = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)

    def restore(self) -> None:
        """Give the signals back; idempotent."""
        if self._theirs.fileno() < 0:
            return
        signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._notifier.setEnabled(False)
        self._ours.close()
        self._theirs.close()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.requested.emit()

    def _on_woken(self) -> None:
        self._ours.recv(64)


_SIGNALS = (signal.SIGINT, signal.SIGTERM)
