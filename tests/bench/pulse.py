"""How long the main thread works in one round of the Qt loop: what a person feels as a frame or a stall."""

from __future__ import annotations

import time
from dataclasses import dataclass

from PySide6.QtCore import QAbstractEventDispatcher, QEvent, QObject


@dataclass(frozen=True, slots=True)
class Beat:
    """One round of the loop: the milliseconds in which the thread was running (waiting for events or for
    another thread is none), and whether the watched widget was painted in it."""

    ran: float
    painted: bool


class Pulse(QObject):
    """Records every round of the loop from now on, from one wait for events to the next. Made on the main
    thread."""

    def __init__(self) -> None:
        super().__init__()
        self.beats: list[Beat] = []
        self._ran = time.thread_time()
        self._painted = False
        QAbstractEventDispatcher.instance().aboutToBlock.connect(self._on_about_to_block)

    def watch(self, widget: QObject) -> None:
        """Mark the rounds in which `widget` is painted."""
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        del watched
        if event.type() == QEvent.Type.Paint:
            self._painted = True
        return False

    def _on_about_to_block(self) -> None:
        now = time.thread_time()
        self.beats.append(Beat(1000 * (now - self._ran), self._painted))
        self._ran, self._painted = now, False
