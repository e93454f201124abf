"""Lists, reads and writes files for the host: those of the workspace, or any that this user may touch."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from sandbox.guest.call import Call, PeerError
from sandbox.guest.desk import GuestDesk
from sandbox.guest.files_folder import Draft, Folder, failure, parts, same
from sandbox.guest.files_listing import Hashes, Listing
from sandbox.guest.files_packing import DATA, END, HEAD, members, packed, told, unpacked
from sandbox.guest.peer import Operation

HOME = "/workspace"
PIECE = 1 << 20
LINES = 500
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
            while lines := await asyncio.to_thread(_lines, entries):
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

        return await _threaded(looked)

    async def get(self, call: Call) -> dict[str, Any]:
        """`files.get`."""
        limit = int(call.arguments.get("limit", 1 << 26))
        for path in map(str, call.arguments.get("paths", [])):
            try:
                await self._send(call, path, limit)
            except OSError as error:
                await call.send(told(END, path=path, error=failure(error).code))
            except PeerError as error:
                if call.ended or call.cancelled:
                    raise
                await call.send(told(END, path=path, error=error.code))
        return {}

    async def _send(self, call: Call, path: str, limit: int) -> None:
        """One file; what changes while it is read is told at its end."""
        folder, names = self._place(call, path)

        def first() -> tuple[int, os.stat_result, bytes]:
            with folder.reading(names) as handle:
                found = os.fstat(handle)
                if found.st_size > limit:
                    raise PeerError("large", str(found.st_size))
                data = os.read(handle, PIECE)
                whole = len(data) == found.st_size and same(found, os.fstat(handle))
                return (-1 if whole else os.dup(handle)), found, data

        handle, before, data = await asyncio.to_thread(first)
        total, size = hashlib.sha256(), 0
        try:
            await call.send(
                told(HEAD, path=path, mode=stat.S_IMODE(before.st_mode), mtime_ns=before.st_mtime_ns)
            )
            while data:
                total.update(data)
                size += len(data)
                if size > limit:
                    raise PeerError("large", str(size))
                await call.send(packed(DATA, data))
                data = await asyncio.to_thread(os.read, handle, PIECE) if handle >= 0 else b""
            changed = handle >= 0 and not same(before, os.fstat(handle))
        finally:
            if handle >= 0:
                os.close(handle)
        await call.send(told(END, path=path, error="changing" if changed else "", sha256=total.hexdigest()))

    async def put(self, call: Call) -> dict[str, Any]:
        """`files.put`."""
        failed: dict[str, str] = {}
        incoming: _Incoming | None = None
        try:
            async for kind, payload in unpacked(call.receive):
                if kind == HEAD:
                    head = members(payload)
                    incoming = _Incoming(head, lambda path: self._place(call, path))
                elif incoming is None:
                    raise PeerError("garbage", "content without a head")
                elif kind == DATA:
                    await incoming.take(payload)
                else:
                    error = await incoming.land()
                    if error:
                        failed[incoming.path] = error
                    incoming = None
        finally:
            if incoming is not None:
                incoming.drop()
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

        await asyncio.to_thread(removed, call.arguments.get("paths", []))
        return {"failed": failed, "absent": absent}

    async def make_folder(self, call: Call) -> dict[str, Any]:
        """`files.make_folder`."""
        folder, names = self._place(call, str(call.arguments.get("path", "")))
        mode = int(call.arguments.get("mode", 0o755)) & 0o777

        def made() -> dict[str, Any]:
            with folder.opened(names, make=True) as handle:
                os.fchmod(handle, mode)
            return {}

        return await _threaded(made)


class _Incoming:
    """One file on its way in; small ones are written in one go."""

    def __init__(self, head: dict[str, Any], place: Callable[[str], tuple[Folder, tuple[str, ...]]]) -> None:
        self.path = str(head.get("path", ""))
        self._head, self._place = head, place
        self._pieces = bytearray()
        self._draft: Draft | None = None
        self._error = ""

    async def take(self, data: bytes) -> None:
        """More content."""
        self._pieces += data
        if len(self._pieces) >= PIECE and not self._error:
            await self._tried(self._flush)
        if self._error:
            self._pieces.clear()

    async def land(self) -> str:
        """Put the file in its place; the code of what kept it from there, or ""."""
        if not self._error:
            await self._tried(self._landed)
        self.drop()
        return self._error

    def drop(self) -> None:
        """Leave nothing of what was not put in place."""
        draft, self._draft = self._draft, None
        if draft is not None:
            draft.__exit__()

    async def _tried(self, work: Callable[[], None]) -> None:
        try:
            await asyncio.to_thread(work)
        except OSError as error:
            self._error = failure(error).code
        except PeerError as error:
            self._error = error.code

    def _flush(self) -> None:
        if self._draft is None:
            self._draft = Draft(*self._place(self.path)).__enter__()
        self._draft.write(bytes(self._pieces))
        self._pieces.clear()

    def _landed(self) -> None:
        self._flush()
        if self._draft is not None:
            mode, expected = self._head.get("mode"), self._head.get("expected")
            self._draft.land(mode, int(self._head.get("mtime_ns", 0)), expected)


def _lines(entries: Iterable[dict[str, Any]]) -> bytes:
    """The next entries as lines of JSON; b"" after the last."""
    try:
        found = list(islice(entries, LINES))
    except OSError as error:
        raise failure(error) from error
    return b"".join(json.dumps(entry, separators=(",", ":")).encode("ascii") + b"\n" for entry in found)


async def _threaded(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return await asyncio.to_thread(work)
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
