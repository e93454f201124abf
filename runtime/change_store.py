"""The durable memory of the workspace: contents by hash, and a log of changes written before they happen."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from runtime.changes import VERSION, ChangeSet
from runtime.confine import write_all
from runtime.pathnames import WorkspaceError

LOCK_SECONDS = 10.0
_LEVEL = 3
_SHA256 = re.compile(r"[0-9a-f]{64}")
_WAIT = 0.002

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class ChangeStore:
    """The folder `changes/`: `objects/ab/cdef…` (zlib), `log.jsonl`, `lock`, `incoming/`.

    Any thread, any number of processes. `locked()` holds the lock, which all but `content` and `holds`
    need. Nothing stays open between calls.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._log = folder / "log.jsonl"
        self._thread_lock = threading.RLock()
        self._depth = 0
        self._read_to = 0
        self._torn = False
        self._changes: dict[str, ChangeSet] = {}
        self._damaged: list[int] = []
        self._lines = 0

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the store alone, across threads and processes, with the log read up to its end.

        Raises WorkspaceError `changes_busy` after 10 s, `changes_newer` for a log of a newer program.
        """
        if not self._thread_lock.acquire(timeout=LOCK_SECONDS):
            raise WorkspaceError("changes_busy", path=str(self.folder))
        try:
            with self._file_lock():
                self._depth += 1
                try:
                    if self._depth == 1:
                        self._refresh()
                    yield
                finally:
                    self._depth -= 1
        finally:
            self._thread_lock.release()

    def changes(self) -> tuple[ChangeSet, ...]:
        """All changes of the log, oldest first."""
        return tuple(self._changes.values())

    def get(self, change_id: str) -> ChangeSet:
        """The change of that id. Raises WorkspaceError `change_unknown`."""
        try:
            return self._changes[change_id]
        except KeyError:
            raise WorkspaceError("change_unknown", change=change_id[:64]) from None

    def damaged(self) -> tuple[int, ...]:
        """Numbers of the lines of the log that could not be read; they are left where they are."""
        return tuple(self._damaged)

    def keep(self, content: bytes) -> str:
        """Store a content durably, once, and return its SHA-256."""
        digest = hashlib.sha256(content).hexdigest()
        target = self._object(digest)
        with self._spoken():
            if not target.exists():
                incoming = self.folder / "incoming" / f"{digest}-{secrets.token_hex(4)}"
                _make(incoming.parent)
                _make(target.parent)
                try:
                    _write_durably(incoming, zlib.compress(content, _LEVEL))
                    os.replace(incoming, target)
                finally:
                    with suppress(OSError):
                        incoming.unlink()
                _sync_folder(target.parent)
        return digest

    def holds(self, sha256: str) -> bool:
        """Whether that content is stored; what is no hash names none."""
        return _SHA256.fullmatch(sha256) is not None and self._object(sha256).exists()

    def content(self, sha256: str) -> bytes:
        """A stored content, checked. Raises WorkspaceError `change_content_lost`."""
        if not _SHA256.fullmatch(sha256):
            raise WorkspaceError("change_content_lost", hash=sha256[:12])
        try:
            content = zlib.decompress(self._object(sha256).read_bytes())
        except (OSError, zlib.error) as error:
            raise WorkspaceError("change_content_lost", hash=sha256[:12]) from error
        if hashlib.sha256(content).hexdigest() != sha256:
            raise WorkspaceError("change_content_lost", hash=sha256[:12])
        return content

    def append(self, change: ChangeSet) -> None:
        """Make the intent of a change durable; when this returns, the files may be touched."""
        line = (b"\n" if self._torn else b"") + change.as_line()
        with self._spoken():
            new = not self._log.exists()
            descriptor = os.open(self._log, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
            try:
                end = os.lseek(descriptor, 0, os.SEEK_END)
                try:
                    write_all(descriptor, line)
                    os.fsync(descriptor)
                except OSError:
                    os.ftruncate(descriptor, end)
                    raise
            finally:
                os.close(descriptor)
            if new:
                _sync_folder(self.folder)
        self._refresh()

    def withdraw(self, change: ChangeSet) -> None:
        """Take back the newest record, whose change did not happen; needs no disk space."""
        with self._spoken():
            size = self._log.stat().st_size - len(change.as_line())
            os.truncate(self._log, size)
        del self._changes[change.id]
        self._read_to, self._lines = size, self._lines - 1

    def clear_incoming(self) -> None:
        """Remove what a killed process left half-written."""
        for left in (self.folder / "incoming").glob("*"):
            with suppress(OSError):
                left.unlink()

    def _object(self, sha256: str) -> Path:
        return self.folder / "objects" / sha256[:2] / sha256[2:]

    @contextmanager
    def _file_lock(self) -> Iterator[None]:
        if self._depth:
            yield
            return
        with self._spoken():
            _make(self.folder)
            descriptor = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            until = time.monotonic() + LOCK_SECONDS
            while True:
                try:
                    _try_lock(descriptor)
                    break
                except OSError as error:
                    if time.monotonic() > until:
                        raise WorkspaceError("changes_busy", path=str(self.folder)) from error
                time.sleep(_WAIT)
            yield
        finally:
            os.close(descriptor)

    def _refresh(self) -> None:
        """Read what was appended since the last look, by this or another process."""
        try:
            with self._log.open("rb") as log:
                if os.fstat(log.fileno()).st_size < self._read_to:
                    self._forget()
                log.seek(self._read_to)
                new = log.read()
        except FileNotFoundError:
            self._forget()
            return
        except OSError as error:
            raise self._fault(error) from error
        end = new.rfind(b"\n") + 1
        for line in new[:end].split(b"\n")[:-1]:
            self._take(line)
        self._read_to += end
        self._torn = end < len(new)

    def _forget(self) -> None:
        self._read_to, self._lines, self._torn = 0, 0, False
        self._changes.clear()
        self._damaged.clear()

    def _take(self, line: bytes) -> None:
        try:
            stored = json.loads(line)
            version = int(stored["v"])
            change = ChangeSet.from_dict(stored) if version <= VERSION else None
        except (KeyError, TypeError, ValueError):
            self._lines += 1
            self._damaged.append(self._lines)
            return
        if change is None:
            self._forget()
            raise WorkspaceError("changes_newer", path=str(self._log), version=version)
        self._lines += 1
        self._changes[change.id] = change

    @contextmanager
    def _spoken(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._fault(error) from error

    def _fault(self, error: OSError) -> WorkspaceError:
        code = "disk_full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "changes_unwritable"
        return WorkspaceError(code, path=str(self.folder), reason=error.strerror or type(error).__name__)


def _make(folder: Path) -> None:
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        _sync_folder(folder.parent)


def _write_durably(path: Path, content: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, 0o600)
    try:
        write_all(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
