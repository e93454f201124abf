"""A folder on this machine that stands for the guest's /workspace, at the very edge where the wire begins."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from runtime.errors import OrionError
from runtime.guest_copy import Found, Listing, Sort, Wanted


class FolderCopy:
    """Does what the guest does with files, and tells how much was sent: `sent` and `fetched` are paths.
    While `gone` is set the wire is cut. `before_put` may change the folder just before a file is written."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.sent: list[str] = []
        self.fetched: list[str] = []
        self.unread: list[str] = []
        self.gone = False
        self.before_put: Callable[[], None] = lambda: None

    async def list(self) -> Listing:
        self._alive()
        found: list[Found] = []
        for folder, folders, names in os.walk(self.root):
            for name in (*folders, *names):
                path = Path(folder, name)
                shown = path.relative_to(self.root).as_posix()
                if any(shown == one or shown.startswith(f"{one}/") for one in self.unread):
                    continue
                state = path.lstat()
                sort: Sort = "link" if path.is_symlink() else "folder" if path.is_dir() else "other"
                digest = ""
                if sort == "other" and path.is_file():
                    sort, digest = "file", sha256(path.read_bytes())
                found.append(Found(shown, sort, state.st_size, state.st_mode & 0o777, digest))
        return Listing(tuple(sorted(found, key=lambda one: one.path)), tuple(self.unread))

    async def get(self, paths: Sequence[str], limit: int) -> dict[str, bytes]:
        self._alive()
        self.fetched += paths
        contents = {path: self._bytes(path) for path in paths}
        return {path: found for path, found in contents.items() if found is not None and len(found) <= limit}

    async def put(self, wanted: Sequence[Wanted]) -> dict[str, str]:
        refused: dict[str, str] = {}
        for one in wanted:
            self._alive()
            self.before_put()
            self.sent.append(one.path)
            target = self.root / one.path
            if self._linked(target):
                refused[one.path] = "link"
            elif self._hash(one.path) != one.expected:
                refused[one.path] = "changed"
            else:
                try:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(one.content)
                    target.chmod(one.mode)
                except OSError:
                    refused[one.path] = "folder"
        return refused

    async def remove(self, expected: Mapping[str, str]) -> dict[str, str]:
        refused: dict[str, str] = {}
        for path, digest in expected.items():
            self._alive()
            self.sent.append(path)
            if self._hash(path) != digest:
                refused[path] = "changed"
            else:
                (self.root / path).unlink()
        return refused

    async def remove_folders(self, paths: Sequence[str]) -> None:
        self._alive()
        for path in paths:
            with suppress(OSError):
                (self.root / path).rmdir()

    def _alive(self) -> None:
        if self.gone:
            raise OrionError("sync_interrupted", reason="cut")

    def _linked(self, target: Path) -> bool:
        return any(part.is_symlink() for part in (target, *target.parents) if part != self.root.parent)

    def _bytes(self, path: str) -> bytes | None:
        target = self.root / path
        return target.read_bytes() if target.is_file() and not self._linked(target) else None

    def _hash(self, path: str) -> str:
        found = self._bytes(path)
        return "" if found is None else sha256(found)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def files(root: Path) -> dict[str, tuple[bytes, bool]]:
    """Content and executable bit of every regular file below a folder."""
    return {
        path.relative_to(root).as_posix(): (path.read_bytes(), bool(path.stat().st_mode & 0o100))
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
