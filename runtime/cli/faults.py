"""A mistake of the program at the terminal: one sentence for the user, the traceback for the log."""

from __future__ import annotations

import logging
import threading
from types import TracebackType


def on_fault(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """An exception hook (see sys.excepthook). The log lies in home/logs, see runtime/logs.py."""
    from runtime.cli.host import DOOR
    from runtime.logs import NAME, LogFile
    from runtime.paths import find_home

    record = logging.LogRecord(NAME, logging.CRITICAL, "", 0, "uncaught", (), (kind, error, trace))
    handler = LogFile(find_home().logs, door=DOOR)
    handler.emit(record)
    handler.close()
    _say(kind, error)


def on_thread_fault(fault: threading.ExceptHookArgs) -> None:
    """The same for a thread (see threading.excepthook), whose traceback the log has already."""
    _say(fault.exc_type, fault.exc_value)


def _say(kind: type[BaseException], error: BaseException | None) -> None:
    from runtime.cli.terminal import Terminal
    from runtime.redaction import plainly

    Terminal().fault("bug", {"problem": plainly(error) if error else kind.__name__})
