"""The files of a running machine, as the host lists, reads and writes them through its guest."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from sandbox.errors import SandboxError
from sandbox.guest.files_packing import DATA, END, HEAD, members, packed, told, unpacked
from sandbox.guest.peer import Peer, PeerError

Kind = Literal["file", "folder", "link", "special"]

LIMIT = 64 << 20
BATCH = 1_000
PIECE = 1 << 18

LISTED = 64 << 20
"""Bytes of a listing: what a guest says is not trusted with this side's memory."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_LONGEST_PATH = 4_096
_KINDS = ("file", "folder", "link", "special")

_CODES = {
    "path": "guest_path_refused",
    "missing": "guest_file_missing",
    "link": "guest_file_link",
    "folder": "guest_file_folder",
    "special": "guest_file_special",
    "forbidden": "guest_file_forbidden",
    "full": "guest_disk_full",
    "large": "guest_file_large",
    "conflict": "guest_file_conflict",
    "changing": "guest_file_conflict",
    "occupied": "guest_folder_occupied",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """Something in a folder. `path` is relative to what was asked for, with `/`; bytes of a name that are not
    UTF-8 are lone surrogates. `mode` are the permission bits, `sha256` is of files, `target` of links."""

    path: str
    kind: Kind
    size: int
    mtime_ns: int
    mode: int
    sha256: str = ""
    target: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """`entries`, parents first. `skipped` are paths with the reason: unreadable, changing, deep. Not
    `complete` where there is more than was asked for."""

    entries: tuple[Entry, ...]
    skipped: tuple[tuple[str, str], ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class Put:
    """A file to write. `mode` None keeps that of the file before it. `expected` is the SHA-256 of what must
    be there, "" for nothing, None for anything."""

    path: str
    data: bytes
    mode: int | None = None
    mtime_ns: int = 0
    expected: str | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file that was read, or the code of what kept it from being read (see `GuestFiles`) in `error`."""

    path: str
    data: bytes = b""
    mode: int = 0
    mtime_ns: int = 0
    sha256: str = ""
    error: str = ""


class GuestFiles:
    """Files of the workspace by paths relative to it, on which no link is followed; with `anywhere`, those of
    the whole machine by absolute paths, links followed, as far as its user may.

    Methods for one file raise SandboxError with `path`; those for many return codes: path, missing, link,
    folder, special, forbidden, full, large, conflict, changing, occupied, io. All raise PeerGone when the
    machine is lost.
    """

    def __init__(self, bulk: Peer, *, anywhere: bool = False) -> None:
        self._peer = bulk
        self._where = {"anywhere": True} if anywhere else {}

    async def list(
        self, path: str = "", *, hashes: bool = True, limit: int = 100_000, depth: int = 64
    ) -> Listing:
        """Everything below the folder `path`, at most `depth` levels down. The paths begin at the workspace,
        or with `anywhere` at the root of the machine."""
        asked = {"path": path, "hashes": hashes, "limit": limit, "depth": depth, **self._where}
        gathered = bytearray()
        try:
            async with await self._peer.open("files.list", **asked) as call:
                while data := await call.receive():
                    gathered += data
                    if len(gathered) > LISTED:
                        raise PeerError("garbage", "more names than are taken")
                result = await call.result()
            return await asyncio.to_thread(_listing, gathered, result, limit)
        except PeerError as error:
            raise fault(error.code, path) from error

    async def look(self, path: str) -> tuple[Kind, int] | None:
        """What is at `path` and its size; None for nothing."""
        try:
            found = await self._peer.call("files.look", path=path, **self._where)
        except PeerError as error:
            if error.code == "missing":
                return None
            raise fault(error.code, path) from error
        kind, size = found.get("kind"), found.get("size")
        if kind not in _KINDS or not isinstance(size, int):
            raise fault("garbage", path)
        return kind, size

    async def read(self, path: str, *, limit: int = LIMIT) -> Fetched:
        """A whole file of at most `limit` bytes."""
        async for fetched in self.get_many([path], limit=limit):
            if fetched.error:
                raise fault(fetched.error, path)
            return fetched
        raise fault("missing", path)

    async def write(self, path: str, data: bytes, *, mode: int | None = None) -> None:
        """Write a file at once or not at all; folders on the way are made."""
        failed = await self.put_many([Put(path, data, mode)])
        if failed:
            raise fault(failed[path], path)

    async def remove(self, path: str) -> bool:
        """Remove a file, a link or an empty folder; False where there was none."""
        try:
            result = await self._peer.call("files.remove", paths=[[path, None]], **self._where)
            failed = _failed(result, [path])
        except PeerError as error:
            raise fault(error.code, path) from error
        if failed:
            raise fault(failed[path], path)
        return not result.get("absent")

    async def make_folder(self, path: str, *, mode: int = 0o755) -> None:
        """Make a folder and those above it; one that is there gets the mode."""
        try:
            await self._peer.call("files.make_folder", path=path, mode=mode, **self._where)
        except PeerError as error:
            raise fault(error.code, path) from error

    async def put_many(self, files: Iterable[Put]) -> dict[str, str]:
        """Write several files in one stream; the code of each that failed by its path."""
        asked: list[str] = []
        try:
            async with await self._peer.open("files.put", **self._where) as call:
                for file in files:
                    asked.append(file.path)
                    for piece in _pieces(file):
                        await call.send(piece)
                await call.finish()
                return _failed(await call.result(), asked)
        except PeerError as error:
            raise fault(error.code, "") from error

    async def get_many(self, paths: Iterable[str], *, limit: int = LIMIT) -> AsyncGenerator[Fetched, None]:
        """Read several files, each of at most `limit` bytes, in the order asked for."""
        left = iter(paths)
        while batch := list(islice(left, BATCH)):
            try:
                async with aclosing(self._batch(batch, limit)) as files:
                    async for fetched in files:
                        yield fetched
            except PeerError as error:
                raise fault(error.code, "") from error

    async def _batch(self, batch: Sequence[str], limit: int) -> AsyncGenerator[Fetched, None]:
        async with await self._peer.open("files.get", paths=batch, limit=limit, **self._where) as call:
            head: dict[str, Any] = {}
            data = bytearray()
            left = iter(batch)
            async for kind, payload in unpacked(call.receive):
                if kind == HEAD:
                    head, data = members(payload), bytearray()
                elif kind == DATA:
                    data += payload
                    if len(data) > limit + PIECE:
                        raise PeerError("garbage", "more than was asked for")
                else:
                    fetched = _fetched(head, bytes(data), members(payload))
                    head, data = {}, bytearray()
                    if fetched.path != next(left, None):
                        raise PeerError("garbage", "not what was asked for")
                    yield fetched

    async def remove_many(
        self, paths: Iterable[tuple[str, str | None]], *, prune: bool = False
    ) -> dict[str, str]:
        """Remove files, links and empty folders, each with the SHA-256 that must be there or None; with
        `prune`, the folders that this empties too. The code of each that failed by its path."""
        failed: dict[str, str] = {}
        left = iter(paths)
        while batch := [list(pair) for pair in islice(left, BATCH)]:
            try:
                result = await self._peer.call("files.remove", paths=batch, prune=prune, **self._where)
                failed |= _failed(result, [str(path) for path, _expected in batch])
            except PeerError as error:
                raise fault(error.code, "") from error
        return failed


def fault(code: str, path: str) -> SandboxError:
    """The error for a code of the guest."""
    if code in _CODES:
        return SandboxError(_CODES[code], path=path)
    return SandboxError("guest_file_failed", path=path, reason=code)


def _pieces(file: Put) -> Iterator[bytes]:
    head = {"path": file.path, "mode": file.mode, "mtime_ns": file.mtime_ns, "expected": file.expected}
    if len(file.data) <= PIECE:
        yield told(HEAD, **head) + packed(DATA, file.data) + told(END)
        return
    yield told(HEAD, **head)
    view = memoryview(file.data)
    for start in range(0, len(view), PIECE):
        yield packed(DATA, bytes(view[start : start + PIECE]))
    yield told(END)


def _failed(result: dict[str, Any], asked: Iterable[str]) -> dict[str, str]:
    """The codes of those paths that were asked for."""
    found = result.get("failed")
    if not isinstance(found, dict):
        raise PeerError("garbage", "no word on what failed")
    return {path: str(found[path])[:64] for path in asked if path in found}


def _fetched(head: dict[str, Any], data: bytes, end: dict[str, Any]) -> Fetched:
    path = str(end.get("path", ""))
    if end.get("error"):
        return Fetched(path, error=str(end["error"])[:64])
    try:
        return Fetched(path, data, int(head["mode"]), int(head["mtime_ns"]), str(end["sha256"]))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise PeerError("garbage", "a file without a head or an end") from error


def _listing(lines: bytearray, result: dict[str, Any], limit: int) -> Listing:
    """What a guest listed, every member checked; any thread. Raises PeerError."""
    try:
        entries = tuple(_entry(json.loads(line)) for line in lines.splitlines())
        skipped = tuple((str(name)[:_LONGEST_PATH], str(why)[:64]) for name, why in result.get("skipped", []))
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise PeerError("garbage", "a listing that cannot be read") from error
    if len(entries) > limit:
        raise PeerError("garbage", "more names than were asked for")
    return Listing(entries, skipped, bool(result.get("complete")))


def _entry(found: dict[str, Any]) -> Entry:
    """One entry. ValueError for one that no guest of ours would send: a hash names a content."""
    path, kind, sha256 = found["path"], found["kind"], found.get("sha256", "")
    if not isinstance(path, str) or len(path) > _LONGEST_PATH or kind not in _KINDS:
        raise ValueError("no path or no kind")
    if sha256 and not _SHA256.fullmatch(sha256):
        raise ValueError("no hash")
    return Entry(
        path=path,
        kind=kind,
        size=max(0, int(found["size"])),
        mtime_ns=int(found["mtime_ns"]),
        mode=int(found["mode"]) & 0o7777,
        sha256=sha256,
        target=str(found.get("target", ""))[:_LONGEST_PATH],
    )
