"""The record of a download on disk, from which it goes on after any end of the program.

Format: `<staging>/<id>/download.json`, one object with "v", replaced atomically; beside it the parts
`0.part`, `1.part`, … in the order of the files, `lock`, held by the process that works on them, and `spare`.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from models.download import State, Wanted
from models.errors import EngineError, Field
from models.hub_files import File

VERSION = 1
FILE = "download.json"
FULL = (errno.ENOSPC, errno.EDQUOT)
_SPARE = 64 << 10


@dataclass(frozen=True, slots=True)
class Piece:
    """A file of a download. `synced` bytes of it are durable on disk; `whole` are those whose hash was right.
    `git` is git's hash, for small files without a SHA-256."""

    name: str
    size: int
    sha256: str
    git: str = ""
    synced: int = 0
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """Everything about a download that outlives the process. `commit` is what its revision meant when it
    began, "" before."""

    wanted: Wanted
    pieces: tuple[Piece, ...]
    begun: float
    commit: str = ""
    state: State = "queued"
    code: str = ""
    fields: dict[str, Field] = field(default_factory=dict)

    @property
    def revision(self) -> str:
        """What to ask the hub for."""
        return self.commit or self.wanted.revision

    def with_piece(self, index: int, **changes: Any) -> Record:
        """With one piece changed."""
        pieces = list(self.pieces)
        pieces[index] = replace(pieces[index], **changes)
        return replace(self, pieces=tuple(pieces))


def fresh(wanted: Wanted, begun: float) -> Record:
    """The record of a download that has not begun."""
    pieces = tuple(Piece(file.name, file.size, file.sha256.lower()) for file in wanted.files)
    return Record(wanted, pieces, begun)


def renewed(old: Record, wanted: Wanted) -> Record:
    """The record of the same files asked for again, perhaps of a later revision: what is here of those that
    did not change stays."""
    new = fresh(wanted, old.begun)
    if [piece.name for piece in new.pieces] != [piece.name for piece in old.pieces]:
        return new
    pairs = zip(old.pieces, new.pieces, strict=True)
    kept = tuple(was if was.sha256 and was.sha256 == now.sha256 else now for was, now in pairs)
    return replace(new, pieces=kept)


class Shelf:
    """One download's folder. The methods but `held` belong to the holder of the lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._spare = folder / "spare"
        self._lock = FileLock(folder / "lock", thread_local=False)

    def part(self, index: int) -> Path:
        """Where the bytes of a file gather."""
        return self.folder / f"{index}.part"

    def take(self) -> bool:
        """Become the holder; false where another process is it. Raises OSError."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            self._lock.acquire(blocking=False)
        except Timeout:
            return False
        return True

    def release(self) -> None:
        """Let others be the holder; idempotent."""
        self._lock.release(force=True)

    def held(self) -> bool:
        """Whether another process works on it. Does not say so of the own one, nor where that cannot be told,
        as in a folder that cannot be written."""
        if self._lock.is_locked or not self.folder.is_dir():
            return False
        try:
            free = self.take()
        except OSError:
            return False
        if free:
            self.release()
        return not free

    def stamp(self) -> tuple[int, int] | None:
        """Differs when the record does; None where there is none."""
        try:
            status = (self.folder / FILE).stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns

    def read(self) -> Record | None:
        """The record; None where there is none that can be read. EngineError format_newer."""
        path = self.folder / FILE
        try:
            data = json.loads(path.read_bytes())
            if int(data["v"]) > VERSION:
                raise EngineError("format_newer", path=str(path), found=int(data["v"]), known=VERSION)
            return _record(data)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def reserve(self) -> None:
        """Keep some room for the record, so that a disk that fills up meanwhile does not make it old."""
        with contextlib.suppress(OSError):
            self._spare.write_bytes(bytes(_SPARE))

    def write(self, record: Record) -> None:
        """Replace the record; it is durable on return. Raises OSError, on a full disk also where the room
        that was kept was enough for it."""
        try:
            self._write(record)
        except OSError as error:
            if error.errno in FULL and self._spare.exists():
                self._spare.unlink()
                self._write(record)
            raise

    def _write(self, record: Record) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        told = json.dumps({"v": VERSION, **asdict(record)}, ensure_ascii=True)
        temporary = self.folder / f".{FILE}"
        with temporary.open("w", encoding="ascii") as file:
            file.write(told)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, self.folder / FILE)
        sync_folder(self.folder)

    def remove(self) -> None:
        """Drop the download with all that was fetched, the record first; gives the lock back."""
        (self.folder / FILE).unlink(missing_ok=True)
        self.release()
        shutil.rmtree(self.folder, ignore_errors=True)


def shelves(staging: Path) -> Iterator[Shelf]:
    """Every download that lies in `staging`."""
    for path in sorted(staging.glob(f"*/{FILE}")):
        yield Shelf(path.parent)


def sync_folder(folder: Path) -> None:
    """Make names in a folder durable, where the system can."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _record(data: dict[str, Any]) -> Record:
    wanted = dict(data["wanted"])
    wanted["files"] = tuple(File(**file) for file in wanted["files"])
    pieces = tuple(Piece(**piece) for piece in data["pieces"])
    made = Wanted(**wanted)
    try:
        made.check()
    except EngineError as error:
        raise ValueError("a name in it could lead out of the folder") from error
    if [piece.name for piece in pieces] != [file.name for file in made.files]:
        raise ValueError("pieces and files differ")
    rest = {name: data[name] for name in ("begun", "commit", "state", "code", "fields")}
    return Record(made, pieces, **rest)
