"""The only door to the user's files: everything read or changed there goes through one Workspace."""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from runtime import search as searching
from runtime import survey
from runtime.change_store import ChangeStore
from runtime.changes import Applied, ChangeSet, Conflict, Entry, Origin, Outcome, Snapshot, difference
from runtime.confine import Confined, Parts
from runtime.landing import Step, land, look, plan
from runtime.pathnames import WorkspaceError, split, visible
from runtime.unified import unified

__all__ = ["FOLDERS", "Limits", "Origin", "Workspace", "WorkspaceError"]

FOLDERS = ("code", "experiments", "notes", "self_modifications", "logs")
"""What a new workspace starts with."""

USER = Origin()
_SWEPT = 100


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes of a file that is read or written, and files of a snapshot."""

    read: int = 10_000_000
    write: int = 50_000_000
    files: int = 50_000


def _now() -> float:
    return round(time.time(), 3)


class Workspace:
    """A folder of the user's, and the memory of what was changed in it.

    Paths are relative to it, in POSIX form; anything that leads elsewhere raises WorkspaceError, whose code
    names a sentence. Every change is stored durably before it happens and can be taken back. Synchronous,
    for any thread; nothing stays open between calls, so there is nothing to close.
    """

    def __init__(self, root: Path, changes: Path, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._files = Confined(root)
        self._store = ChangeStore(changes.absolute())
        self._census = survey.Census()
        self._swept = False
        if Path(os.path.realpath(changes)).is_relative_to(self.root):
            raise WorkspaceError("workspace_holds_changes", path=str(self.root), changes=str(changes))

    @classmethod
    def create(cls, root: Path, changes: Path, limits: Limits | None = None) -> Workspace:
        """The workspace at `root`, made with its usual folders when it is not there."""
        try:
            root.mkdir(parents=True, exist_ok=True)
            workspace = cls(root, changes, limits)
            for folder in FOLDERS:
                if workspace._files.stat((folder,)) is None:
                    workspace._files.make_folder((folder,))
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise WorkspaceError("home_unwritable", path=str(root), reason=reason) from error
        return workspace

    @property
    def root(self) -> Path:
        """The folder itself, with links resolved; for showing, not for opening files."""
        return self._files.root

    # --- looking ------------------------------------------------------------------------------------

    def read(self, path: str, limit: int | None = None) -> bytes:
        """The content of a file of at most `limit` bytes (default: the read limit)."""
        return self._files.read(split(path), self.limits.read if limit is None else limit)

    def read_text(self, path: str, limit: int | None = None) -> str:
        """The content as UTF-8. Raises WorkspaceError `workspace_not_text` when it is something else."""
        try:
            return self.read(path, limit).decode("utf-8")
        except UnicodeDecodeError as error:
            raise WorkspaceError("workspace_not_text", path=visible(path), position=error.start) from error

    def list_tree(self, path: str = "", depth: int = 3, limit: int = 500) -> survey.Tree:
        """Names below a folder, `depth` levels deep; links are named and not followed."""
        return survey.list_tree(self._files, split(path), depth, limit)

    def search(
        self, query: searching.Query, path: str = "", stop: threading.Event | None = None
    ) -> searching.Found:
        """Lines that match, within the query's limits; `stop` ends it early from another thread."""
        return searching.search(self._files, split(path), query, self.limits.read, stop)

    def snapshot(self, *, keep: bool = False) -> Snapshot:
        """All files by hash; unchanged ones are not read again. `keep` stores their contents too, so that
        a later difference can be applied here or taken back."""
        if not keep:
            return self._census.take(self._files, self.limits.files, self._files.sha256, lambda _: True)
        with self._store.locked():
            return self._census.take(self._files, self.limits.files, self._kept, self._store.holds)

    def diff(self, before: Snapshot, after: Snapshot) -> ChangeSet:
        """What leads from one snapshot to the other, as a proposal that `apply` takes."""
        return ChangeSet("", _now(), str(self.root), entries=difference(before, after))

    # --- changing -----------------------------------------------------------------------------------

    def write(self, path: str, content: bytes | str, origin: Origin = USER) -> ChangeSet:
        """Make `path` a file of that content; missing folders are made, permission bits are kept."""
        with self._store.locked():
            written = self._bytes(path, content)
            return self._replace(split(path), lambda _: written, origin)

    def append(self, path: str, content: bytes | str, origin: Origin = USER) -> ChangeSet:
        """Add to the end of a file, which is made when it is not there."""
        with self._store.locked():
            added = self._bytes(path, content)
            return self._replace(split(path), lambda before: (before or b"") + added, origin)

    def edit(self, path: str, old: str, new: str, origin: Origin = USER) -> ChangeSet:
        """Replace the one place where `old` stands. Raises WorkspaceError `edit_not_found`, or
        `edit_ambiguous` with the number of places. Line ends of the file are kept."""
        with self._store.locked():
            return self._replace(split(path), lambda before: self._edited(path, before, old, new), origin)

    def delete(self, path: str, origin: Origin = USER) -> ChangeSet:
        """Remove a file."""
        with self._store.locked():
            parts = split(path)
            seen, content = look(self._files, parts, self.limits.write)
            if seen is None or content is None:
                raise WorkspaceError("workspace_not_found", path=visible(path))
            entry = Entry("/".join(parts), "deleted", self._store.keep(content), None, None, seen.mode)
            return self._commit([Step(entry, seen, content)], origin)

    def move(self, path: str, to: str, origin: Origin = USER) -> ChangeSet:
        """Give a file another name or folder; an existing target is refused."""
        with self._store.locked():
            source, target = split(path), split(to)
            seen = self._files.stat(source)
            digest = self._files.sha256(source)
            if seen is None or self._files.stat(target) is not None:
                raise WorkspaceError("workspace_exists", path=visible(to))
            entry = Entry("/".join(target), "moved", digest, digest, seen.mode, seen.mode, "/".join(source))
            return self._commit([Step(entry, seen)], origin)

    # --- previews -----------------------------------------------------------------------------------

    def preview_write(self, path: str, content: bytes | str, *, append: bool = False) -> str:
        """The diff that `write` (or `append`) would make."""
        parts = split(path)
        before = self._content(parts)
        after = self._bytes(path, content)
        return unified("/".join(parts), before, (before or b"") + after if append else after)

    def preview_edit(self, path: str, old: str, new: str) -> str:
        """The diff that `edit` would make; raises as `edit` does."""
        before = self._content(split(path))
        return unified("/".join(split(path)), before, self._edited(path, before, old, new))

    def preview_delete(self, path: str) -> str:
        """The diff that `delete` would make."""
        return unified("/".join(split(path)), self._content(split(path)), None)

    def diff_text(self, change: ChangeSet) -> str:
        """A change as unified diffs of its files, from the stored contents."""
        shown = []
        for entry in change.entries:
            contents = (None, None) if entry.kind == "moved" else (entry.before, entry.after)
            before, after = (self._store.content(sha) if sha else None for sha in contents)
            shown.append(unified(entry.path, before, after, entry.source))
        return "".join(shown)

    # --- changes as a whole -------------------------------------------------------------------------

    def apply(self, change: ChangeSet, origin: Origin = USER) -> Applied:
        """Let a proposed change happen, all of it or, with conflicts, none. Its new contents must be in the
        store (`keep`); entries that hold already are left out."""
        with self._store.locked():
            return self._apply(change.entries, origin, "")

    def revert(self, change_id: str, origin: Origin = USER) -> Applied:
        """Take a change back, all of it or, with conflicts, none: a file that is no longer as the change
        left it is never overwritten. Reverting a revert does the change again."""
        with self._store.locked():
            change = self._known(change_id)
            applied = self._apply([entry.inverse() for entry in reversed(change.entries)], origin, change.id)
            if not applied.conflicts:
                for folder in reversed(change.folders):
                    self._files.remove_folder(split(folder))
                return applied
            later = {path: other.id for other in self._since(change) for path in other.effects}
            named = (replace(found, later=later.get(found.path, "")) for found in applied.conflicts)
            return Applied(None, tuple(named))

    def undo(self, change_id: str, origin: Origin = USER) -> list[str]:
        """`revert` for a button: the paths that are back. Raises WorkspaceError `undo_conflict`."""
        applied = self.revert(change_id, origin)
        if applied.conflicts:
            raise WorkspaceError("undo_conflict", path=visible(applied.conflicts[0].path))
        return list(applied.change.files) if applied.change else []

    def outcome(self, change_id: str) -> Outcome:
        """What became of a change, told from later changes and the files as they are now."""
        with self._store.locked():
            change = self._known(change_id)
            since = self._since(change)
            reverts = [other.id for other in since if other.reverts == change_id]
            if reverts and self.outcome(reverts[-1]) in ("applied", "changed"):
                return "reverted"
            states = {self._state(path, step, since) for path, step in change.effects.items()}
        if "changed" in states:
            return "changed"
        return "partial" if len(states) > 1 else "applied" if "applied" in states else "not_applied"

    def history(self, session: str = "", call: str = "") -> tuple[ChangeSet, ...]:
        """Stored changes, oldest first; of one session or one tool call where given."""
        with self._store.locked():
            return tuple(
                change
                for change in self._store.changes()
                if session in ("", change.origin.session) and call in ("", change.origin.call)
            )

    def keep(self, content: bytes) -> str:
        """Store a content for a change to be applied; its SHA-256."""
        with self._store.locked():
            return self._store.keep(content)

    def holds(self, sha256: str) -> bool:
        """Whether that content is stored."""
        return self._store.holds(sha256)

    def stored(self, sha256: str) -> bytes:
        """A content that is stored. Raises WorkspaceError `change_content_lost`."""
        return self._store.content(sha256)

    def remove_folder(self, path: str) -> bool:
        """Remove a folder if it is there and empty; tells whether it did."""
        parts = split(path)
        return bool(parts) and self._files.remove_folder(parts)

    def damaged_records(self) -> tuple[int, ...]:
        """Line numbers of the log of changes that cannot be read and are left out."""
        with self._store.locked():
            return self._store.damaged()

    # --- inside -------------------------------------------------------------------------------------

    def _bytes(self, path: str, content: bytes | str) -> bytes:
        try:
            return content.encode("utf-8") if isinstance(content, str) else content
        except UnicodeEncodeError as error:
            raise WorkspaceError("text_not_encodable", path=visible(path), position=error.start) from error

    def _content(self, parts: Parts) -> bytes | None:
        return look(self._files, parts, self.limits.write)[1]

    def _kept(self, parts: Parts) -> str:
        return self._store.keep(self._files.read(parts, self.limits.write))

    def _edited(self, path: str, content: bytes | None, old: str, new: str) -> bytes:
        if content is None:
            raise WorkspaceError("workspace_not_found", path=visible(path))
        wanted, replacement = self._bytes(path, old), self._bytes(path, new)
        if b"\r\n" in content and wanted not in content:
            wanted, replacement = (
                part.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") for part in (wanted, replacement)
            )
        places = content.count(wanted) if wanted else 0
        if places == 0:
            raise WorkspaceError("edit_not_found", path=visible(path))
        if places > 1 or content.find(wanted, content.find(wanted) + 1) >= 0:
            raise WorkspaceError("edit_ambiguous", path=visible(path), count=max(places, 2))
        return content.replace(wanted, replacement)

    def _replace(self, parts: Parts, changed: Callable[[bytes | None], bytes], origin: Origin) -> ChangeSet:
        seen, before = look(self._files, parts, self.limits.write)
        content = changed(before)
        if len(content) > self.limits.write:
            shown, limit = visible("/".join(parts)), self.limits.write
            raise WorkspaceError("workspace_file_large", path=shown, size=len(content), limit=limit)
        if before == content:
            return ChangeSet("", _now(), str(self.root), origin)
        path, after = "/".join(parts), self._store.keep(content)
        if seen is None or before is None:
            return self._commit([Step(Entry(path, "created", None, after), None, after=content)], origin)
        entry = Entry(path, "modified", self._store.keep(before), after, seen.mode, seen.mode)
        return self._commit([Step(entry, seen, before, content)], origin)

    def _apply(self, entries: Iterable[Entry], origin: Origin, reverts: str) -> Applied:
        plans = [plan(self._files, self._store, entry, self.limits.write) for entry in entries]
        conflicts = tuple(step for step in plans if isinstance(step, Conflict))
        steps = [step for step in plans if isinstance(step, Step)]
        if conflicts or not steps:
            return Applied(None, conflicts)
        return Applied(self._commit(steps, origin, reverts))

    def _commit(self, steps: list[Step], origin: Origin, reverts: str = "") -> ChangeSet:
        """Write down what is going to happen, then let it happen as a whole."""
        self._sweep()
        folders = {
            folder: None
            for step in steps
            if step.entry.kind in ("created", "moved")
            for folder in self._files.missing_folders(step.parts)
        }
        change = ChangeSet(
            secrets.token_hex(8),
            _now(),
            str(self.root),
            origin,
            tuple(step.entry for step in steps),
            tuple("/".join(folder) for folder in folders),
            reverts,
        )
        self._store.append(change)
        try:
            land(self._files, steps, change)
        except WorkspaceError as error:
            if error.code != "change_half_done":
                self._store.withdraw(change)
            raise
        return change

    def _sweep(self) -> None:
        """Once per object: remove what a killed process left half-written; the lock says it is nobody's."""
        if self._swept:
            return
        self._store.clear_incoming()
        for change in self._store.changes()[-_SWEPT:]:
            for number, entry in enumerate(change.entries):
                for path in entry.effects():
                    self._files.discard((*split(path)[:-1], survey.temporary_name(change.id, number)))
        self._swept = True

    def _known(self, change_id: str) -> ChangeSet:
        change = self._store.get(change_id)
        if change.root != str(self.root):
            raise WorkspaceError("change_elsewhere", path=change.root)
        return change

    def _since(self, change: ChangeSet) -> list[ChangeSet]:
        done = self._store.changes()
        return [other for other in done[done.index(change) + 1 :] if other.root == change.root]

    def _state(self, path: str, step: tuple[str | None, str | None], since: Iterable[ChangeSet]) -> Outcome:
        """What became of one file of a change: the next change that saw it knows, else the file itself."""
        before, after = step
        for later in since:
            if path in later.effects:
                now = later.effects[path][0]
                break
        else:
            now = self._files.sha256(split(path)) if self._files.stat(split(path)) else None
        return "applied" if now == after else "not_applied" if now == before else "changed"
