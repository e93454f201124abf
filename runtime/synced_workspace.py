"""Keeps the user's folder and the sandbox's copy of it in step, and lets neither overwrite the other."""

from __future__ import annotations

import asyncio
import hashlib
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from runtime.errors import OrionError
from runtime.guest_copy import Copy, Listing, Wanted
from runtime.pathnames import WorkspaceError, split
from runtime.survey import is_temporary
from runtime.sync_book import Book, Mark, State, Turn
from runtime.workspace import FOLDERS, Workspace

BATCH = 16_000_000
"""Bytes of content that are on their way at once."""


@dataclass(slots=True)
class Side:
    """One side as it is now: `files`, and in `odd` what cannot be synced, each with a code."""

    files: dict[str, Mark] = field(default_factory=dict)
    odd: dict[str, str] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    modes: dict[str, int] = field(default_factory=dict)


class SyncedWorkspace:
    """The rules of the synchronisation, applied to a book that the caller holds and saves.

    `bits`: the host has executable bits; `folds`: it takes names that differ in case for one.
    """

    def __init__(
        self, workspace: Workspace, *, bits: bool = sys.platform != "win32", folds: bool | None = None
    ) -> None:
        self.workspace = workspace
        self.bits = bits
        self._folds = sys.platform in ("win32", "darwin") if folds is None else folds

    # --- looking ------------------------------------------------------------------------------------

    def host(self, book: Book) -> Side:
        """The user's folder. Blocks: for a thread."""
        shot = self.workspace.snapshot()
        side = Side(odd=dict.fromkeys(shot.skipped, "sync_host_left_out"))
        for path, found in shot.files.items():
            executable = bool(found.mode & 0o100) if self.bits else _as_known(found.sha256, path, book)
            side.modes[path] = found.mode
            side.files[path] = Mark(found.sha256, found.size, executable)
            if found.size > self.workspace.limits.write:
                side.odd[path] = "sync_host_large"
        return side

    async def copy(self, copy: Copy, book: Book) -> Side:
        """The sandbox's copy. Raises OrionError `sync_crowded` when it holds too many files."""
        return await asyncio.to_thread(self._side, await copy.list(), book)

    def _side(self, listing: Listing, book: Book) -> Side:
        limit = self.workspace.limits.files
        side = Side(odd=dict.fromkeys(listing.unread, "sync_unread"))
        for found in listing.found:
            match found.sort:
                case "folder":
                    side.folders.add(found.path)
                case "link":
                    side.odd[found.path] = "sync_link"
                case "other":
                    side.odd[found.path] = "sync_special"
                case "file" if not _is_path(found.path):
                    side.odd[found.path] = "sync_name"
                case "file" if found.size > self.workspace.limits.write:
                    side.odd[found.path] = "sync_large"
                case "file":
                    side.files[found.path] = Mark(found.sha256, found.size, bool(found.mode & 0o100))
        if not listing.complete or len(side.files) > limit:
            raise OrionError("sync_crowded", limit=limit)
        if self._folds:
            for path in _collisions(book.base, side.files):
                side.odd[path] = "sync_collides"
                del side.files[path]
        return side

    # --- what the copy is owed ----------------------------------------------------------------------

    async def settle(self, book: Book, copy: Copy, seen: Side) -> bool:
        """Give the copy what it is owed, and forget what it changed again itself; True when the book was
        changed."""
        before = dict(book.owed)
        for path, (was, state) in before.items():
            actual = seen.files.get(path)
            if path not in seen.odd and (actual == state or actual != was):
                del book.owed[path]
        wanted = {path: turn[1] for path, turn in book.owed.items() if path not in seen.odd}
        refused = await self._send(copy, wanted, seen, self._stored)
        for path in wanted:
            if path not in refused:
                del book.owed[path]
        return before != book.owed

    # --- from the copy ------------------------------------------------------------------------------

    async def gather(self, book: Book, copy: Copy, seen: Side, host: Side) -> dict[str, Turn]:
        """Note what the copy changed since it was last looked at, with its contents stored, and all that is
        left out; the changes that the user has to judge."""
        unread = [path for path, code in seen.odd.items() if code == "sync_unread"]
        paths = sorted(
            path
            for path in seen.files.keys() | book.base.keys() | book.pending.keys()
            if path not in seen.odd and path not in book.owed and seen.files.get(path) != book.known(path)
            if path in seen.files or not _below(path, unread)
        )
        fetched = await self._fetch(copy, seen, [path for path in paths if path in seen.files])
        steps: dict[str, Turn] = {}
        for path in paths:
            state = fetched.get(path)
            if state is None and path in seen.files:
                continue  # it vanished or changes just now; the next look sees it
            was = book.known(path)
            if host.files.get(path) == state:
                if path in book.pending:
                    steps[path] = (was, state)
                book.set_base(path, state)
                continue
            await asyncio.to_thread(self._keep_base, path, book, host)
            book.set_copy(path, state)
            steps[path] = (was, state)
        for path in [path for path, state in book.pending.items() if host.files.get(path) == state]:
            book.set_base(path, book.pending[path])
        book.left_out = {**host.odd, **seen.odd, **dict.fromkeys(book.owed, "sync_refused")}
        gone = {over for path, state in book.pending.items() if not state for over in folders_above(path)}
        if gone:
            gone -= seen.folders | {over for path in seen.files for over in folders_above(path)}
        book.gone = sorted(gone)
        return steps

    async def _fetch(self, copy: Copy, seen: Side, paths: Sequence[str]) -> dict[str, State]:
        """Store the contents of files of the copy; the state of each as it was stored."""
        got: dict[str, State] = {}
        missing: dict[str, Mark] = {}
        for path in paths:
            mark = seen.files[path]
            if await asyncio.to_thread(self._is_stored, mark):
                got[path] = mark
            else:
                missing[path] = mark
        for batch in _batches(missing):
            contents = await copy.get(batch, self.workspace.limits.write)
            for path, content in contents.items():
                sha256 = await asyncio.to_thread(self.workspace.keep, content)
                got[path] = Mark(sha256, len(content), missing[path].executable)
        return got

    def _is_stored(self, mark: Mark) -> bool:
        """Whether the store has the content, of that very size: the copy may say anything."""
        with suppress(WorkspaceError):
            holds = self.workspace.holds(mark.sha256)
            return holds and len(self.workspace.stored(mark.sha256)) == mark.size
        return False

    def _keep_base(self, path: str, book: Book, host: Side) -> None:
        """Store the common content while the host still has it, so that a difference can be shown."""
        base = book.base.get(path)
        if base is not None and host.files.get(path) == base and not self.workspace.holds(base.sha256):
            self.workspace.keep(self.workspace.read(path, self.workspace.limits.write))

    # --- to the copy --------------------------------------------------------------------------------

    async def push(self, book: Book, copy: Copy, seen: Side, host: Side) -> int:
        """Give the copy what changed on the host, except where the copy has changes of its own; the number
        of files."""
        wanted: dict[str, State] = {}
        for path in host.files.keys() | book.base.keys():
            if path in book.pending or path in book.owed or path in seen.odd or path in host.odd:
                continue
            state = host.files.get(path)
            if state != book.base.get(path) and seen.files.get(path) == book.base.get(path):
                wanted[path] = state
        refused = await self._send(copy, wanted, seen, self._read)
        for path in wanted:
            if path not in refused:
                book.set_base(path, seen.files.get(path))
        told = {path: code for path, code in refused.items() if code != "changed"}
        book.left_out |= dict.fromkeys(told, "sync_refused")
        return len(wanted) - len(refused)

    async def _send(
        self,
        copy: Copy,
        wanted: Mapping[str, State],
        seen: Side,
        content: Callable[[str, Mark], bytes | None],
    ) -> dict[str, str]:
        """Make files of the copy what is wanted, each only if it is as it was seen, and correct what was
        seen; path → code of those that were refused."""
        gone = {
            path: seen.files[path].sha256
            for path, state in wanted.items()
            if not state and path in seen.files
        }
        refused = await copy.remove(gone) if gone else {}
        for path in gone.keys() - refused.keys():
            del seen.files[path]
        await self._tidy(copy, [path for path in gone if path not in refused], seen)
        for batch in _batches({path: state for path, state in wanted.items() if state is not None}):
            ready: dict[str, tuple[Wanted, Mark]] = {}
            for path in batch:
                mark = wanted[path]
                found = await asyncio.to_thread(content, path, mark) if mark else None
                if found is None or mark is None:
                    refused[path] = "changed"
                    continue
                became = Mark(hashlib.sha256(found).hexdigest(), len(found), mark.executable)
                was = seen.files.get(path)
                mode = 0o755 if mark.executable else 0o644
                ready[path] = (Wanted(path, found, mode, was.sha256 if was else ""), became)
            failed = await copy.put([one for one, _mark in ready.values()]) if ready else {}
            refused |= failed
            seen.files |= {path: mark for path, (_one, mark) in ready.items() if path not in failed}
        return refused

    async def _tidy(self, copy: Copy, removed: Iterable[str], seen: Side) -> None:
        """Remove the folders of the copy that were emptied, except those that every workspace has."""
        above = {folder for path in removed for folder in folders_above(path)} - set(FOLDERS)
        if not above:
            return
        full = {folder for path in (*seen.files, *seen.odd) for folder in folders_above(path)}
        empty = sorted(above - full, key=lambda folder: -folder.count("/"))
        if empty:
            await copy.remove_folders(empty)

    def _stored(self, _path: str, mark: Mark) -> bytes | None:
        try:
            return self.workspace.stored(mark.sha256)
        except WorkspaceError:
            return None  # it stays owed, and is told

    def _read(self, path: str, _mark: Mark) -> bytes | None:
        try:
            return self.workspace.read(path, self.workspace.limits.write)
        except WorkspaceError:
            return None  # it changed since it was listed; the next push sees it


def _as_known(sha256: str, path: str, book: Book) -> bool:
    """Whether a file may be run, on a host that cannot tell."""
    base, pending = book.base.get(path), book.pending.get(path)
    known = pending if pending is not None and pending.sha256 == sha256 != (base and base.sha256) else base
    return known is not None and known.executable


def _is_path(path: str) -> bool:
    try:
        parts = split(path)
    except WorkspaceError:
        return False
    return "/".join(parts) == path and not is_temporary(parts[-1])


def folders_above(path: str) -> list[str]:
    """The folders a path lies in, outermost first."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts))]


def _below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _collisions(known: Iterable[str], found: Iterable[str]) -> list[str]:
    """Those paths that the host would take for another one, because only case or composition differs."""
    names: dict[str, str] = {}
    colliding = []
    for path in (*sorted(known), *sorted(found)):
        for prefix in (*folders_above(path), path):
            folded = unicodedata.normalize("NFC", prefix).casefold()
            if names.setdefault(folded, prefix) != prefix:
                colliding.append(path)
                break
    return [path for path in colliding if path in set(found)]


def _batches(files: Mapping[str, State]) -> Iterable[list[str]]:
    batch: list[str] = []
    size = 0
    for path, mark in sorted(files.items()):
        extent = mark.size if mark is not None else 0
        if batch and size + extent > BATCH:
            yield batch
            batch, size = [], 0
        batch.append(path)
        size += extent
    if batch:
        yield batch
