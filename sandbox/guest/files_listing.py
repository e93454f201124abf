"""Everything in a folder with sizes, times and hashes, which are kept until a file changes."""

from __future__ import annotations

import os
import stat
import time
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from sandbox.guest.files_folder import DEEPEST, Folder, digest, is_temporary, parts

KEPT = 200_000
YOUNG = 50_000_000
"""Nanoseconds in which a second change may leave a file's times as they are; so young a hash is not kept."""

_KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}


class Hashes:
    """SHA-256 by device, inode, size and times of change; used by one thread at a time."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[int, int, int, int, int], str] = OrderedDict()

    def known(self, found: os.stat_result) -> str:
        """The hash of a file that looks as it did when it was read, else ""."""
        return self._known.get(_key(found), "")

    def keep(self, found: os.stat_result, digest: str) -> None:
        """Remember it, if no change could have gone unnoticed."""
        if time.time_ns() - max(found.st_mtime_ns, found.st_ctime_ns) > YOUNG:
            self._known[_key(found)] = digest
            if len(self._known) > KEPT:
                self._known.popitem(last=False)


def _key(found: os.stat_result) -> tuple[int, int, int, int, int]:
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


class Listing:
    """Walks one tree, never through a link, and leaves out what is being written by this guest."""

    def __init__(
        self, folder: Folder, hashes: Hashes | None, *, limit: int = 100_000, depth: int = DEEPEST
    ) -> None:
        self._folder, self._hashes = folder, hashes
        self._left, self._depth = limit, depth
        self.complete = True
        self.skipped: list[tuple[str, str]] = []

    def entries(self, path: str) -> Iterator[dict[str, Any]]:
        """{path, kind, size, mtime_ns, mode, sha256, target} of everything below the folder `path`, parents
        before children. Raises OSError and PeerError for `path` itself."""
        names = parts(path)
        with self._folder.opened(names) as handle:
            self._depth += len(names)
            yield from self._walk(handle, "/".join(names), len(names))

    def _walk(self, handle: int, path: str, depth: int) -> Iterator[dict[str, Any]]:
        with os.scandir(handle) as found:
            children = sorted(found, key=lambda child: child.name)
        for child in children:
            if is_temporary(child.name):
                continue
            if self._left <= 0:
                self.complete = False
                return
            below = f"{path}/{child.name}" if path else child.name
            try:
                entry = self._entry(handle, child, below)
            except FileNotFoundError:
                continue
            except OSError:
                self.skipped.append((below, "unreadable"))
                continue
            self._left -= 1
            yield entry
            if entry["kind"] == "folder":
                yield from self._below(handle, child.name, below, depth + 1)

    def _below(self, handle: int, name: str, path: str, depth: int) -> Iterator[dict[str, Any]]:
        if depth >= min(self._depth, DEEPEST):
            if depth >= DEEPEST:
                self.skipped.append((path, "deep"))
            return
        try:
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=handle)
        except OSError:
            self.skipped.append((path, "unreadable"))
            return
        try:
            yield from self._walk(inner, path, depth)
        finally:
            os.close(inner)

    def _entry(self, handle: int, child: os.DirEntry[str], path: str) -> dict[str, Any]:
        found = child.stat(follow_symlinks=False)
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "special")
        entry = {
            "path": path,
            "kind": kind,
            "size": found.st_size,
            "mtime_ns": found.st_mtime_ns,
            "mode": stat.S_IMODE(found.st_mode),
        }
        if kind == "link":
            entry["target"] = os.readlink(child.name, dir_fd=handle)
        elif kind == "file" and self._hashes is not None:
            entry["sha256"] = self._hashes.known(found)
            if not entry["sha256"]:
                entry |= self._hashed(handle, child.name, path, self._hashes)
        return entry

    def _hashed(self, handle: int, name: str, path: str, hashes: Hashes) -> dict[str, Any]:
        """Hash, size and time of one moment."""
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=handle)
        try:
            for _ in range(3):
                made = digest(file)
                if made is not None:
                    hashes.keep(made[1], made[0])
                    found = made[1]
                    return {"sha256": made[0], "size": found.st_size, "mtime_ns": found.st_mtime_ns}
        finally:
            os.close(file)
        self.skipped.append((path, "changing"))
        return {}
