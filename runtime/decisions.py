"""What follows from the user's decisions: on the host at once, for the copy as something it is owed."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath

from runtime.changes import ChangeSet, Entry, Origin
from runtime.errors import OrionError
from runtime.pathnames import WorkspaceError, visible
from runtime.proposals import Choice, Contents, Proposal
from runtime.sync_book import Book, Decision, Mark, Run, State, now
from runtime.synced_workspace import Side, SyncedWorkspace, folders_above

WEIGHT = 200_000_000
"""Bytes of new content that land on the host in one piece at most."""


class Decisions:
    """Decides on one book, which the caller holds. Each step that could be cut off is noted by `save` before,
    so that a look at both sides tells how far it got. Blocks: for a thread."""

    def __init__(
        self, synced: SyncedWorkspace, contents: Contents, book: Book, save: Callable[[], None]
    ) -> None:
        self._synced = synced
        self._workspace = synced.workspace
        self._contents = contents
        self._book = book
        self._save = save

    # --- to the host --------------------------------------------------------------------------------

    def apply(self, chosen: Sequence[tuple[Proposal, Choice]]) -> Decision:
        """Let the chosen parts happen on the host; what is left of a file stays proposed.

        Raises OrionError `review_conflict` for a file that changed meanwhile, and as Workspace.apply.
        """
        host = self._synced.host(self._book)
        decision = self._decision("apply", [proposal for proposal, _choice in chosen])
        entries: list[tuple[Entry, int]] = []
        for proposal, choice in chosen:
            if proposal.conflict:
                raise OrionError("review_conflict", path=visible(proposal.path))
            targets = self._targets(proposal, choice)
            for path, state in targets.items():
                decision.host[path] = (self._book.base.get(path), state)
            entries.append((self._entry(proposal, targets[proposal.path], host), proposal.size))
        self._land(decision, entries)
        for folder in sorted(self._book.gone, key=lambda name: -name.count("/")):
            self._workspace.remove_folder(folder)
        self._save()
        return decision

    def keep_beside(self, chosen: Sequence[Proposal]) -> Decision:
        """Put the copy's file beside the host's under a name of its own, and let the host's stand."""
        if not chosen:
            raise OrionError("review_nothing")
        host = self._synced.host(self._book)
        decision = self._decision("beside", chosen)
        entries: list[tuple[Entry, int]] = []
        taken = host.files.keys() | self._book.pending.keys() | host.odd.keys()
        for proposal in chosen:
            if (mark := self._book.pending[proposal.path]) is None:
                raise OrionError("review_nothing_beside", path=visible(proposal.path))
            name = _beside(proposal.path, taken)
            taken = taken | {name}
            decision.host[name] = (None, mark)
            decision.copy[name] = (None, mark)
            mode = 0o755 if mark.executable and self._synced.bits else None
            entries.append((Entry(name, "created", None, mark.sha256, mode), mark.size))
        self._land(decision, entries)
        for proposal in chosen:
            self._keep_mine(proposal, decision, host)
        self._save()
        return decision

    def _land(self, decision: Decision, entries: list[tuple[Entry, int]]) -> None:
        book = self._book
        book.meant = {path: state for path, (_was, state) in decision.host.items()}
        book.meant_by = decision.id
        book.decisions.append(decision)
        self._save()
        origin = self._origin(decision, "review")
        try:
            for part in _parts(entries):
                applied = self._workspace.apply(ChangeSet("", now(), "", entries=tuple(part)), origin)
                if applied.conflicts:
                    raise OrionError("review_conflict", path=visible(applied.conflicts[0].path))
                for folder in self._emptied(part):
                    self._workspace.remove_folder(folder)
        finally:
            self.accept()
            self._save()

    def accept(self) -> None:
        """Look how far a change of the host came that had begun: what it meant and the host has is common."""
        book = self._book
        if not book.meant:
            return
        host = self._synced.host(book)
        landed = {path for path, state in book.meant.items() if self._is(host.files.get(path), state)}
        by = next((one for one in book.decisions if one.id == book.meant_by), None)
        for path in landed:
            book.rebase(path, book.meant[path])
            if by is not None and path in by.copy:
                book.owe(path, by.copy[path][1])
        if by is not None:
            by.host = {path: turn for path, turn in by.host.items() if path in landed}
            if not by.host:
                book.decisions.remove(by)
        book.meant_by = ""
        book.meant = {}

    def _is(self, found: State, meant: State) -> bool:
        """Whether the host has what was meant, as far as it can tell."""
        if found is None or meant is None or self._synced.bits:
            return found == meant
        return found.sha256 == meant.sha256

    # --- to the copy --------------------------------------------------------------------------------

    def reject(self, chosen: Sequence[tuple[Proposal, Choice]]) -> Decision:
        """Take the chosen parts back in the copy; of a file in conflict the host's stands."""
        host = self._synced.host(self._book)
        decision = self._decision("reject", [proposal for proposal, _choice in chosen])
        for proposal, choice in chosen:
            if proposal.conflict:
                self._keep_mine(proposal, decision, host)
                continue
            rest = self._rest(proposal, choice)
            for path in proposal.paths:
                was = self._book.known(path)
                self._owe(path, rest if rest is not None else self._book.base.get(path), host)
                decision.copy[path] = (was, self._book.known(path))
        self._book.decisions.append(decision)
        self._save()
        return decision

    def _keep_mine(self, proposal: Proposal, decision: Decision, host: Side) -> None:
        path = proposal.path
        mine = self._mine(path, host)
        decision.agreed[path] = (self._book.base.get(path), mine)
        decision.copy[path] = (self._book.known(path), mine)
        self._book.rebase(path, mine)
        self._book.owe(path, mine)

    def _owe(self, path: str, state: State, host: Side) -> None:
        """Owe the copy a state, or the host's where the content of that can no longer be had."""
        if state is not None and not self._workspace.holds(state.sha256):
            mine = self._mine(path, host)
            if mine != state:
                self._book.rebase(path, mine)
                state = mine
        self._book.owe(path, state)

    def _mine(self, path: str, host: Side) -> State:
        """The host's file with its content stored; None where there is none that can be synced."""
        mine = None if path in host.odd else host.files.get(path)
        if mine is not None and not self._workspace.holds(mine.sha256):
            content = self._workspace.read(path, self._workspace.limits.write)
            if self._workspace.keep(content) != mine.sha256:
                raise OrionError("review_changed", path=visible(path))
        return mine

    # --- back ---------------------------------------------------------------------------------------

    def take_back(self, decision: Decision) -> None:
        """Make a decision undone: the host is as before it, and what it was about is proposed again.

        Raises OrionError `review_moved_on` or `undo_conflict` for a file that changed since.
        """
        book = self._book
        for path, (_was, state) in decision.copy.items():
            if book.known(path) != state:
                raise OrionError("review_moved_on", path=visible(path))
        book.meant = {path: was for path, (was, _state) in decision.host.items()}
        book.meant_by = ""
        kept = dict(decision.host)
        self._save()
        try:
            self._revert(decision)
        finally:
            self.accept()
            decision.host = {path: turn for path, turn in kept.items() if book.base.get(path) != turn[0]}
        for path, (was, _state) in decision.agreed.items():
            book.rebase(path, was)
        for path, (was, _state) in decision.copy.items():
            book.owe(path, was)
        if decision in book.decisions:
            book.decisions.remove(decision)
        self._save()

    def undo(self, run: Run) -> list[str]:
        """Make a whole run undone on both sides; the paths that are back. What other runs did and was
        applied with it is proposed again. Raises as `take_back`, before anything is changed where it can."""
        book = self._book
        applied = [one for one in book.decisions if run.id in one.runs and one.host]
        back = {path for one in applied for path in (*one.host, *one.copy)}
        later = book.runs[book.runs.index(run) + 1 :]
        targets: dict[str, State] = {}
        for path, (was, state) in run.steps.items():
            known = book.known(path)
            changed_since = any(path in other.steps for other in later)
            if known == state:
                targets[path] = was
            elif self._rejected(path, run) and not changed_since:
                if known != book.base.get(path):
                    targets[path] = book.base.get(path)
            elif path not in back or changed_since:
                raise OrionError("review_moved_on", path=visible(path))
        for decision in reversed(applied):
            self.take_back(decision)
        paths = []
        host = self._synced.host(book)
        earlier = {path for other in book.runs[: book.runs.index(run)] for path in other.steps}
        for path, was in targets.items():
            state = was if path in earlier else book.base.get(path)
            if book.known(path) != state:
                self._owe(path, state, host)
                paths.append(path)
        book.runs.remove(run)
        self._save()
        return sorted(paths)

    def _rejected(self, path: str, run: Run) -> bool:
        return any(path in one.copy and one.time >= run.time for one in self._book.decisions)

    def _revert(self, decision: Decision) -> None:
        done = self._workspace.history(call=f"review-{decision.id}")
        for change in reversed(done):
            if self._workspace.outcome(change.id) == "reverted":
                continue
            reverted = self._workspace.revert(change.id, self._origin(decision, "review-back"))
            if reverted.conflicts:
                raise OrionError("undo_conflict", path=visible(reverted.conflicts[0].path))

    # --- inside -------------------------------------------------------------------------------------

    def _decision(self, kind: str, about: Iterable[Proposal]) -> Decision:
        runs = dict.fromkeys(run for proposal in about for run in proposal.runs)
        made = Decision(secrets.token_hex(8), "apply", now(), runs=list(runs))
        if kind in ("reject", "beside"):
            made.kind = "reject" if kind == "reject" else "beside"
        return made

    def _origin(self, decision: Decision, verb: str) -> Origin:
        """Who the change is written down for: the turn it comes from, where that is one."""
        runs = [run for run in self._book.runs if run.id in decision.runs]
        single = runs[0] if len(runs) == 1 else Run("", "", "", 0.0)
        return Origin(single.session, single.turn, f"{verb}-{decision.id}")

    def _targets(self, proposal: Proposal, choice: Choice) -> dict[str, State]:
        """What the host is to have: for each path of a proposal its state."""
        whole: dict[str, State] = {path: self._book.pending[path] for path in proposal.paths}
        if choice.hunks is None or proposal.kind == "mode":
            return whole
        if len(set(choice.hunks)) == self._contents.count(proposal) > 0:
            return whole
        base = self._book.base.get(proposal.path)
        merged = self._contents.chosen(proposal, choice.hunks)
        return {proposal.path: self._mark(merged, base)}

    def _rest(self, proposal: Proposal, choice: Choice) -> State:
        """What the copy is to have without the chosen hunks; None where nothing is left of the change."""
        if choice.hunks is None or proposal.kind == "mode":
            return None
        others = set(range(self._contents.count(proposal))) - set(choice.hunks)
        if not others:
            return None
        kept = self._contents.chosen(proposal, others)
        return self._mark(kept, self._book.pending[proposal.path])

    def _mark(self, content: bytes, like: State) -> Mark:
        self._workspace.keep(content)
        digest = hashlib.sha256(content).hexdigest()
        return Mark(digest, len(content), like is not None and like.executable)

    def _entry(self, proposal: Proposal, state: State, host: Side) -> Entry:
        was = host.modes.get(proposal.paths[0])
        after = state.sha256 if state else None
        if proposal.kind == "moved":
            return Entry(proposal.path, "moved", proposal.before, after, was, was, proposal.source)
        if state is None:
            return Entry(proposal.path, "deleted", proposal.before, None, None, was)
        if proposal.before is None:
            mode = 0o755 if state.executable and self._synced.bits else None
            return Entry(proposal.path, "created", None, after, mode)
        mode = was
        if was is not None and self._synced.bits:
            mode = was | (was & 0o444) >> 2 if state.executable else was & ~0o111
        return Entry(proposal.path, "modified", proposal.before, after, mode, was)

    def _emptied(self, part: Iterable[Entry]) -> list[str]:
        """Folders that must go because a file takes their place."""
        becoming = {path for path, state in self._book.meant.items() if state is not None}
        over = {folder for entry in part if entry.kind == "deleted" for folder in folders_above(entry.path)}
        wanted = {folder for folder in over if folder in becoming or set(folders_above(folder)) & becoming}
        return sorted(wanted, key=lambda folder: -folder.count("/"))


def _parts(entries: list[tuple[Entry, int]]) -> Iterable[list[Entry]]:
    """The entries in pieces that can land one after the other: first the deletions that make room for a file
    where a folder was or the other way round, and nothing too heavy at once."""
    paths = {entry.path for entry, _size in entries if entry.kind in ("created", "moved")}
    over = {folder for path in paths for folder in folders_above(path)}
    first = [
        entry
        for entry, _size in entries
        if entry.kind == "deleted" and (entry.path in over or set(folders_above(entry.path)) & paths)
    ]
    if first:
        yield first
    part: list[Entry] = []
    weight = 0
    for entry, size in entries:
        if entry in first:
            continue
        if part and weight + size > WEIGHT:
            yield part
            part, weight = [], 0
        part.append(entry)
        weight += size
    if part:
        yield part


def _beside(path: str, taken: Iterable[str]) -> str:
    """A free name for the sandbox's version of a file."""
    pure = PurePosixPath(path)
    for number in range(1, 1000):
        mark = " (sandbox)" if number == 1 else f" (sandbox {number})"
        name = str(pure.with_name(f"{pure.stem[:200]}{mark}{pure.suffix[:40]}"))
        if name not in taken:
            return name
    raise WorkspaceError("workspace_exists", path=visible(path))
