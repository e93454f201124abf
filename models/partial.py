"""The part of a file that is here already, with the hash of what it holds."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from models.download_record import Piece, sync_folder

_PIECE = 1 << 20


class Part:
    """A file that grows at `path` until it is `piece`, which says how large it gets and what its hash is.
    Used by one thread, which closes it. All methods raise OSError."""

    def __init__(self, path: Path, piece: Piece) -> None:
        self._path = path
        self._piece = piece
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._file: BinaryIO = open(path, "r+b" if path.exists() else "w+b", buffering=0)  # noqa: SIM115
        self._hash = _hash(piece)
        self.size = 0

    def go_on(self, durable: int, alive: Callable[[int], None]) -> None:
        """Keep the first `durable` bytes, as many as are there, and hash them. `alive` is called with how
        many were so far, and may raise."""
        self._file.truncate(min(durable, self._piece.size, os.fstat(self._file.fileno()).st_size))
        self._file.seek(0)
        while piece := self._file.read(_PIECE):
            self._hash.update(piece)
            self.size += len(piece)
            alive(self.size)

    def write(self, piece: bytes) -> None:
        """Add to the end. After an OSError `size` and the hash are those of what was still written."""
        rest = memoryview(piece)
        while rest:
            count = self._file.write(rest)
            self._hash.update(rest[:count])
            self.size += count
            rest = rest[count:]

    def sync(self) -> int:
        """Make what is here durable; how many bytes that is."""
        os.fsync(self._file.fileno())
        return self.size

    def reset(self) -> None:
        """Begin anew."""
        self._file.truncate(0)
        self._file.seek(0)
        self._hash, self.size = _hash(self._piece), 0

    def right(self) -> bool:
        """Whether this is the file that was wanted."""
        return self.size == self._piece.size and self._hash.hexdigest() == _wanted(self._piece)

    def close(self) -> None:
        """Idempotent."""
        self._file.close()


def is_right(path: Path, piece: Piece, alive: Callable[[int], None]) -> bool:
    """Whether a file is the one that was wanted; `alive` is called while it is read, and may raise."""
    try:
        if path.stat().st_size != piece.size:
            return False
        hashed, size = _hash(piece), 0
        with path.open("rb", buffering=0) as file:
            while read := file.read(_PIECE):
                hashed.update(read)
                size += len(read)
                alive(size)
    except OSError:
        return False
    return hashed.hexdigest() == _wanted(piece)


def put(part: Path, target: Path) -> None:
    """Move a whole file to its place, where it appears at once and durably. On another disk it is copied
    under a name that no reader of models looks at, and that a later attempt writes over. Raises OSError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if part.stat().st_dev == target.parent.stat().st_dev:
        os.replace(part, target)
    else:
        _copy(part, target.with_name(f".{target.name}.part"), target)
    sync_folder(target.parent)
    sync_folder(target.parent.parent)


def _copy(part: Path, copy: Path, target: Path) -> None:
    try:
        with part.open("rb") as source, copy.open("wb") as file:
            shutil.copyfileobj(source, file, _PIECE)
            file.flush()
            os.fsync(file.fileno())
        os.replace(copy, target)
    except OSError:
        copy.unlink(missing_ok=True)
        raise
    part.unlink()


def _hash(piece: Piece) -> hashlib._Hash:
    if piece.sha256:
        return hashlib.sha256()
    return hashlib.sha1(b"blob %d\0" % piece.size, usedforsecurity=False)


def _wanted(piece: Piece) -> str:
    return piece.sha256 or piece.git
