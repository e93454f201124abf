"""The program's window with a measuring device in it; runs in a process of its own and prints JSON lines."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication, QLabel, QMainWindow, QWidget

SETTLE_MS = 1500
"""How long the window is left alone before it is called idle."""


def tell(**facts: Any) -> None:
    """Print one JSON line."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


class FirstPaint(QObject):
    """Calls `then` once, after the next paint of `widget` has reached the screen."""

    def __init__(self, widget: QWidget, then: Callable[[], object]) -> None:
        super().__init__(widget)
        self._then = then
        self._seen = False
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and not self._seen:
            self._seen = True
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self._then)
        return False


def _tell_first_frame(begin: float) -> None:
    tell(first_frame=time.monotonic() - begin, processor=time.process_time())


def bare(begin: float) -> int:
    """A window with one label: the least that Qt itself costs."""
    app = QApplication([])
    window = QMainWindow()
    window.setCentralWidget(QLabel("Hello"))
    window.resize(1120, 760)
    FirstPaint(window, lambda: _tell_first_frame(begin))
    window.show()
    QTimer.singleShot(SETTLE_MS, lambda: tell(idle=True))
    return app.exec()


def orion(begin: float, use: Callable[[Any], object]) -> int:
    """The whole program; `use(desktop)` is called when its runtime is ready."""
    from desktop import application

    class Probed(application.Desktop):
        """Tells when the first frame is on the screen."""

        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            FirstPaint(self.window, lambda: _tell_first_frame(begin))
            self.bridge.ready.connect(lambda _: use(self))

    application.Desktop = Probed  # type: ignore[misc, assignment]
    return application.run()


def start(desktop: Any) -> None:
    """Leave the window alone, then say that it is idle."""
    del desktop
    QTimer.singleShot(SETTLE_MS, lambda: tell(idle=True))


class Opener(QObject):
    """Opens sessions one after the other and tells the milliseconds until each is on the screen."""

    def __init__(self, desktop: Any, sessions: list[str]) -> None:
        super().__init__(desktop)
        self._desktop = desktop
        self._left = sessions
        self._begin = 0.0
        self._wanted = ""
        desktop.talks.shown.connect(self._on_shown)
        QTimer.singleShot(SETTLE_MS, self._next)

    def _next(self) -> None:
        if not self._left:
            tell(opened=None)
            self._desktop.window.close()
            return
        self._wanted = self._left.pop(0)
        self._begin = time.monotonic()
        self._desktop.talks.open(self._wanted)

    def _on_shown(self, card: dict[str, Any]) -> None:
        if card["id"] == self._wanted:
            FirstPaint(self._desktop.window.chats.view.canvas.viewport(), self._painted)

    def _painted(self) -> None:
        tell(opened=1000 * (time.monotonic() - self._begin))
        QTimer.singleShot(SETTLE_MS, self._next)


class Talker(QObject):
    """Says something, lets the answer stream, opens a long session meanwhile and comes back, looks at the
    settings and changes the theme; then tells every round of the main thread's loop."""

    def __init__(self, desktop: Any, other: str) -> None:
        super().__init__(desktop)
        from tests.bench.pulse import Pulse

        self._desktop = desktop
        self._other = other
        self._pulse = Pulse()
        self._talk = ""
        self._done = 0
        desktop.talks.happened.connect(self._on_event)
        QTimer.singleShot(SETTLE_MS, self._first)

    def _first(self) -> None:
        self._talk = self._desktop.talks.current
        self._pulse.watch(self._desktop.window.chats.view.canvas.viewport())
        self._pulse.beats.clear()
        self._desktop.talks.submit("Tell me everything.", [])

    def _on_event(self, event: Any) -> None:
        if event.body.type != "done":
            return
        self._done += 1
        if self._done == 1:
            self._tell("streaming")
            self._desktop.talks.submit("Once more, please.", [])
            QTimer.singleShot(500, lambda: self._desktop.talks.open(self._other))
            QTimer.singleShot(1500, lambda: self._desktop.talks.open(self._talk))
            QTimer.singleShot(2500, lambda: self._desktop.window.show_page("settings"))
            QTimer.singleShot(3000, self._desktop.window.show_chat)
            QTimer.singleShot(3500, lambda: self._desktop.window.resize(900, 600))
            QTimer.singleShot(4000, lambda: self._desktop.looks.choose("dark"))
        else:
            self._tell("use")
            self._desktop.window.close()

    def _tell(self, name: str) -> None:
        beats = [(beat.ran, beat.painted) for beat in self._pulse.beats]
        self._pulse.beats.clear()
        tell(name=name, beats=beats)


class Conversation(QObject):
    """Holds the key for so many seconds once the microphone listens, lets the answer be spoken, cuts it off
    after a few clauses, throws the next words away, and tells every round of the main thread's loop."""

    CLAUSES = 3

    def __init__(self, desktop: Any, seconds: float) -> None:
        super().__init__(desktop)
        from tests.bench.pulse import Pulse

        self._desktop = desktop
        self._seconds = seconds
        self._pulse = Pulse()
        self._clauses = 0
        self._asked = self._cut = False
        desktop.bridge.spoke.connect(self._on_event)
        QTimer.singleShot(SETTLE_MS, self._begin)

    def _begin(self) -> None:
        self._pulse.beats.clear()
        self._desktop.voice.press(self)

    def _on_event(self, event: Any) -> None:
        kind = type(event).__name__
        if kind == "State" and event.state == "hearing" and event.open:
            self._on_listening()
        elif kind == "Speaking":
            self._clauses += 1
            if self._clauses == self.CLAUSES:
                self._cut = True
                self._desktop.voice.press(self)
        elif kind == "Final" and self._cut:
            beats = [(beat.ran, beat.painted) for beat in self._pulse.beats]
            tell(heard=self._clauses, beats=beats)
            self._desktop.window.close()

    def _on_listening(self) -> None:
        if not self._asked:
            self._asked = True
            tell(listening=True)
            QTimer.singleShot(round(1000 * self._seconds), lambda: self._desktop.voice.release(self))
        elif self._cut:
            QTimer.singleShot(500, self._throw_away)

    def _throw_away(self) -> None:
        self._desktop.voice.take_escape()
        self._desktop.voice.release(self)


def main(arguments: list[str]) -> int:
    """`bare | start | open | talk | voice`, the monotonic time of the start in the parent, and what to open
    or how long to hold."""
    kind, begin, rest = arguments[0], float(arguments[1]), arguments[2:]
    match kind:
        case "bare":
            return bare(begin)
        case "start":
            return orion(begin, start)
        case "open":
            return orion(begin, lambda desktop: Opener(desktop, rest))
        case "voice":
            return orion(begin, lambda desktop: Conversation(desktop, float(rest[0])))
        case _:
            return orion(begin, lambda desktop: Talker(desktop, rest[0]))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
