"""Python's cyclic collector, run from the main thread only, because it may free Qt objects."""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

INTERVAL_MS = 2000
SETTLED_MS = 1000


class Collector(QObject):
    """Switches automatic collection off while it lives and collects from a timer, youngest objects first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self)
        self._timer.setObjectName("garbage")
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self.collect)
        self._timer.start()
        self._settled = QTimer(self)
        self._settled.setObjectName("garbage settled")
        self._settled.setSingleShot(True)
        self._settled.setInterval(SETTLED_MS)
        self._settled.timeout.connect(gc.freeze)

    def collect(self) -> None:
        """Collect each generation that has outgrown its threshold; cheap while nothing happens."""
        counts, limits = gc.get_count(), gc.get_threshold()
        for generation in (2, 1, 0):
            if counts[generation] > limits[generation]:
                gc.collect(generation)
                return

    def keep_soon(self) -> None:
        """Leave what is there a second from now out of every later round: it is the program itself, and
        looking it all over would hold the window up."""
        self._settled.start()

    def stop(self) -> None:
        """Give collection back to the interpreter; idempotent."""
        self._timer.stop()
        self._settled.stop()
        gc.unfreeze()
        gc.enable()
