"""The program's log: JSON lines in home/logs, bounded in size, without secrets and without what was said."""

from __future__ import annotations

import json
import logging
import os
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from runtime.events import Event
from runtime.messages import JsonObject
from runtime.redaction import Redactor

NAME = "orion"
FILE = "orion.jsonl"
LIMIT = 1_000_000
KEPT = 3

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}
_TELLING = frozenset(
    {
        "old",
        "new",
        "source",
        "steering",
        "paused",
        "mode",
        "profile",
        "model",
        "reason",
        "iterations",
        "usage",
        "seconds",
        "code",
        "fault",
        "id",
        "final",
        "stop_reason",
        "prompt",
        "completion",
        "cached",
        "reasoning",
        "tokens_per_second",
        "window",
        "local",
        "state",
        "progress",
        "before",
        "after",
        "name",
        "risk",
        "kind",
        "rule",
        "decision",
        "trust",
        "door",
        "change",
    }
)


def record_of(event: Event) -> JsonObject:
    """What the log keeps of an event: its type, names, numbers and codes; of texts only their length."""
    kept: JsonObject = {}
    for name, value in event.as_dict().items():
        if name in _TELLING or name in ("type", "seq", "session", "turn"):
            kept[name] = value
        elif isinstance(value, str):
            kept[f"{name}_length"] = len(value)
    return kept


class LogFile(logging.Handler):
    """Appends records to `folder`/orion.jsonl. Several processes may write the same file.

    At `limit` bytes the file becomes orion.1.jsonl and so on; `kept` old ones stay. A log that cannot be
    written is given up silently: it must never be the reason that something else fails.
    """

    def __init__(self, folder: Path, *, door: str, limit: int = LIMIT, kept: int = KEPT) -> None:
        super().__init__()
        self._folder = folder
        self._door = door
        self._limit = limit
        self._kept = kept
        self._redactor = Redactor()

    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record) + "\n"
        try:
            self._append(line.encode("ascii", "backslashreplace"))
        except OSError:
            return

    def format(self, record: logging.LogRecord) -> str:
        """One line of JSON: time, level, door, process, thread, logger, message, extra fields, traceback."""
        entry: JsonObject = {
            "time": round(record.created, 3),
            "level": record.levelname.lower(),
            "door": self._door,
            "process": record.process,
            "thread": record.threadName,
            "logger": record.name,
            "message": record.getMessage(),
        }
        entry |= {name: value for name, value in vars(record).items() if name not in _STANDARD}
        if record.exc_info and record.exc_info[1] is not None:
            entry["traceback"] = "".join(traceback.format_exception(record.exc_info[1]))
        return json.dumps(self._redactor.data(entry), separators=(",", ":"))

    def _append(self, line: bytes) -> None:
        """One write in append mode, which other processes cannot cut in two."""
        file = self._folder / FILE
        handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        try:
            os.write(handle, line)
            full = os.fstat(handle).st_size >= self._limit
        finally:
            os.close(handle)
        if full:
            self._rotate(file)

    def _rotate(self, file: Path) -> None:
        """Shift the old files by one. Only the process that gets the marker file does it."""
        marker = self._folder / "orion.rotating"
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            self._free(marker)
            return
        try:
            if file.stat().st_size >= self._limit:
                for number in range(self._kept, 0, -1):
                    older = self._folder / (f"orion.{number - 1}.jsonl" if number > 1 else FILE)
                    if older.exists():
                        os.replace(older, self._folder / f"orion.{number}.jsonl")
        finally:
            marker.unlink(missing_ok=True)

    def _free(self, marker: Path) -> None:
        """Remove the marker of a process that died while it rotated: one that the log has outgrown twice."""
        if (self._folder / FILE).stat().st_size >= 2 * self._limit:
            marker.unlink(missing_ok=True)


@contextmanager
def logging_to(folder: Path, *, door: str, level: int = logging.INFO) -> Iterator[logging.Logger]:
    """Keep the log of this process in `folder` until the block ends; yields the logger to write to.

    Warnings of every library go there too, instead of to the error stream, and so do faults that end a
    thread. `level` is what the program's own logger keeps.
    """
    logger, root = logging.getLogger(NAME), logging.getLogger()
    handler = LogFile(folder, door=door)
    handler.addFilter(_is_ours_or_a_warning)
    level_before, hook_before = logger.level, threading.excepthook
    logger.setLevel(level)
    root.addHandler(handler)

    def on_thread_fault(fault: threading.ExceptHookArgs) -> None:
        logger.critical("uncaught in a thread", exc_info=fault.exc_value)
        hook_before(fault)

    threading.excepthook = on_thread_fault
    try:
        yield logger
    finally:
        threading.excepthook = hook_before
        root.removeHandler(handler)
        handler.close()
        logger.setLevel(level_before)


def _is_ours_or_a_warning(record: logging.LogRecord) -> bool:
    return record.name.partition(".")[0] == NAME or record.levelno >= logging.WARNING


def last_lines(folder: Path, count: int = 100) -> list[str]:
    """The newest `count` lines of the log, oldest first, read from at most 1 MB; empty when there is none."""
    lines: list[str] = []
    for name in (FILE, "orion.1.jsonl"):
        try:
            with (folder / name).open("rb") as stream:
                stream.seek(max((folder / name).stat().st_size - LIMIT, 0))
                lines = stream.read().decode("ascii", "backslashreplace").splitlines() + lines
        except OSError:
            continue
        if len(lines) >= count:
            break
    return lines[-count:]
