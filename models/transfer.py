"""Brings files into a folder so that they appear there whole, checked and on the disk, or not at all."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from models.errors import EngineError
from models.gguf import read_header

_STAGING = ".incoming-"
_CHUNK = 4 << 20
_DRIFT = 60
"""Seconds by which the start of a process may seem to differ after the clock was set."""

_SPARE = 16 << 20
"""Bytes of the disk that are left free."""


@dataclass(frozen=True, slots=True)
class Step:
    """`done` of `total` bytes are copied, or read back and compared."""

    done: int
    total: int
    state: Literal["running", "checking"]


Told = Callable[[Step], None]
Stop = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Job:
    """The `sources` under new `names`. `target` is the file where there is one, their folder where there are
    several. Of a `move` those in `leaving` go, once the target is whole."""

    model: str
    sources: tuple[Path, ...]
    names: tuple[str, ...]
    target: Path
    move: bool
    leaving: tuple[Path, ...]


def transfer(job: Job, told: Told, stop: Stop) -> tuple[Path, ...]:
    """Do `job`; the sources that should have gone and could not be removed. The files become visible by one
    renaming. EngineError as models.intake.take."""
    folder = job.target.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        sweep(folder)
        if os.path.lexists(job.target):
            raise EngineError("model_file_exists", path=str(job.target))
        with _staging(folder) as staging:
            _fill(job, staging, told, stop)
            read_header(staging / job.names[0])
            _sync(staging)
            _reveal(staging, job)
        _sync(folder)
    except OSError as error:
        raise _failure(error, job) from error
    return tuple(path for path in job.leaving if not _gone(path)) if job.move else ()


def sweep(folder: Path) -> None:
    """Remove what transfers into `folder` left that died with their process."""
    for path in folder.glob(f"{_STAGING}*"):
        if not _alive(path):
            shutil.rmtree(path, ignore_errors=True)


def _fill(job: Job, staging: Path, told: Told, stop: Stop) -> None:
    """Bring every source into `staging`: as a further name of the same file where it moves on one disk, else
    as a copy that is read back."""
    total = sum(source.stat().st_size for source in job.sources)
    linked = job.move and all(_linked(source, staging / ".probe") for source in job.sources)
    if linked:
        for source, name in zip(job.sources, job.names, strict=True):
            os.link(source, staging / name)
        told(Step(total, total, "running"))
        return
    free = shutil.disk_usage(staging).free
    if free < total + _SPARE:
        raise _full(job, total, free)
    done = 0
    sums: list[str] = []
    for source, name in zip(job.sources, job.names, strict=True):
        with source.open("rb") as read, (staging / name).open("xb") as write:
            before = _signature(read)
            digest = hashlib.sha256()
            for piece in _pieces(read, job, stop):
                write.write(piece)
                digest.update(piece)
                done += len(piece)
                told(Step(done, total, "running"))
            write.flush()
            os.fsync(write.fileno())
            if _signature(read) != before or source.stat().st_size != before[0]:
                raise EngineError("import_changed", path=str(source))
        sums.append(digest.hexdigest())
    _check(job, staging, sums, told, stop)


def _check(job: Job, staging: Path, sums: list[str], told: Told, stop: Stop) -> None:
    """Read the copies back from the disk and compare."""
    total = sum((staging / name).stat().st_size for name in job.names)
    done = 0
    for name, wanted in zip(job.names, sums, strict=True):
        with (staging / name).open("rb") as file:
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            digest = hashlib.sha256()
            for piece in _pieces(file, job, stop):
                digest.update(piece)
                done += len(piece)
                told(Step(done, total, "checking"))
        if digest.hexdigest() != wanted:
            reason = "what was read back differs from what was written"
            raise EngineError("import_failed", path=str(job.target), reason=reason)


def _pieces(file: BinaryIO, job: Job, stop: Stop) -> Iterator[bytes]:
    while piece := file.read(_CHUNK):
        if stop():
            raise EngineError("import_cancelled", name=job.model)
        yield piece


def _reveal(staging: Path, job: Job) -> None:
    """Give the files their place by one renaming, which replaces nothing."""
    if len(job.names) > 1:
        if os.path.lexists(job.target):
            raise EngineError("model_file_exists", path=str(job.target))
        os.rename(staging, job.target)
        return
    try:
        os.link(staging / job.names[0], job.target)
    except FileExistsError as error:
        raise EngineError("model_file_exists", path=str(job.target)) from error
    except OSError:  # a file system without further names
        if os.path.lexists(job.target):
            raise EngineError("model_file_exists", path=str(job.target)) from None
        os.rename(staging / job.names[0], job.target)


@contextlib.contextmanager
def _staging(folder: Path) -> Iterator[Path]:
    """A new folder that names this process; removed at the end, unless it was renamed."""
    path = folder / f"{_STAGING}{_process(os.getpid())}-{secrets.token_hex(4)}"
    path.mkdir()
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _process(number: int) -> str:
    """A process by number and time of start, since numbers come again; "" for one that has ended."""
    import psutil

    try:
        return f"{number}-{int(psutil.Process(number).create_time())}"
    except psutil.Error:
        return ""


def _alive(staging: Path) -> bool:
    process, _, _ = staging.name.removeprefix(_STAGING).rpartition("-")
    number, _, began = process.partition("-")
    if not (number.isdecimal() and began.isdecimal()):
        return False
    now = _process(int(number)).partition("-")[2]
    return now.isdecimal() and abs(int(now) - int(began)) <= _DRIFT


def _linked(source: Path, probe: Path) -> bool:
    """Whether a file can have a further name at `probe`, which is removed again."""
    if source.is_symlink():
        return False
    try:
        os.link(source, probe)
        probe.unlink()
    except OSError:
        return False
    return True


def _gone(source: Path) -> bool:
    try:
        source.unlink()
    except OSError:
        return False
    return True


def _signature(file: BinaryIO) -> tuple[int, int]:
    status = os.fstat(file.fileno())
    return status.st_size, status.st_mtime_ns


def _sync(folder: Path) -> None:
    """Make the names in `folder` durable, where the system can."""
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _failure(error: OSError, job: Job) -> EngineError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        with contextlib.suppress(OSError):
            needed = sum(source.stat().st_size for source in job.sources if os.path.isfile(source))
            return _full(job, needed, shutil.disk_usage(job.target.parent).free)
    path = str(error.filename or job.target)
    return EngineError("import_failed", path=path, reason=error.strerror or type(error).__name__)


def _full(job: Job, needed: int, free: int) -> EngineError:
    return EngineError(
        "import_disk_full",
        name=job.model,
        path=str(job.target.parent),
        needed_mb=-(-(needed + _SPARE) // (1 << 20)),
        free_mb=free >> 20,
    )
