"""The program's window with its live pane open, which tells what it painted; runs in a process of its own."""

from __future__ import annotations

import sys
import time
from typing import Any

from PySide6.QtCore import QEvent, QObject, QSocketNotifier, QTimer

from runtime.computer_events import StateChanged
from tests.bench.pulse import Pulse
from tests.bench.window_probe import orion, tell

SPOTS = {"drawn": (104, 104), "scrolled": (30, 130)}
"""Pixels of the guest's screen whose colours count what is drawn there."""


class Watcher(QObject):
    """Starts the sandbox in the pane, then notes the colours at SPOTS after each paint; a line on the
    standard input, of seconds, has it tell them and every round of the loop when these are over."""

    def __init__(self, desktop: Any) -> None:
        super().__init__(desktop)
        self._desktop = desktop
        self._seen: dict[str, dict[int, float]] = {name: {} for name in SPOTS}
        self._pulse = Pulse()
        self._processor = time.process_time()
        self._painted = 0
        desktop.bridge.computed.connect(self._on_event)
        self._notifier = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_line)
        desktop.live.open()
        desktop.live.pane.view.viewport().installEventFilter(self)
        desktop.live.pane.asked.emit("start")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            QTimer.singleShot(0, self, self._on_painted)
        return super().eventFilter(watched, event)

    def _on_event(self, event: Any) -> None:
        if isinstance(event, StateChanged) and event.state.phase == "running":
            QTimer.singleShot(4000, self, lambda: tell(running=True))
        elif isinstance(event, StateChanged) and event.state.code:
            tell(running=False, code=event.state.code)

    def _on_painted(self) -> None:
        view = self._desktop.live.pane.view
        fit, image = view.fit, view.image
        self._painted += 1
        if fit is None or image.isNull():
            return
        for name, (x, y) in SPOTS.items():
            colour = image.pixel(x * fit.width // fit.guest[0], y * fit.height // fit.guest[1]) & 0xFFFFFF
            self._seen[name].setdefault(colour, time.time())

    def _on_line(self) -> None:
        seconds = sys.stdin.readline().strip()
        if not seconds:
            self._notifier.setEnabled(False)
            self._desktop.window.close()
        else:
            QTimer.singleShot(round(1000 * float(seconds)), self, self._tell)

    def _tell(self) -> None:
        spent, self._processor = time.process_time() - self._processor, time.process_time()
        beats = [beat.ran for beat in self._pulse.beats]
        tell(seen=self._seen, beats=beats, processor=spent, painted=self._painted)
        self._seen = {name: {} for name in SPOTS}
        self._pulse.beats.clear()
        self._painted = 0


if __name__ == "__main__":
    raise SystemExit(orion(time.monotonic(), Watcher))
