"""The child process that owns everything that sounds: orders come in as frames, events go out as frames."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback

from voice.child import Child
from voice.wire import Wire

FAULT = 70
"""The exit code after a mistake of the program in any of its threads."""

CLOSING = 2.0
"""Seconds that the end of stdin leaves for closing devices and voices."""


def main(arguments: list[str] | None = None) -> int:
    """Serve until stdin ends, which ends the process. Called by the entry point for `--worker voice`; there
    are no `arguments`."""
    del arguments
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Threads of the recogniser that wait for each other would keep a processor from those that play sound.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy only gets small pieces here
    wire = Wire()
    threading.excepthook = _fault
    child = Child(wire)
    ended = threading.Event()

    def end() -> None:
        child.stop()
        ended.wait(CLOSING)
        wire.flush(0.2)

    wire.listen(child.accept, end)
    try:
        child.serve()
        child.close()
    except Exception:  # noqa: BLE001 (a child's main: the door hears of it and starts another)
        traceback.print_exc()
        _leave()
    ended.set()
    threading.Event().wait()  # the reader ends the process
    return 0


def _fault(died: threading.ExceptHookArgs) -> None:
    """A thread of a part has died: a child without it would be half dead, and is better replaced."""
    traceback.print_exception(died.exc_type, died.exc_value, died.exc_traceback)
    _leave()


def _leave() -> None:
    sys.stderr.flush()
    os._exit(FAULT)
