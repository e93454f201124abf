"""Looking over the workspace: a tree of names, a walk through all files, and a snapshot of their hashes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from runtime.changes import FileState, Snapshot
from runtime.confine import Confined, Parts, Sort, Stat
from runtime.pathnames import MAX_DEPTH, WorkspaceError, is_name

_YOUNG = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Node:
    """One name in a listing; `size` in bytes, 0 for all but files."""

    path: str
    sort: Sort
    size: int = 0


@dataclass(frozen=True, slots=True)
class Tree:
    """A listing in which each folder comes before what it holds; `more` when the limit cut it short."""

    nodes: tuple[Node, ...]
    more: bool = False


def list_tree(files: Confined, parts: Parts, depth: int, limit: int) -> Tree:
    """Names below a folder, `depth` levels deep; with more than `limit` names, outer levels come first."""
    level = [parts]
    nodes: dict[Parts, Node] = {}
    more = False
    for _ in range(min(depth, MAX_DEPTH)):
        below: list[Parts] = []
        for folder in level:
            for name, state in _children(files, folder, vanished_is_fine=folder != parts):
                if len(nodes) >= limit:
                    more = True
                    break
                path = (*folder, name)
                nodes[path] = Node("/".join(path), state.sort, state.size if state.sort == "file" else 0)
                if state.sort == "folder" and is_name(name):
                    below.append(path)
        level = below
    return Tree(tuple(nodes[path] for path in sorted(nodes)), more)


def walk(files: Confined, parts: Parts) -> Iterator[tuple[Parts, Stat]]:
    """Everything below a folder that is not a folder, sorted within each; links are not followed."""
    pending = [parts]
    while pending:
        folder = pending.pop()
        inner: list[Parts] = []
        for name, state in _children(files, folder, vanished_is_fine=folder != parts):
            path = (*folder, name)
            if state.sort == "folder" and is_name(name) and len(path) < MAX_DEPTH:
                inner.append(path)
            else:
                yield path, state
        pending.extend(reversed(inner))


def _children(files: Confined, folder: Parts, *, vanished_is_fine: bool) -> list[tuple[str, Stat]]:
    try:
        found = files.names(folder)
    except WorkspaceError:
        if vanished_is_fine:
            return []
        raise
    return sorted(item for item in found if not is_temporary(item[0]))


def temporary_name(change_id: str, number: int) -> str:
    """The name under which step `number` of a change is written before it is complete; nobody sees it."""
    return f".orion-{change_id}-{number}.tmp"


def is_temporary(name: str) -> bool:
    """Whether `name` is one of those, which no listing shows."""
    return name.startswith(".orion-") and name.endswith(".tmp")


# --- snapshot -----------------------------------------------------------------------------------------


class Census:
    """Hashes of all files, computed again only for those that changed since. Any thread."""

    def __init__(self) -> None:
        self._known: dict[Parts, tuple[Stat, str]] = {}
        self._lock = threading.Lock()

    def take(
        self, files: Confined, limit: int, hashed: Callable[[Parts], str], valid: Callable[[str], bool]
    ) -> Snapshot:
        """All regular files below the root; `hashed` reads one, a known hash is used again while `valid`.

        Raises WorkspaceError `workspace_crowded` beyond `limit` files.
        """
        known: dict[Parts, tuple[Stat, str]] = {}
        found: dict[str, FileState] = {}
        skipped: list[str] = []
        with self._lock:
            for path, state in walk(files, ()):
                digest = self._digest(path, state, hashed, valid)
                if digest is None:
                    skipped.append("/".join(path))
                    continue
                if len(found) >= limit:
                    raise WorkspaceError("workspace_crowded", limit=limit)
                if time.time_ns() - max(state.mtime, state.ctime) > _YOUNG:
                    known[path] = (state, digest)  # a younger one could change within the clock's grain
                found["/".join(path)] = FileState(digest, state.size, state.mode)
            self._known = known
        return Snapshot(found, tuple(skipped))

    def _digest(
        self, path: Parts, state: Stat, hashed: Callable[[Parts], str], valid: Callable[[str], bool]
    ) -> str | None:
        if state.sort != "file" or not is_name(path[-1]):
            return None
        seen, digest = self._known.get(path, (None, ""))
        if seen == state and valid(digest):
            return digest
        try:
            return hashed(path)
        except WorkspaceError:
            return None
