"""What the sandbox changed and the user has not decided, file by file, as it is shown and chosen from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any, Literal

from runtime.changes import FileState, Snapshot, difference
from runtime.hunks import form_of, merge, split
from runtime.pathnames import WorkspaceError, visible
from runtime.sync_book import Book, Mark, State
from runtime.synced_workspace import Side
from runtime.unified import unified
from runtime.workspace import Workspace

Kind = Literal["created", "modified", "deleted", "moved", "mode"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """One file. `before` and `after` are SHA-256 of the contents on the host and in the copy, None for no
    file; `source` is the former path of a moved one; `kind` "mode" changes only whether it may be run.

    `conflict`: the host's file is no longer the one the change was made from, so it is not applied.
    `runs` are the ids of the runs it comes from.
    """

    path: str
    kind: Kind
    before: str | None
    after: str | None
    source: str = ""
    size: int = 0
    executable: bool = False
    conflict: bool = False
    runs: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.source, self.path) if self.source else (self.path,)

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {**asdict(self), "runs": list(self.runs)}


@dataclass(frozen=True, slots=True)
class Choice:
    """What the user chose of a proposal as it was shown: all of it (`hunks` None), or some of its hunks by
    number. A proposal that looks different by now is not what was chosen."""

    path: str
    before: str | None
    after: str | None
    hunks: tuple[int, ...] | None = None

    @classmethod
    def of(cls, proposal: Proposal, hunks: Collection[int] | None = None) -> Choice:
        return cls(
            proposal.path, proposal.before, proposal.after, None if hunks is None else tuple(sorted(hunks))
        )


def proposals(book: Book, host: Side) -> tuple[Proposal, ...]:
    """All that waits, by path. One file gone and an equal one new is a move."""
    clear: dict[str, Proposal] = {}
    for path, state in sorted(book.pending.items()):
        found, base = host.files.get(path), book.base.get(path)
        conflict = found != base or path in host.odd
        clear[path] = Proposal(
            path,
            _kind(found if conflict else base, state),
            found.sha256 if found else None,
            state.sha256 if state else None,
            size=state.size if state else 0,
            executable=bool(state and state.executable),
            conflict=conflict,
            runs=tuple(book.runs_of(path)),
        )
    for source, target in _moves(book, [path for path, one in clear.items() if not one.conflict]):
        gone, new = clear.pop(source), clear[target]
        runs = tuple(dict.fromkeys((*gone.runs, *new.runs)))
        clear[target] = Proposal(
            target, "moved", gone.before, new.after, source, new.size, new.executable, runs=runs
        )
    return tuple(clear[path] for path in sorted(clear))


def _kind(before: State, after: State) -> Kind:
    if before is None:
        return "created"
    if after is None:
        return "deleted"
    return "mode" if before.sha256 == after.sha256 else "modified"


def _moves(book: Book, paths: list[str]) -> list[tuple[str, str]]:
    base = {path: _file_state(book.base[path]) for path in paths if path in book.base}
    copy = {path: _file_state(mark) for path in paths if (mark := book.pending[path]) is not None}
    found = difference(Snapshot(base), Snapshot(copy))
    return [
        (entry.source, entry.path)
        for entry in found
        if entry.kind == "moved" and not f"{entry.path}/".startswith(f"{entry.source}/")
        if not f"{entry.source}/".startswith(f"{entry.path}/")
    ]


def _file_state(mark: Mark) -> FileState:
    return FileState(mark.sha256, mark.size, int(mark.executable))


# --- contents -----------------------------------------------------------------------------------------


class Contents:
    """Both sides of a proposal, from the store and from the host. Blocks: for a thread."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._counts: dict[tuple[str | None, str | None], tuple[int, int] | None] = {}

    def sides(self, proposal: Proposal) -> tuple[bytes | None, bytes | None]:
        """The contents before and after. Raises WorkspaceError where one can no longer be had."""
        return self._content(proposal.paths[0], proposal.before), self._content("", proposal.after)

    def chosen(self, proposal: Proposal, hunks: Collection[int]) -> bytes:
        """What the file is with these hunks alone."""
        before, after = self.sides(proposal)
        if before is None or after is None or not self._splits(before, after):
            raise WorkspaceError("review_whole_only", path=visible(proposal.path))
        if not set(hunks) <= set(range(len(split(before, after)))):
            raise WorkspaceError("review_no_part", path=visible(proposal.path))
        return merge(before, after, hunks)

    def count(self, proposal: Proposal) -> int:
        """How many hunks it has; 0 for one that goes as a whole."""
        before, after = self.sides(proposal)
        if before is None or after is None or not self._splits(before, after):
            return 0
        return len(split(before, after))

    def lines(self, proposal: Proposal) -> tuple[int, int] | None:
        """Lines added and removed; None where they are not counted."""
        key = (proposal.before, proposal.after)
        if key not in self._counts:
            before, after = self.sides(proposal)
            old, new = before or b"", after or b""
            if form_of(old) == "text" and form_of(new) == "text":
                found = split(old, new)
                self._counts[key] = (sum(one.added for one in found), sum(one.removed for one in found))
            else:
                self._counts[key] = None
        return self._counts[key]

    def detail(self, proposal: Proposal) -> dict[str, Any]:
        """The proposal with what a person reads: {"hunks": [{"head", "text", "added", "removed"}], "text",
        "form"}. `text` shows a file that goes as a whole; `form` is that of the less readable side."""
        before, after = self.sides(proposal)
        forms = {form_of(content) for content in (before, after) if content is not None}
        form = next((one for one in ("large", "binary", "utf16") if one in forms), "text")
        shown: list[dict[str, Any]] = []
        text = ""
        if before is not None and after is not None and form == "text" and before != after:
            shown = [
                {"head": hunk.head, "text": hunk.text, "added": hunk.added, "removed": hunk.removed}
                for hunk in split(before, after)
            ]
        elif before != after and form in ("text", "utf16"):
            text = _whole(_readable(before), _readable(after), proposal.path)
        return {**proposal.as_dict(), "hunks": shown, "text": text, "form": form}

    def _splits(self, before: bytes, after: bytes) -> bool:
        return form_of(before) == "text" and form_of(after) == "text"

    def _content(self, path: str, sha256: str | None) -> bytes | None:
        if sha256 is None:
            return None
        if path and not self._workspace.holds(sha256):
            self._workspace.keep(self._workspace.read(path, self._workspace.limits.write))
        return self._workspace.stored(sha256)


def _readable(content: bytes | None) -> bytes | None:
    if content is not None and form_of(content) == "utf16":
        return content.decode("utf-16").encode("utf-8", "replace")
    return content


def _whole(before: bytes | None, after: bytes | None, path: str) -> str:
    """A file that is created, deleted or not UTF-8, without the two lines that name it."""
    if form_of(before or b"") == "text" and form_of(after or b"") == "text":
        return "\n".join(hunk.text for hunk in split(before or b"", after or b""))
    return unified(path, before, after)
