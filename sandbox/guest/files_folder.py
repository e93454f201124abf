"""A folder whose files are reached one step at a time, so that no link leads anything out of it."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from sandbox.guest.call import PeerError

DEEPEST = 64
TEMPORARY = (".orion-", ".tmp")

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_CODES = {
    errno.ENOENT: "missing",
    errno.ENOTDIR: "link",
    errno.ELOOP: "link",
    errno.EISDIR: "folder",
    errno.ENOSPC: "full",
    errno.EDQUOT: "full",
    errno.EACCES: "forbidden",
    errno.EPERM: "forbidden",
    errno.EROFS: "forbidden",
    errno.ENOTEMPTY: "occupied",
    errno.EEXIST: "conflict",
    errno.ENAMETOOLONG: "path",
    errno.EINVAL: "path",
}


def failure(error: OSError) -> PeerError:
    """An error of the system as one of an operation."""
    return PeerError(_CODES.get(error.errno or 0, "io"), error.strerror or str(error))


def parts(path: str) -> tuple[str, ...]:
    """The names in a relative path. Raises PeerError `path` if it is absolute, climbs or is too deep."""
    if path in ("", "."):
        return ()
    names = tuple(path.split("/"))
    if "\0" in path or len(names) > DEEPEST or any(name in ("", ".", "..") for name in names):
        raise PeerError("path", path)
    return names


def is_temporary(name: str) -> bool:
    """Whether `name` is a file that was being written."""
    return name.startswith(TEMPORARY[0]) and name.endswith(TEMPORARY[1])


class Folder:
    """The folder `root`; all paths are relative to it. Stateless; for worker threads."""

    def __init__(self, root: str) -> None:
        self.root = root

    @contextmanager
    def opened(self, names: tuple[str, ...], *, make: bool = False) -> Iterator[int]:
        """A descriptor of the folder `names`; with `make`, what is missing on the way is made. Raises
        OSError: ENOTDIR or ELOOP where something on the way is a link or no folder."""
        current = os.open(self.root, _FOLDER & ~os.O_NOFOLLOW)
        try:
            for name in names:
                try:
                    below = os.open(name, _FOLDER, dir_fd=current)
                except FileNotFoundError:
                    if not make:
                        raise
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(name, 0o755, dir_fd=current)
                    below = os.open(name, _FOLDER, dir_fd=current)
                os.close(current)
                current = below
            yield current
        finally:
            os.close(current)

    @contextmanager
    def reading(self, names: tuple[str, ...]) -> Iterator[int]:
        """A descriptor of an ordinary file, to read. Raises OSError, or PeerError `special` or `folder`."""
        if not names:
            raise PeerError("folder", "")
        with self.opened(names[:-1]) as folder:
            # Without waiting, since opening a named pipe would wait for a writer.
            handle = os.open(
                names[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder
            )
        try:
            kind = stat.S_IFMT(os.fstat(handle).st_mode)
            if kind != stat.S_IFREG:
                raise PeerError("folder" if kind == stat.S_IFDIR else "special", names[-1])
            yield handle
        finally:
            os.close(handle)

    def remove(self, names: tuple[str, ...], *, prune: bool = False, expected: str | None = None) -> bool:
        """Remove a file, a link or an empty folder; False where there is none. With `prune`, the folders that
        this empties go too. Raises OSError, and PeerError `conflict` where the file is not `expected`."""
        if not names:
            raise PeerError("path", "")
        try:
            with self.opened(names[:-1]) as folder:
                found = os.stat(names[-1], dir_fd=folder, follow_symlinks=False)
                if not stat.S_ISLNK(found.st_mode):
                    check(folder, names[-1], expected)
                if stat.S_ISDIR(found.st_mode):
                    os.rmdir(names[-1], dir_fd=folder)
                else:
                    os.unlink(names[-1], dir_fd=folder)
        except FileNotFoundError:
            return False
        if prune:
            self._prune(names[:-1])
        return True

    def _prune(self, names: tuple[str, ...]) -> None:
        with contextlib.suppress(OSError):
            while names:
                with self.opened(names[:-1]) as folder:
                    os.rmdir(names[-1], dir_fd=folder)
                names = names[:-1]


PIECE = 1 << 18


def same(one: os.stat_result, other: os.stat_result) -> bool:
    """Whether a file looks unchanged between two moments."""
    fields = ("st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")
    return all(getattr(one, field) == getattr(other, field) for field in fields)


def digest(handle: int) -> tuple[str, os.stat_result] | None:
    """SHA-256 of an open file from its beginning and how it was then; None where it changed meanwhile."""
    before = os.fstat(handle)
    total = hashlib.sha256()
    os.lseek(handle, 0, os.SEEK_SET)
    while data := os.read(handle, PIECE):
        total.update(data)
    after = os.fstat(handle)
    return (total.hexdigest(), after) if same(before, after) else None


def check(place: int, name: str, expected: str | None) -> None:
    """Raise PeerError `conflict` unless the file `name` in the open folder `place` has the SHA-256
    `expected`; "" is for no file, None for any."""
    if expected is None:
        return
    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=place)
    except FileNotFoundError:
        made: tuple[str, os.stat_result] | None = ("", os.fstat(place))
    else:
        try:
            made = digest(file) if stat.S_ISREG(os.fstat(file).st_mode) else None
        finally:
            os.close(file)
    if made is None or made[0] != expected:
        raise PeerError("conflict", name)


class Draft:
    """A file being written beside its place, which it takes at once or not at all. A context manager."""

    def __init__(self, folder: Folder, names: tuple[str, ...]) -> None:
        if not names:
            raise PeerError("path", "")
        self._name = names[-1]
        self._stack = contextlib.ExitStack()
        self.place = self._stack.enter_context(folder.opened(names[:-1], make=True))
        self._temporary = f"{TEMPORARY[0]}{secrets.token_hex(8)}{TEMPORARY[1]}"
        self._handle = -1

    def __enter__(self) -> Draft:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            self._handle = os.open(self._temporary, flags, 0o600, dir_fd=self.place)
        except OSError:
            self._stack.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(OSError):
            if self._handle >= 0:
                os.close(self._handle)
        if self._temporary:
            with contextlib.suppress(OSError):
                os.unlink(self._temporary, dir_fd=self.place)
        self._stack.close()

    def write(self, data: bytes) -> None:
        """More content."""
        view = memoryview(data)
        while len(view):
            view = view[os.write(self._handle, view) :]

    def present(self) -> os.stat_result | None:
        """What is at the place now, a link as itself."""
        try:
            return os.stat(self._name, dir_fd=self.place, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def land(self, mode: int | None, mtime_ns: int = 0, expected: str | None = None) -> None:
        """Take the place, with `mode`, by default that of the file before it. Raises PeerError `folder`,
        `link` or `special` where no file may be put, `conflict` where not `expected` (a SHA-256, "" for
        nothing) is there."""
        present = self.present()
        if present is not None and not stat.S_ISREG(present.st_mode):
            kind = stat.S_IFMT(present.st_mode)
            code = {stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}.get(kind, "special")
            raise PeerError(code, self._name)
        if mode is None:
            mode = stat.S_IMODE(present.st_mode) & 0o777 if present else 0o644
        os.fchmod(self._handle, mode & 0o777)
        if mtime_ns:
            os.utime(self._handle, ns=(mtime_ns, mtime_ns))
        check(self.place, self._name, expected)
        os.rename(self._temporary, self._name, src_dir_fd=self.place, dst_dir_fd=self.place)
        self._temporary = ""
