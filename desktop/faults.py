"""No exception is lost: those that escape a slot, a thread or the loop are logged and shown."""

from __future__ import annotations

import faulthandler
import logging
import sys
import threading
import traceback
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TextIO

from PySide6.QtCore import QMessageLogContext, QObject, QtMsgType, Signal, qInstallMessageHandler

_log = logging.getLogger("orion.desktop.faults")
_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


class Faults(QObject):
    """Collects what escaped. `raised` carries one line for the user; it is emitted on the thread that failed,
    so connect it queued. Call `restore` to give the interpreter its own hooks back."""

    raised = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._native: TextIO | None = None

    def install(self, logs: Path | None = None) -> None:
        """Hook every edge where an exception can escape; native crashes leave their stacks in `logs`."""
        sys.excepthook = self._on_escaped
        sys.unraisablehook = self._on_unraisable
        threading.excepthook = self._on_thread
        qInstallMessageHandler(_on_qt_message)
        if logs is not None:
            with suppress(OSError):  # where nothing can be written, the runtime says so in a sentence
                self._native = (logs / "native-crash.log").open("a", encoding="utf-8")
                faulthandler.enable(self._native)

    def restore(self) -> None:
        """Undo `install`; idempotent."""
        sys.excepthook = sys.__excepthook__
        sys.unraisablehook = sys.__unraisablehook__
        threading.excepthook = threading.__excepthook__
        qInstallMessageHandler(None)
        if self._native is not None:
            faulthandler.disable()
            self._native.close()
            self._native = None

    def report(self, error: BaseException, where: str) -> None:
        """Log `error` with its traceback and tell the window; safe on any thread."""
        lines = traceback.format_exception(error)
        _log.critical("unexpected fault in %s\n%s", where, "".join(lines))
        self.raised.emit(f"{type(error).__name__}: {error}"[:300])

    def _on_escaped(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        self.report(error.with_traceback(trace), "slot")

    def _on_unraisable(self, unraisable: sys.UnraisableHookArgs) -> None:
        if unraisable.exc_value is not None:
            self.report(unraisable.exc_value, "finaliser")

    def _on_thread(self, arguments: threading.ExceptHookArgs) -> None:
        if arguments.exc_value is not None:
            self.report(arguments.exc_value, "thread")


def _on_qt_message(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    logging.getLogger("orion.qt").log(_LEVELS.get(kind, logging.WARNING), "%s", message)
