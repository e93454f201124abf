"""The log of everything done on the agent's computer; nothing in it is changed, left out or cut unseen."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VERSION = 1
FIRST = "0" * 64
"""What stands for the hash of a record before the first."""

MENDED = "log_mended"
"""The action of a record that tells of a line torn by a crash: its beginning is kept in the arguments."""

PATIENCE = 5.0
"""Seconds to wait while other processes write."""


@dataclass(frozen=True, slots=True)
class Verified:
    """The state of a log. `records` are whole and in order; `broken_line` counts from 1, and is 0 where the
    fault is not in a line; `reason` says what is wrong. `torn`: a crash cut the last line short, which is no
    fault."""

    ok: bool
    records: int
    broken_line: int = 0
    reason: str = ""
    torn: bool = False


class AuditLog:
    """Appends records to one JSONL file, which several processes may write. Any thread; blocks for the disk.

    A line is the canonical JSON of its record. Its `hash` is the SHA-256 over the hash of the line before and
    the canonical JSON of the rest. A small file beside it, `<name>.head`, keeps number and hash of the last
    record, so that a log cut short is noticed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.head = path.with_name(f"{path.stem}.head")

    def append(self, record: Mapping[str, Any]) -> str:
        """Write `record` (JSON members) with time and number added; returns its hash, durable. OSError, and
        ValueError where the log is damaged, which must not be hidden by going on."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(self.path.with_name(f"{self.path.stem}.lock")):
            torn = self._torn()
            if torn:
                self._write(
                    {"action": MENDED, "arguments": {"torn": torn[:400].decode("latin-1")}}, cut=len(torn)
                )
            return self._write(record)

    def _write(self, record: Mapping[str, Any], cut: int = 0) -> str:
        number, last = self._last(cut)
        whole = {"v": VERSION, "n": number + 1, "time": round(time.time(), 3), **record}
        whole["hash"] = _hash(last, whole)
        with self.path.open("r+b" if self.path.exists() else "x+b") as file:
            file.seek(-cut, os.SEEK_END) if cut else file.seek(0, os.SEEK_END)
            file.truncate()
            file.write(_canonical(whole) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        beside = self.head.with_suffix(".head.new")
        beside.write_bytes(_canonical({"v": VERSION, "records": number + 1, "hash": whole["hash"]}))
        os.replace(beside, self.head)
        return str(whole["hash"])

    def _torn(self) -> bytes:
        """What follows the last line end."""
        if not self.path.exists():
            return b""
        with self.path.open("rb") as file:
            return _last_lines(_tail(file))[1]

    def _last(self, cut: int) -> tuple[int, str]:
        """Number and hash of the last whole record."""
        if not self.path.exists() or self.path.stat().st_size == cut:
            return 0, FIRST
        with self.path.open("rb") as file:
            line, _rest = _last_lines(_tail(file))
        try:
            record = json.loads(line)
            return int(record["n"]), str(record["hash"])
        except (KeyError, TypeError) as error:
            raise ValueError("the last line is no record") from error


def verify(path: Path) -> Verified:
    """Check every line of the log at `path` and its head; says the first fault. An absent log with no head is
    empty and good."""
    head = path.with_name(f"{path.stem}.head")
    if not path.exists():
        return Verified(not head.exists(), 0, 0, "the log is gone" if head.exists() else "")
    number, last, seen = 0, FIRST, {0: FIRST}
    *lines, rest = path.read_bytes().split(b"\n")
    for at, line in enumerate(lines, 1):
        fault, last = _checked(line, number, last)
        if fault:
            return Verified(False, number, at, fault)
        number += 1
        seen[number] = last
    fault = _head_fault(head, number, seen)
    return Verified(not fault, number, 0, fault, torn=bool(rest))


def _checked(line: bytes, number: int, last: str) -> tuple[str, str]:
    """What is wrong with a line, empty when nothing is, and its hash."""
    try:
        record = json.loads(line)
    except ValueError:
        return "it is not JSON", ""
    if not isinstance(record, dict) or _canonical(record) != line:
        return "it is not written as the log writes", ""
    if record.get("v") != VERSION:
        return f"its version is {record.get('v')!r}, and this program knows {VERSION}", ""
    if record.get("n") != number + 1:
        return f"it is record {record.get('n')}, where {number + 1} should be", ""
    said = record.pop("hash", None)
    if said != _hash(last, record):
        return "its hash does not follow from the line before and what it says", ""
    return "", str(said)


def _head_fault(head: Path, number: int, seen: Mapping[int, str]) -> str:
    """What is wrong between the head and the lines. A line more than the head knows is a crash's."""
    try:
        found = json.loads(head.read_bytes())
        known, said = int(found["records"]), str(found["hash"])
        as_written = _canonical(found) == head.read_bytes()
    except FileNotFoundError:
        return "" if number <= 1 else "the file that keeps the head of the log is gone"
    except (ValueError, KeyError, TypeError):
        return "the file that keeps the head of the log is damaged"
    if known > number:
        return f"the log has {number} records, and had {known}"
    if not as_written or found.get("v") != VERSION or seen.get(known) != said or number - known > 1:
        return "the file that keeps the head of the log does not fit the log"
    return ""


def _canonical(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, sort_keys=True, separators=(",", ":")).encode("ascii")


def _hash(last: str, record: Mapping[str, Any]) -> str:
    return hashlib.sha256(last.encode("ascii") + _canonical(record)).hexdigest()


def _tail(file: Any) -> bytes:
    """The end of the file, with at least one whole line."""
    size = file.seek(0, os.SEEK_END)
    reach = 1 << 16
    while True:
        file.seek(max(0, size - reach))
        found: bytes = file.read()
        if found.count(b"\n") > 1 or reach >= size:
            return found
        reach *= 4


def _last_lines(tail: bytes) -> tuple[bytes, bytes]:
    """The last whole line, and what follows it."""
    whole, _end, rest = tail.rpartition(b"\n")
    return whole.rpartition(b"\n")[2], rest


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the file at `path` for this process. TimeoutError after PATIENCE."""
    with path.open("a+b") as file:
        deadline = time.monotonic() + PATIENCE
        while not _lock(file.fileno()):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{path} is held by another process")
            time.sleep(0.005)
        try:
            yield
        finally:
            _unlock(file.fileno())


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> bool:
        try:
            os.lseek(descriptor, 0, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
