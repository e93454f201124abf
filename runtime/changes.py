"""What was changed in the workspace, as values that describe a change completely and can be turned around.

Stored form: one JSON object a line in `changes/log.jsonl`, see `ChangeSet.as_dict`; contents lie beside it in
the content store under their SHA-256.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, get_args

VERSION = 1

Kind = Literal["created", "modified", "deleted", "moved"]
Outcome = Literal["applied", "not_applied", "partial", "reverted", "changed"]
"""What became of a change: it stands; it never happened; in part; undone; the file is different again."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Who made a change: session, turn and tool call; empty for a door that acts for the user."""

    session: str = ""
    turn: str = ""
    call: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a change. `before` and `after` are SHA-256 of the content, None where there is no file.

    `mode` are the permission bits afterwards (None: the usual ones), `mode_before` those it had; `source`
    is the former path of a moved file.
    """

    path: str
    kind: Kind
    before: str | None
    after: str | None
    mode: int | None = None
    mode_before: int | None = None
    source: str = ""

    def inverse(self) -> Entry:
        """The entry that takes this one back."""
        kinds: dict[Kind, Kind] = {"created": "deleted", "deleted": "created"}
        turned = Entry(
            self.path, kinds.get(self.kind, self.kind), self.after, self.before, self.mode_before, self.mode
        )
        if self.kind == "moved":
            return replace(turned, path=self.source, source=self.path)
        return turned

    def effects(self) -> dict[str, tuple[str | None, str | None]]:
        """Each path this entry touches with the content before and after; a move touches two."""
        if self.kind == "moved":
            return {self.source: (self.before, None), self.path: (None, self.after)}
        return {self.path: (self.before, self.after)}


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """A change of one or several files that lands as a whole. `id` is empty when nothing had to change.

    `time` is seconds since the epoch, `root` the folder it was made in, `folders` the folders it made,
    `reverts` the change it takes back.
    """

    id: str
    time: float
    root: str
    origin: Origin = field(default_factory=Origin)
    entries: tuple[Entry, ...] = ()
    folders: tuple[str, ...] = ()
    reverts: str = ""

    @property
    def files(self) -> tuple[str, ...]:
        """The paths it touches, in order."""
        return tuple(self.effects)

    @property
    def effects(self) -> dict[str, tuple[str | None, str | None]]:
        """Each path it touches with the content before and after."""
        return {path: step for entry in self.entries for path, step in entry.effects().items()}

    def as_dict(self) -> dict[str, Any]:
        """The stored form; JSON-serialisable."""
        return {
            "v": VERSION,
            "id": self.id,
            "time": round(self.time, 3),
            **asdict(self.origin),
            "root": self.root,
            "entries": [asdict(entry) for entry in self.entries],
            "folders": list(self.folders),
            "reverts": self.reverts,
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> ChangeSet:
        """Read the stored form. Raises KeyError, TypeError or ValueError when it is damaged."""
        return cls(
            id=str(stored["id"]),
            time=float(stored["time"]),
            root=str(stored["root"]),
            origin=Origin(str(stored["session"]), str(stored["turn"]), str(stored["call"])),
            entries=tuple(_entry(entry) for entry in stored["entries"]),
            folders=tuple(str(folder) for folder in stored["folders"]),
            reverts=str(stored["reverts"]),
        )

    def as_line(self) -> bytes:
        """The stored form as one line of ASCII JSON, so that names that are not UTF-8 survive."""
        return json.dumps(self.as_dict(), separators=(",", ":")).encode("ascii") + b"\n"


def _entry(stored: Mapping[str, Any]) -> Entry:
    entry = Entry(**stored)
    texts = (entry.path, entry.source, entry.before or "", entry.after or "")
    if entry.kind not in get_args(Kind) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"not an entry: {stored}")
    return entry


@dataclass(frozen=True, slots=True)
class Conflict:
    """A file that is not as a change expects it. `later` is the change that touched it since, if known."""

    path: str
    expected: str | None
    found: str | None
    later: str = ""


@dataclass(frozen=True, slots=True)
class Applied:
    """What `apply` and `revert` did: nothing at all where there are conflicts. `change` is None then, and
    also when everything was as wanted already."""

    change: ChangeSet | None
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True)
class FileState:
    """One file in a snapshot."""

    sha256: str
    size: int
    mode: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All regular files at one moment; `skipped` names links, devices and names that are not allowed."""

    files: Mapping[str, FileState]
    skipped: tuple[str, ...] = ()


def difference(before: Snapshot, after: Snapshot) -> tuple[Entry, ...]:
    """What leads from one snapshot to the other; one file gone and an equal one new is a move."""
    gone = {path: state for path, state in before.files.items() if path not in after.files}
    new = {path: state for path, state in after.files.items() if path not in before.files}
    entries = _moves(gone, new)
    for path, state in sorted(gone.items()):
        entries.append(Entry(path, "deleted", state.sha256, None, None, state.mode))
    for path, state in sorted(new.items()):
        entries.append(Entry(path, "created", None, state.sha256, state.mode))
    for path, was in sorted(before.files.items()):
        now = after.files.get(path)
        if now is not None and (now.sha256, now.mode) != (was.sha256, was.mode):
            entries.append(Entry(path, "modified", was.sha256, now.sha256, now.mode, was.mode))
    return tuple(entries)


def _moves(gone: dict[str, FileState], new: dict[str, FileState]) -> list[Entry]:
    sources: dict[FileState, deque[str]] = {}
    for path, state in sorted(gone.items()):
        sources.setdefault(state, deque()).append(path)
    entries = []
    for path, state in sorted(new.items()):
        if state.size and sources.get(state):
            source = sources[state].popleft()
            entries.append(Entry(path, "moved", state.sha256, state.sha256, state.mode, state.mode, source))
            del gone[source], new[path]
    return entries
