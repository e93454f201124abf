"""One holder per named thing across processes, by a lock of the operating system."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from runtime.errors import OrionError


class Lock:
    """An exclusive lock on `path`, which names its holder {pid, door}. The system frees it when the
    process dies; the owner calls `release`."""

    def __init__(self, path: Path, door: str, code: str) -> None:
        """Take the lock or raise OrionError `code` with the holder's pid and door."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        if not _try(self._fd):
            holder = _holder(self._fd)
            os.close(self._fd)
            self._fd = -1
            raise OrionError(code, pid=holder.get("pid", "?"), door=holder.get("door", "?"))
        os.ftruncate(self._fd, 0)
        os.lseek(self._fd, 0, os.SEEK_SET)
        os.write(self._fd, json.dumps({"pid": os.getpid(), "door": door}).encode())

    def release(self) -> None:
        """Free it; idempotent."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _holder(fd: int) -> dict[str, str | int]:
    try:
        found = json.loads(os.pread(fd, 1000, 0)) if sys.platform != "win32" else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


if sys.platform == "win32":
    import msvcrt

    def _try(fd: int) -> bool:
        # Beyond the text, so that others can read who holds it.
        os.lseek(fd, 1 << 20, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
