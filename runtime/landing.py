"""How a planned change comes to stand in the file system: all of its steps, or none."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from runtime.change_store import ChangeStore
from runtime.changes import ChangeSet, Conflict, Entry
from runtime.confine import Confined, Parts, Stat
from runtime.pathnames import WorkspaceError, split, visible
from runtime.survey import temporary_name


@dataclass(frozen=True, slots=True)
class Step:
    """One entry with the state it was planned for; contents None where there is no file, or only its name
    or its permission bits change."""

    entry: Entry
    seen: Stat | None
    before: bytes | None = None
    after: bytes | None = None

    @property
    def parts(self) -> Parts:
        return split(self.entry.path)

    @property
    def source(self) -> Parts:
        return split(self.entry.source)


def look(files: Confined, parts: Parts, limit: int) -> tuple[Stat | None, bytes | None]:
    """State and content of a file as one planning step sees it; (None, None) when it is not there."""
    seen = files.stat(parts)
    return (None, None) if seen is None else (seen, files.read(parts, limit))


def sha256(content: bytes | None) -> str | None:
    """The hash of a content, None for none."""
    return None if content is None else hashlib.sha256(content).hexdigest()


def plan(files: Confined, store: ChangeStore, entry: Entry, limit: int) -> Step | Conflict | None:
    """How to make an entry happen; None when it holds already, a Conflict when the file is different."""
    parts = split(entry.path)
    if entry.kind == "moved":
        return _plan_move(files, entry)
    seen, content = look(files, parts, limit)
    found = sha256(content)
    if found == entry.after and (seen is None or entry.mode in (None, seen.mode)):
        return None
    if found != entry.before:
        return Conflict(entry.path, entry.before, found)
    if content is not None:
        store.keep(content)
    after = store.content(entry.after) if entry.after is not None else None
    return Step(entry, seen, content, after)


def _plan_move(files: Confined, entry: Entry) -> Step | Conflict | None:
    source, target = split(entry.source), split(entry.path)
    seen, taken = files.stat(source), files.stat(target)
    there = files.sha256(source) if seen is not None else None
    found = files.sha256(target) if taken is not None else None
    if there is None and found == entry.after:
        return None
    if there != entry.before:
        return Conflict(entry.source, entry.before, there)
    if found is not None:
        return Conflict(entry.path, None, found)
    return Step(entry, seen)


def land(files: Confined, steps: list[Step], change: ChangeSet) -> None:
    """Make the folders, then take every step.

    Raises WorkspaceError: with the code of the step that failed when all before it were taken back, with
    `change_half_done` when one of them could not be.
    """
    made: list[Parts] = []
    done: list[Step] = []
    try:
        for folder in change.folders:
            files.make_folder(split(folder))
            made.append(split(folder))
        for number, step in enumerate(steps):
            _take(files, step, temporary_name(change.id, number))
            done.append(step)
    except WorkspaceError as error:
        _take_all_back(files, done, change, error)
        for folder_parts in reversed(made):
            files.remove_folder(folder_parts)
        raise


def _take(files: Confined, step: Step, temp: str) -> None:
    entry, seen = step.entry, step.seen
    mode = seen.mode if entry.mode is None and seen is not None else entry.mode
    mode = None if mode is None else mode & 0o777
    if entry.kind == "moved" and seen is not None:
        files.move(step.source, step.parts, seen)
    elif entry.kind == "deleted" and seen is not None:
        files.remove(step.parts, seen)
    elif entry.before == entry.after and mode is not None:
        files.set_mode(step.parts, mode)
    elif step.after is not None:
        files.put(step.parts, step.after, mode=mode, seen=seen, temp=temp)


def _take_all_back(files: Confined, done: list[Step], change: ChangeSet, error: WorkspaceError) -> None:
    for number, step in reversed(list(enumerate(done))):
        try:
            _take_back(files, step, temporary_name(change.id, number))
        except WorkspaceError as second:
            path = visible(step.entry.path)
            raise WorkspaceError(
                "change_half_done", path=path, change=change.id, reason=second.code
            ) from error


def _take_back(files: Confined, step: Step, temp: str) -> None:
    entry = step.entry
    seen = files.stat(step.parts)
    back = Step(entry.inverse(), seen, step.after, step.before)
    if entry.kind == "created" and files.sha256(step.parts) != entry.after:
        raise WorkspaceError("workspace_conflict", path=visible(entry.path))
    _take(files, back, temp)
