"""Lists, reads and writes files for the host: those of the workspace, or any that this user may touch."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, TypeVar

from sandbox.guest.call import Call, PeerError
from sandbox.guest.desk import GuestDesk
from sandbox.guest.files_folder import Draft, Folder, failure, parts, same
from sandbox.guest.files_listing import Hashes, Listing
from sandbox.guest.files_packing import DATA, END, HEAD, members, packed, told, unpacked
from sandbox.guest.peer import Operation

T = TypeVar("T")

HOME = "/workspace"
PIECE = 1 << 20
LINES = 500
TOGETHER = 64
"""Small files that one worker thread reads or writes in one go."""

MOST_SKIPPED = 1_000


class Files:
    """The operations; blocking work is done in worker threads. `home` is the workspace."""

    def __init__(self, home: str = HOME) -> None:
        self._home = home
        self._hashes = Hashes()
        self._listing = asyncio.Lock()

    def _place(self, call: Call, path: str) -> tuple[Folder, tuple[str, ...]]:
        """Where `path` is: below the workspace with no link followed, or with `anywhere` wherever its links
        lead, as for every program of this user."""
        if not call.arguments.get("anywhere"):
            return Folder(self._home), parts(path)
        if not path.startswith("/") or "\0" in path:
            raise PeerError("path", path)
        return Folder("/"), parts(os.path.realpath(path).lstrip("/"))

    async def list(self, call: Call) -> dict[str, Any]:
        """`files.list`."""
        given = call.arguments
        folder, names = self._place(call, str(given.get("path", "")))
        hashes = self._hashes if given.get("hashes", True) else None
        limit, depth = int(given.get("limit", 100_000)), int(given.get("depth", 64))
        listing = Listing(folder, hashes, limit=limit, depth=depth)
        async with self._listing:
            entries = listing.entries("/".join(names))
            while lines := await _uncut(_lines, entries):
                await call.send(lines)
        return {"complete": listing.complete, "skipped": listing.skipped[:MOST_SKIPPED]}

    async def look(self, call: Call) -> dict[str, Any]:
        """`files.look`."""
        folder, names = self._place(call, str(call.arguments.get("path", "")))

        def looked() -> dict[str, Any]:
            if not names:
                return {"kind": "folder", "size": 0}
            with folder.opened(names[:-1]) as above:
                found = os.stat(names[-1], dir_fd=above, follow_symlinks=False)
            kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
            return {"kind": kinds.get(stat.S_IFMT(found.st_mode), "special"), "size": found.st_size}

        return await _uncut(looked)

    async def get(self, call: Call) -> dict[str, Any]:
        """`files.get`."""
        limit = int(call.arguments.get("limit", 1 << 26))
        left = [str(path) for path in call.arguments.get("paths", [])]
        while left:
            small = await _uncut(self._small, call, left[:TOGETHER], limit)
            if small:
                await call.send(b"".join(small))
                del left[: len(small)]
            else:
                await self._large(call, left.pop(0), limit)
        return {}

    def _small(self, call: Call, paths: Iterable[str], limit: int) -> Sequence[bytes]:
        """The first of `paths`, packed, up to one that is too large to be read in one piece."""
        done: list[bytes] = []
        for path in paths:
            try:
                folder, names = self._place(call, path)
                with folder.reading(names) as handle:
                    found = os.fstat(handle)
                    if min(PIECE, limit) < found.st_size <= limit or sum(map(len, done)) > PIECE:
                        return done
                    if found.st_size > limit:
                        raise PeerError("large", str(found.st_size))
                    data = os.read(handle, PIECE)
                    whole = len(data) == (found.st_size or len(data))  # what the system makes up has size 0
                    if not whole or not same(found, os.fstat(handle)):
                        raise PeerError("changing", path)
            except OSError as error:
                done.append(told(END, path=path, error=failure(error).code))
            except PeerError as error:
                done.append(told(END, path=path, error=error.code))
            else:
                end = told(END, path=path, error="", sha256=hashlib.sha256(data).hexdigest())
                done.append(_head(path, found) + packed(DATA, data) + end)
        return done

    async def _large(self, call: Call, path: str, limit: int) -> None:
        """One file in pieces; that it changes while it is read is told at its end."""
        folder, names = self._place(call, path)

        def opened() -> tuple[int, os.stat_result]:
            with folder.reading(names) as handle:
                return os.dup(handle), os.fstat(handle)

        total, size, error = hashlib.sha256(), 0, ""
        try:
            handle, before = await _uncut(opened)
        except PeerError as fault:
            await call.send(told(END, path=path, error=fault.code))
            return
        try:
            await call.send(_head(path, before))
            while size <= limit and (data := await _uncut(os.read, handle, PIECE)):
                total.update(data)
                size += len(data)
                await call.send(packed(DATA, data))
            error = "" if same(before, os.fstat(handle)) and size == before.st_size else "changing"
        finally:
            os.close(handle)
        await call.send(told(END, path=path, error=error, sha256=total.hexdigest()))

    async def put(self, call: Call) -> dict[str, Any]:
        """`files.put`."""
        waiting: list[_Incoming] = []
        failed: dict[str, str] = {}
        incoming: _Incoming | None = None

        async def land() -> None:
            await _uncut(_landed, waiting)
            failed.update((one.path, one.error) for one in waiting if one.error)
            waiting.clear()

        try:
            async for kind, payload in unpacked(call.receive):
                if kind == HEAD:
                    incoming = _Incoming(members(payload), lambda path: self._place(call, path))
                    waiting.append(incoming)
                elif incoming is None:
                    raise PeerError("garbage", "content without a head")
                elif kind == DATA:
                    incoming.take(payload)
                    if incoming.size >= PIECE:
                        await _uncut(incoming.flush)
                else:
                    incoming = None
                    if len(waiting) >= TOGETHER or sum(one.size for one in waiting) >= PIECE:
                        await land()
            if incoming is None:
                await land()
        finally:
            for one in waiting:
                one.drop()
        return {"failed": failed}

    async def remove(self, call: Call) -> dict[str, Any]:
        """`files.remove`."""
        prune = bool(call.arguments.get("prune"))
        failed: dict[str, str] = {}
        absent: list[str] = []

        def removed(wanted: Iterable[Any]) -> None:
            for path, expected in wanted:
                try:
                    folder, names = self._place(call, str(path))
                    if not folder.remove(names, prune=prune, expected=expected):
                        absent.append(path)
                except OSError as error:
                    failed[path] = failure(error).code
                except PeerError as error:
                    failed[path] = error.code

        await _uncut(removed, call.arguments.get("paths", []))
        return {"failed": failed, "absent": absent}

    async def make_folder(self, call: Call) -> dict[str, Any]:
        """`files.make_folder`."""
        folder, names = self._place(call, str(call.arguments.get("path", "")))
        mode = int(call.arguments.get("mode", 0o755)) & 0o777

        def made() -> dict[str, Any]:
            with folder.opened(names, make=True) as handle:
                os.fchmod(handle, mode)
            return {}

        return await _uncut(made)


class _Incoming:
    """One file on its way in. `error` is the code of what keeps it from its place; then what comes is
    dropped. All but `take` belongs into a worker thread."""

    def __init__(self, head: dict[str, Any], place: Callable[[str], tuple[Folder, tuple[str, ...]]]) -> None:
        self.path, self.error = str(head.get("path", "")), ""
        self._head, self._place = head, place
        self._pieces = bytearray()
        self._draft: Draft | None = None

    @property
    def size(self) -> int:
        """Bytes that are held and not written."""
        return len(self._pieces)

    def take(self, data: bytes) -> None:
        """More content."""
        if not self.error:
            self._pieces += data

    def flush(self) -> None:
        """Write what is held."""
        self._tried(self._written)

    def land(self) -> None:
        """Put the file in its place."""
        self._tried(self._landed)
        self.drop()

    def drop(self) -> None:
        """Leave nothing of what was not put in place."""
        draft, self._draft = self._draft, None
        if draft is not None:
            draft.__exit__()

    def _tried(self, work: Callable[[], None]) -> None:
        if self.error:
            return
        try:
            work()
        except OSError as error:
            self.error = failure(error).code
        except PeerError as error:
            self.error = error.code
        if self.error:
            self._pieces.clear()

    def _written(self) -> None:
        if self._draft is None:
            self._draft = Draft(*self._place(self.path)).__enter__()
        self._draft.write(bytes(self._pieces))
        self._pieces.clear()

    def _landed(self) -> None:
        self._written()
        if self._draft is not None:
            mode, expected = self._head.get("mode"), self._head.get("expected")
            self._draft.land(mode, int(self._head.get("mtime_ns", 0)), expected)


def _landed(waiting: Iterable[_Incoming]) -> None:
    for one in waiting:
        one.land()


def _head(path: str, found: os.stat_result) -> bytes:
    return told(HEAD, path=path, mode=stat.S_IMODE(found.st_mode), mtime_ns=found.st_mtime_ns)


def _lines(entries: Iterable[dict[str, Any]]) -> bytes:
    """The next entries as lines of JSON; b"" after the last."""
    found = list(islice(entries, LINES))
    return b"".join(json.dumps(entry, separators=(",", ":")).encode("ascii") + b"\n" for entry in found)


async def _uncut(work: Callable[..., T], *arguments: Any) -> T:
    """`work` in a worker thread, always to its end: a cancelled operation may close no file that is still in
    use there. Errors of the system become PeerError."""
    task = asyncio.ensure_future(asyncio.to_thread(work, *arguments))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.gather(task, return_exceptions=True)
        raise
    except OSError as error:
        raise failure(error) from error


def operations(desk: GuestDesk) -> dict[str, Operation]:
    """What the host may ask for. Paths are relative to the workspace and meet no link; with `anywhere` they
    are absolute. Codes: path, missing, link, folder, special, forbidden, full, large, conflict, changing,
    occupied, io.

    `files.list` {path, hashes, limit, depth} streams a line of JSON for each entry → {complete, skipped}.
    `files.look` {path} → {kind, size}. `files.get` {paths, limit} streams packed files → {}.
    `files.put` takes packed files with {path, mode, mtime_ns, expected} → {failed: {path: code}}.
    `files.remove` {paths: [[path, expected], …], prune} → {failed, absent}.
    `files.make_folder` {path, mode} → {}.
    """
    del desk
    files = Files()
    return {
        "files.list": files.list,
        "files.look": files.look,
        "files.get": files.get,
        "files.put": files.put,
        "files.remove": files.remove,
        "files.make_folder": files.make_folder,
    }
