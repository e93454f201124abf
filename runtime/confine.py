"""File operations that cannot leave one folder, whatever the names are and whoever swaps them meanwhile.

On POSIX every component of a path is opened relative to the descriptor of the one before it, without
following links, so that no check can be overtaken by a swap. Windows has no such calls: there each component
is examined for reparse points and the resolved parent is compared with the expected one, before use.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from runtime.pathnames import WorkspaceError, visible

Parts = tuple[str, ...]
Sort = Literal["file", "folder", "link", "other"]

_POSIX = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_CLOEXEC: int = getattr(os, "O_CLOEXEC", 0)
_FOLDER: int = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW | _CLOEXEC
_READ: int = os.O_RDONLY | _NOFOLLOW | _CLOEXEC | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NEW: int = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _CLOEXEC | getattr(os, "O_BINARY", 0)
_CHUNK = 1 << 20

_CODES = {
    errno.ENOENT: "workspace_not_found",
    errno.ENOSPC: "disk_full",
    errno.EDQUOT: "disk_full",
    errno.EROFS: "workspace_read_only",
    errno.EACCES: "workspace_read_only",
    errno.EPERM: "workspace_read_only",
    errno.ENAMETOOLONG: "workspace_path_long",
    errno.ELOOP: "workspace_link",
    errno.ENOTDIR: "workspace_not_folder",
    errno.EISDIR: "workspace_not_file",
    errno.EEXIST: "workspace_exists",
}


@dataclass(frozen=True, slots=True)
class Stat:
    """What tells one state of a file from another without reading it; times in nanoseconds."""

    sort: Sort
    size: int
    mode: int
    mtime: int
    ctime: int
    inode: int


@dataclass(frozen=True, slots=True)
class _Place:
    """A name in a folder held open; without descriptors (`folder` None) `name` is the whole path."""

    folder: int | None
    name: str

    def sibling(self, name: str) -> _Place:
        return _Place(self.folder, name if _POSIX else str(Path(self.name).with_name(name)))


class Confined:
    """The files below `root`; holds nothing open between calls. Any thread; paths come from `split`."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))

    def stat(self, parts: Parts) -> Stat | None:
        """The file, folder, link or device itself, or None when nothing has that name."""
        try:
            with _spoken(parts, writing=False), self._place(parts) as place:
                return _stat(os.stat(place.name, dir_fd=place.folder, follow_symlinks=False))
        except WorkspaceError as error:
            if error.code == "workspace_not_found":
                return None
            raise

    def read(self, parts: Parts, limit: int) -> bytes:
        """The content of a regular file of at most `limit` bytes."""
        with _spoken(parts, writing=False), self._reading(parts) as (descriptor, size):
            content = bytearray()
            while size <= limit and len(content) <= limit:
                chunk = os.read(descriptor, _CHUNK)
                if not chunk:
                    return bytes(content)
                content += chunk
            raise WorkspaceError(
                "workspace_file_large", path=_shown(parts), size=max(size, len(content)), limit=limit
            )

    def sha256(self, parts: Parts) -> str:
        """The hash of a regular file of any size, read in pieces."""
        digest = hashlib.sha256()
        with _spoken(parts, writing=False), self._reading(parts) as (descriptor, _):
            while chunk := os.read(descriptor, _CHUNK):
                digest.update(chunk)
        return digest.hexdigest()

    def names(self, parts: Parts) -> list[tuple[str, Stat]]:
        """Name and state of everything in a folder, in no order; what vanishes meanwhile is left out."""
        found: list[tuple[str, Stat]] = []
        with (
            _spoken(parts, writing=False),
            self._folder(parts) as (descriptor, path),
            os.scandir(path if descriptor is None else descriptor) as entries,
        ):
            for entry in entries:
                with suppress(FileNotFoundError):
                    found.append((entry.name, _stat(entry.stat(follow_symlinks=False))))
        return found

    def missing_folders(self, parts: Parts) -> tuple[Parts, ...]:
        """The folders above `parts` that do not exist, outermost first."""
        for depth in range(1, len(parts)):
            if self.stat(parts[:depth]) is None:
                return tuple(parts[:rest] for rest in range(depth, len(parts)))
        return ()

    def make_folder(self, parts: Parts) -> None:
        """Make one folder durably; an existing folder is fine."""
        with _spoken(parts, writing=True), self._place(parts) as place:
            try:
                os.mkdir(place.name, 0o755, dir_fd=place.folder)
            except FileExistsError:
                if not stat.S_ISDIR(os.lstat(place.name, dir_fd=place.folder).st_mode):
                    raise
            _sync(place)

    def remove_folder(self, parts: Parts) -> bool:
        """Remove a folder if it is there and empty; tells whether it did."""
        try:
            with self._place(parts) as place:
                os.rmdir(place.name, dir_fd=place.folder)
        except (OSError, WorkspaceError):
            return False
        return True

    def put(self, parts: Parts, content: bytes, *, mode: int | None, seen: Stat | None, temp: str) -> None:
        """Replace or create a file in one step, through `temp` beside it.

        `seen` is the state that is to be replaced, None for a file that must not exist. Another state at
        the last moment raises `workspace_conflict` and changes nothing. `mode` None takes the usual one.
        """
        with _spoken(parts, writing=True), self._place(parts) as place:
            beside = place.sibling(temp)
            descriptor = os.open(beside.name, _NEW, 0o666, dir_fd=beside.folder)
            try:
                try:
                    _write(descriptor, content, mode)
                finally:
                    os.close(descriptor)
                _expect(place, seen, parts)
                if seen is None:
                    _move_new(beside, place)
                else:
                    os.replace(beside.name, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
            finally:
                with suppress(OSError):  # renamed when all went well
                    os.unlink(beside.name, dir_fd=beside.folder)
            _sync(place)

    def set_mode(self, parts: Parts, mode: int) -> None:
        """Give a regular file the permission bits `mode`."""
        with _spoken(parts, writing=True), self._reading(parts) as (descriptor, _):
            if hasattr(os, "fchmod"):
                os.fchmod(descriptor, mode)

    def remove(self, parts: Parts, seen: Stat) -> None:
        """Delete a file that is still in the state `seen`."""
        with _spoken(parts, writing=True), self._place(parts) as place:
            _expect(place, seen, parts)
            os.unlink(place.name, dir_fd=place.folder)
            _sync(place)

    def move(self, source: Parts, target: Parts, seen: Stat) -> None:
        """Rename a file that is still in the state `seen`; the target must not exist."""
        with _spoken(target, writing=True), self._place(source) as old, self._place(target) as new:
            _expect(old, seen, source)
            _expect(new, None, target)
            _move_new(old, new)
            _sync(old)
            _sync(new)

    def discard(self, parts: Parts) -> None:
        """Remove a left-over temporary file if it is there."""
        with suppress(OSError, WorkspaceError), self._place(parts) as place:
            os.unlink(place.name, dir_fd=place.folder)

    @contextmanager
    def _reading(self, parts: Parts) -> Iterator[tuple[int, int]]:
        with self._place(parts) as place:
            before = os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)
            _regular(before, parts)  # a device is not even opened
            descriptor = os.open(place.name, _READ, dir_fd=place.folder)
            try:
                now = os.fstat(descriptor)
                _regular(now, parts)
                yield descriptor, now.st_size
            finally:
                os.close(descriptor)

    @contextmanager
    def _place(self, parts: Parts) -> Iterator[_Place]:
        if not parts:
            raise WorkspaceError("workspace_not_file", path=".")
        with self._folder(parts[:-1]) as (descriptor, path):
            yield _Place(descriptor, parts[-1] if descriptor is not None else str(path / parts[-1]))

    @contextmanager
    def _folder(self, parts: Parts) -> Iterator[tuple[int | None, Path]]:
        if not _POSIX:
            yield None, self._resolved(parts)
            return
        try:
            descriptor = os.open(self.root, _FOLDER)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise WorkspaceError("workspace_missing", path=str(self.root)) from error
        try:
            for depth, part in enumerate(parts, 1):
                try:
                    below = os.open(part, _FOLDER, dir_fd=descriptor)
                except OSError as error:
                    raise _blocked(error, _Place(descriptor, part), parts[:depth]) from error
                os.close(descriptor)
                descriptor = below
            yield descriptor, self.root.joinpath(*parts)
        finally:
            os.close(descriptor)

    def _resolved(self, parts: Parts) -> Path:
        path = self.root
        for depth, part in enumerate(parts, 1):
            path = path / part
            attributes: int = getattr(os.lstat(path), "st_file_attributes", 0)
            if path.is_symlink() or attributes & 0x400:  # FILE_ATTRIBUTE_REPARSE_POINT: links and junctions
                raise WorkspaceError("workspace_link", path=_shown(parts[:depth]))
        expected = os.path.normcase(self.root.joinpath(*parts))
        if os.path.normcase(os.path.realpath(path)) != expected:
            raise WorkspaceError("workspace_path_outside", path=_shown(parts))
        return path


def _blocked(error: OSError, place: _Place, parts: Parts) -> OSError | WorkspaceError:
    """Why a folder could not be entered: a link is said to be one, whatever the system called it."""
    with suppress(OSError):
        if stat.S_ISLNK(os.stat(place.name, dir_fd=place.folder, follow_symlinks=False).st_mode):
            return WorkspaceError("workspace_link", path=_shown(parts))
    return error


def _stat(raw: os.stat_result) -> Stat:
    sort: Sort = "other"
    if stat.S_ISREG(raw.st_mode):
        sort = "file"
    elif stat.S_ISLNK(raw.st_mode) or getattr(raw, "st_file_attributes", 0) & 0x400:
        sort = "link"
    elif stat.S_ISDIR(raw.st_mode):
        sort = "folder"
    mode = stat.S_IMODE(raw.st_mode)
    return Stat(sort, raw.st_size, mode, raw.st_mtime_ns, raw.st_ctime_ns, raw.st_ino)


def _regular(raw: os.stat_result, parts: Parts) -> None:
    codes = {"link": "workspace_link", "folder": "workspace_not_file", "other": "workspace_special"}
    code = codes.get(_stat(raw).sort)
    if code:
        raise WorkspaceError(code, path=_shown(parts))


def _expect(place: _Place, seen: Stat | None, parts: Parts) -> None:
    try:
        now: Stat | None = _stat(os.stat(place.name, dir_fd=place.folder, follow_symlinks=False))
    except FileNotFoundError:
        now = None
    if now != seen:
        raise WorkspaceError("workspace_conflict", path=_shown(parts))


def write_all(descriptor: int, content: bytes) -> None:
    """Write all of `content`; the system may take it in several pieces."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _write(descriptor: int, content: bytes, mode: int | None) -> None:
    write_all(descriptor, content)
    if mode is not None and hasattr(os, "fchmod"):
        os.fchmod(descriptor, mode)
    os.fsync(descriptor)


def _move_new(source: _Place, target: _Place) -> None:
    """Rename without replacing: a second name fails if the target exists, where a rename would not."""
    try:
        os.link(
            source.name,
            target.name,
            src_dir_fd=source.folder,
            dst_dir_fd=target.folder,
            follow_symlinks=os.link not in os.supports_follow_symlinks,
        )
    except FileExistsError:
        raise
    except OSError:  # a file system without second names
        os.rename(source.name, target.name, src_dir_fd=source.folder, dst_dir_fd=target.folder)
    else:
        os.unlink(source.name, dir_fd=source.folder)


def _sync(place: _Place) -> None:
    """Make names in the folder durable; systems that cannot sync a folder order them themselves."""
    if place.folder is not None:
        with suppress(OSError):
            os.fsync(place.folder)


def _shown(parts: Parts) -> str:
    return visible("/".join(parts)) or "."


@contextmanager
def _spoken(parts: Parts, *, writing: bool) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        code = _CODES.get(error.errno or 0, "workspace_io")
        if code == "workspace_read_only" and not writing:
            code = "workspace_forbidden"
        reason = error.strerror or type(error).__name__
        raise WorkspaceError(code, path=_shown(parts), reason=reason) from error
