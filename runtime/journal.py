"""The append-only file that is the truth of one session."""

from __future__ import annotations

import errno
import json
import os
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json

from runtime.errors import OrionError

VERSION = 1

# Written through to the disk before the program goes on: what the user said or decided, and what is about
# to happen to their world or has happened.
DURABLE = frozenset(
    {"session", "user", "queued", "approval", "tool_intent", "tool_result", "undo", "heard", "done"}
)

_TITLED = ("session", "title")

# What each type must carry to be folded; a record without it is damaged.
_SAID = (("text", str), ("source", str))
_REQUIRED: dict[str, tuple[tuple[str, type | tuple[type, ...]], ...]] = {
    "user": _SAID,
    "queued": _SAID,
    "assistant": (
        ("text", str),
        ("reasoning", list),
        ("calls", list),
        ("complete", bool),
        ("stop_reason", str),
    ),
    "tool_intent": (("call", str), ("name", str)),
    "tool_result": (
        ("call", str),
        ("parts", list),
        ("ok", bool),
        ("kind", str),
        ("details", dict),
        ("seconds", (int, float)),
    ),
    "approval": (("call", str), ("phase", str)),
    "undo": (("change", str), ("files", list)),
    "heard": (("of", str), ("text", str), ("whole", bool)),
    "note": (("text", str),),
    "compaction": (("keep", str), ("limit", int), ("before", int), ("after", int)),
    "recall": (("turn", str), ("text", str)),
    "title": (("title", str),),
    "error": (("code", str), ("fields", dict)),
    "done": (("reason", str),),
}


class Record(NamedTuple):
    """One line: envelope {v, id, parent, time, type} and the payload of its type."""

    id: str
    parent: str | None
    time: float
    type: str
    data: dict[str, Any]

    def line(self) -> bytes:
        """JSON with ASCII escapes, so that lone surrogates survive."""
        envelope = {"v": VERSION, "id": self.id, "parent": self.parent, "time": self.time, "type": self.type}
        return json.dumps(envelope | self.data, separators=(",", ":")).encode("ascii") + b"\n"


@dataclass(frozen=True, slots=True)
class Damage:
    """A record that could not be read: its 1-based line in the journal and the file it was copied to."""

    line: int
    kept_in: str


class Journal:
    """The records of a session, in memory and on disk; `path` None keeps them in memory only.

    `title` is the last one given. Owned by one session under its lock; used from one thread; closed by
    the owner.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.records: list[Record] = []
        self.damage: list[Damage] = []
        self.head: str | None = None
        self.title = ""
        self._fd = -1
        self._size = 0
        if path is not None:
            self._open(path)

    def _open(self, path: Path) -> None:
        existing = path.read_bytes() if path.exists() else b""
        good, self.records, bad = parse(existing, path)
        self.head = self.records[-1].id if self.records else None
        titled = (record for record in reversed(self.records) if record.type in _TITLED)
        self.title = _title(next(titled, None))
        self.damage = keep_aside(path, bad)
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            if good < len(existing):
                os.ftruncate(self._fd, good)
            elif existing and not existing.endswith(b"\n"):
                os.write(self._fd, b"\n")
            self._size = os.fstat(self._fd).st_size
        except OSError as error:
            self.close()
            raise _storage_error(error, path) from error
        if not existing:
            _sync_folder(path.parent)

    def append(self, type_: str, /, *, parent: str | None = None, **data: Any) -> Record:
        """Add a record under `parent` (the head unless told otherwise); it becomes the head.

        Returns once the record is as durable as its type demands. Raises OrionError `disk_full` or
        `journal_unwritable` with nothing half-written left behind.
        """
        record = Record(secrets.token_hex(6), parent or self.head, time.time(), type_, data)
        if self._fd >= 0:
            self._write(record)
        self.records.append(record)
        self.head = record.id
        if type_ in _TITLED:
            self.title = _title(record)
        return record

    @property
    def open(self) -> bool:
        """Whether what is appended reaches the disk."""
        return self._fd >= 0

    def _write(self, record: Record) -> None:
        assert self.path is not None
        line = record.line()
        try:
            written = os.write(self._fd, line)
            while written < len(line):
                written += os.write(self._fd, line[written:])
            if record.type in DURABLE:
                os.fsync(self._fd)
        except OSError as error:
            os.ftruncate(self._fd, self._size)
            raise _storage_error(error, self.path) from error
        self._size += len(line)

    def branch(self, record_id: str | None) -> None:
        """Move the head back to `record_id`, so that what is appended next begins a new branch there."""
        self.head = record_id

    def chain(self) -> list[Record]:
        """The records from the first one to the head along the parents."""
        records = self.records
        if records and records[-1].id == self.head and _is_line(records):
            return list(records)
        by_id = {record.id: position for position, record in enumerate(self.records)}
        found: list[Record] = []
        position = by_id.get(self.head, -1) if self.head else -1
        while position >= 0:
            record = self.records[position]
            found.append(record)
            if record.parent is None:
                break
            before = by_id.get(record.parent, position)
            # Where the parent was lost to damage, the record before it in the file stands in.
            position = before if before < position else position - 1
        found.reverse()
        return found

    def close(self) -> None:
        """Close the file; idempotent."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def parse(raw: bytes, path: Path, first_line: int = 1) -> tuple[int, list[Record], list[tuple[int, bytes]]]:
    """Read journal lines: how many bytes may stay (a torn tail may not), the records, the bad lines.

    Raises OrionError `format_newer` when a record was written by a newer program; nothing is changed then.
    """
    *lines, tail = raw.split(b"\n")
    records: list[Record] = []
    bad: list[tuple[int, bytes]] = []
    # A long conversation is read while a person waits for it: one flat loop, without a call for each line.
    for number, line in enumerate([*lines, tail], first_line):
        try:
            data = from_json(line, cache_strings="keys")
        except ValueError:
            data = _read(line)
        if not isinstance(data, dict):
            if not line.isspace() and line:
                bad.append((number, line))
            continue
        take = data.pop
        version, identifier, parent = take("v", None), take("id", None), take("parent", None)
        when, kind = take("time", None), take("type", None)
        if version != VERSION and isinstance(version, int) and version > VERSION:
            raise OrionError("format_newer", path=str(path), found=version, known=VERSION)
        enveloped = isinstance(identifier, str) and isinstance(kind, str) and isinstance(when, (int, float))
        if version == VERSION and enveloped:
            for name, allowed in _REQUIRED.get(kind, ()):
                if not isinstance(data.get(name), allowed):
                    break
            else:
                above = parent if isinstance(parent, str) else None
                # What Record(…) does, without the call in between.
                records.append(tuple.__new__(Record, (identifier, above, float(when), kind, data)))
                continue
        bad.append((number, line))
    torn = bool(bad) and bad[-1][1] is tail
    return len(raw) - len(tail) if torn else len(raw), records, bad


def _read(line: bytes) -> Any:
    """What the quick reader refused, read by the standard one, which knows lone surrogates; else None."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_line(records: list[Record]) -> bool:
    """Whether every record's parent is the one before it: nothing branched off and nothing is lost."""
    return [record.parent for record in records[1:]] == [record.id for record in records[:-1]]


def _title(record: Record | None) -> str:
    return str(record.data.get("title", "")) if record is not None else ""


def keep_aside(path: Path, bad: Iterable[tuple[int, bytes]]) -> list[Damage]:
    """Copy bad lines into `<session>.bad` beside the journal, once each, and name them."""
    lines = list(bad)
    if not lines:
        return []
    aside = path.with_suffix(".bad")
    known = set(aside.read_bytes().split(b"\n")) if aside.exists() else set()
    with aside.open("ab") as out:
        for _, line in lines:
            if line not in known:
                out.write(line + b"\n")
    return [Damage(number, str(aside)) for number, _ in lines]


def _storage_error(error: OSError, path: Path) -> OrionError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return OrionError("disk_full", path=str(path))
    return OrionError("journal_unwritable", path=str(path), reason=error.strerror or type(error).__name__)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
