"""What the sandbox changed waits here for the user's decision before it reaches the user's folder."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from runtime.changes import ChangeSet, FileState, Origin, Snapshot, difference
from runtime.decisions import Decisions
from runtime.errors import OrionError
from runtime.guest_copy import Copy
from runtime.locks import Lock
from runtime.pathnames import visible
from runtime.proposals import Choice, Contents, Proposal, proposals
from runtime.sync_book import Book, BookFile, Decision, Mark, Run, Turn
from runtime.synced_workspace import Side, SyncedWorkspace
from runtime.workspace import Workspace

T = TypeVar("T")
Decide = Callable[[Decisions, Book], T]
CROWDED = {"sync_crowded": "sync_all_left_out", "workspace_crowded": "sync_host_all_left_out"}
"""Too many files to compare must not keep the agent from removing some: nothing is synchronised, and told."""
_log = logging.getLogger("orion.review")


class Review:
    """The copy of one machine, by `name`, against the user's folder.

    Made, and used for decisions, without a machine; `attach` gives it the copy while one runs. All
    coroutines run on one loop and raise OrionError only. What is decided holds on the host at once; the copy
    gets its part when it is there. `told` (session, number of proposals) is called when that may have
    changed. Everything is on disk (`changes/copy-<name>.json`) before it happens; there is nothing to close.
    """

    def __init__(
        self,
        workspace: Workspace,
        changes: Path,
        name: str = "sandbox",
        told: Callable[[str, int], None] = lambda _session, _pending: None,
        synced: SyncedWorkspace | None = None,
    ) -> None:
        self.workspace = workspace
        self._synced = synced or SyncedWorkspace(workspace)
        self._contents = Contents(workspace)
        self._file = BookFile(changes / f"copy-{name}.json")
        self._told = told
        self._copy: Copy | None = None
        self._identity = ""
        self._lock = asyncio.Lock()
        self._signature: tuple[int, int] | None = None
        self._pending: tuple[Proposal, ...] = ()
        self._book = Book()

    # --- the copy -----------------------------------------------------------------------------------

    def attach(self, copy: Copy, identity: str) -> None:
        """A machine runs: `copy` is its workspace, `identity` tells one volume from a new one."""
        self._copy, self._identity = copy, identity

    def detach(self) -> None:
        """The machine is gone; what was collected stays."""
        self._copy = None

    async def push(self) -> int:
        """Bring the copy up to what the user's folder holds, the copy's own changes apart, which become
        proposals first; the number of files that were sent. Where one side holds too many files to compare,
        nothing is sent and `left_out` tells. Raises OrionError `review_detached`."""
        return (await self._synchronise("", "", push=True))[1]

    async def collect(self, session: str, turn: str) -> ChangeSet | None:
        """Take what the copy changed as proposals of that turn; the change of the whole turn so far, or None
        when it changed nothing. Empty names stand for hands that no turn moved."""
        run, _count = await self._synchronise(session, turn, push=False)
        if run is None:
            return None
        origin = Origin(run.session, run.turn)
        entries = difference(_snapshot(run.steps, 0), _snapshot(run.steps, 1))
        return ChangeSet(run.id, run.time, str(self.workspace.root), origin, entries)

    async def fingerprints(self) -> dict[str, str]:
        """SHA-256 of each file of the copy as it is now."""
        listing = await self._attached().list()
        return {found.path: found.sha256 for found in listing.found if found.sort == "file"}

    # --- what waits ---------------------------------------------------------------------------------

    async def look(self) -> tuple[Proposal, ...]:
        """What waits, against the user's folder as it is now."""
        return await self._decide(lambda _decisions, _book: self._pending, notify=False)

    @property
    def pending(self) -> tuple[Proposal, ...]:
        """What waited when it was last looked at."""
        return self._pending

    @property
    def left_out(self) -> dict[str, str]:
        """Files that cannot be synchronised, by path, each with the code of a sentence."""
        return dict(self._book.left_out)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """What was decided and can be taken back, oldest first."""
        return tuple(self._book.decisions)

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs that changed something, oldest first."""
        return tuple(self._book.runs)

    @property
    def newest(self) -> str:
        """The id of the newest run that changed something and is not undone, "" for none."""
        return self._book.runs[-1].id if self._book.runs else ""

    async def detail(self, path: str) -> dict[str, Any]:
        """One proposal, as it was last looked at, with its hunks; see Contents.detail. Raises OrionError
        `review_changed`, and `change_content_lost` for a file that changed since."""
        seen = self._pending or await self.look()
        found = next((one for one in seen if one.path == path), None)
        if found is None:
            raise OrionError("review_changed", path=visible(path))
        return await asyncio.to_thread(self._contents.detail, found)

    async def lines(self, asked: Sequence[Proposal]) -> dict[str, tuple[int, int]]:
        """Lines added and removed, of those whose lines can be counted."""

        def counted() -> dict[str, tuple[int, int]]:
            found = {}
            for one in asked:
                try:
                    count = self._contents.lines(one)
                except OrionError:
                    continue
                if count is not None:
                    found[one.path] = count
            return found

        return await asyncio.to_thread(counted)

    # --- deciding -----------------------------------------------------------------------------------

    async def apply(self, choices: Sequence[Choice] | None = None) -> Decision:
        """Let what was chosen happen in the user's folder; None chooses all that is not in conflict.

        Raises OrionError `review_nothing`, `review_changed`, `review_conflict`, and as Workspace.apply.
        """
        return await self._decide(lambda decisions, _book: decisions.apply(self._chosen(choices, clear=True)))

    async def reject(self, choices: Sequence[Choice] | None = None) -> Decision:
        """Take what was chosen back in the copy; None chooses all. Of a file in conflict the user's stays."""
        return await self._decide(
            lambda decisions, _book: decisions.reject(self._chosen(choices, clear=False))
        )

    async def keep_beside(self, paths: Sequence[str]) -> Decision:
        """Keep the user's files and put the copy's beside them, named `… (sandbox)`."""

        def beside(decisions: Decisions, _book: Book) -> Decision:
            return decisions.keep_beside([self._proposal(path) for path in paths])

        return await self._decide(beside)

    async def compare(self, path: str) -> None:
        """Take the user's file as it is now as what the change is made from: a conflict becomes a proposal,
        whose hunks lead from the user's file to the copy's."""

        def rebase(_decisions: Decisions, book: Book) -> None:
            proposal = self._proposal(path)
            mine = self._synced.host(book)
            if path not in mine.odd:
                self._contents.sides(proposal)
                book.rebase(path, mine.files.get(path))

        await self._decide(rebase)

    async def take_back(self, decision: str) -> None:
        """Undo a decision: its files wait again. Raises OrionError `review_moved_on`, `undo_conflict`."""

        def back(decisions: Decisions, book: Book) -> None:
            found = next((one for one in book.decisions if one.id == decision), None)
            if found is None:
                raise OrionError("review_unknown", id=decision[:64])
            decisions.take_back(found)

        await self._decide(back)

    async def undo(self, run: str) -> list[str]:
        """Undo all that a run did, applied or not, shell commands included: the paths that are back.

        Raises OrionError `review_unknown`, `review_moved_on`, `undo_conflict`.
        """

        def undone(decisions: Decisions, book: Book) -> list[str]:
            found = next((one for one in book.runs if one.id == run), None)
            if found is None:
                raise OrionError("review_unknown", id=run[:64])
            return decisions.undo(found)

        return await self._decide(undone)

    # --- inside -------------------------------------------------------------------------------------

    def _attached(self) -> Copy:
        if self._copy is None:
            raise OrionError("review_detached")
        return self._copy

    def _proposal(self, path: str) -> Proposal:
        for one in self._pending:
            if one.path == path:
                return one
        raise OrionError("review_changed", path=visible(path))

    def _chosen(self, choices: Sequence[Choice] | None, *, clear: bool) -> list[tuple[Proposal, Choice]]:
        if choices is None:
            choices = [Choice.of(one) for one in self._pending if not (clear and one.conflict)]
        chosen = []
        for choice in choices:
            proposal = self._proposal(choice.path)
            if (proposal.before, proposal.after) != (choice.before, choice.after):
                raise OrionError("review_changed", path=visible(choice.path))
            if choice.hunks is None or choice.hunks:
                chosen.append((proposal, choice))
        if not chosen:
            raise OrionError("review_nothing")
        return chosen

    async def _decide(self, decide: Decide[T], *, notify: bool = True) -> T:
        """Run one decision with the book held, in a thread; then give the copy its part, if it is there."""

        def held() -> T:
            lock = self._file.hold()
            try:
                book = self._file.load()
                decisions = Decisions(self._synced, self._contents, book, lambda: self._file.save(book))
                if book.meant:
                    decisions.accept()
                    self._file.save(book)
                self._remember(book, self._synced.host(book))
                made = decide(decisions, book)
                if notify:
                    self._file.save(book)
                    self._remember(book, self._synced.host(book))
                return made
            finally:
                lock.release()

        async with self._lock:
            made = await _whole(asyncio.to_thread(held))
            if notify and self._book.owed and self._copy is not None:
                try:
                    await self._settle(self._copy)
                except OrionError as error:
                    _log.info("the copy gets its part later: %s", error)
        if notify:
            self._tell("")
        return made

    async def _settle(self, copy: Copy) -> None:
        async with self._held() as book:
            if book.volume == self._identity:
                await self._synced.settle(book, copy, await self._synced.copy(copy, book))
                await _whole(asyncio.to_thread(self._file.save, book))

    async def _synchronise(self, session: str, turn: str, *, push: bool) -> tuple[Run | None, int]:
        copy = self._attached()
        count, before = 0, self._pending
        async with self._lock, self._held() as book:
            if book.volume != self._identity:
                _renew(book, self._identity)
            try:
                host = await asyncio.to_thread(self._synced.host, book)
                seen = await self._synced.copy(copy, book)
            except OrionError as error:
                if error.code not in CROWDED:
                    raise
                book.left_out = {"/workspace": CROWDED[error.code]}
                await _whole(asyncio.to_thread(self._file.save, book))
                self._book = book
                return None, 0
            await self._synced.settle(book, copy, seen)
            steps = await self._synced.gather(book, copy, seen, host)
            run = _note(book, session, turn, steps)
            await _whole(asyncio.to_thread(self._file.save, book))
            if push:
                count = await self._synced.push(book, copy, seen, host)
                await _whole(asyncio.to_thread(self._file.save, book))
            await asyncio.to_thread(self._remember, book, host)
        if steps or self._pending != before:
            self._tell(session)
        return run, count

    @asynccontextmanager
    async def _held(self) -> AsyncIterator[Book]:
        """The book, read anew and kept from other processes. A cancelled caller waits for the thread."""
        holding: asyncio.Task[Lock] = asyncio.ensure_future(_thread(self._file.hold))
        try:
            lock = await asyncio.shield(holding)
        except asyncio.CancelledError:
            holding.add_done_callback(_released)
            raise
        try:
            book = await asyncio.to_thread(self._file.load)
            if book.meant:
                decisions = Decisions(self._synced, self._contents, book, lambda: None)
                await asyncio.to_thread(decisions.accept)
            yield book
        finally:
            lock.release()

    def _remember(self, book: Book, host: Side) -> None:
        self._book = book
        self._pending = proposals(book, host)

    def _tell(self, session: str) -> None:
        self._told(session, len(self._pending))


def _renew(book: Book, identity: str) -> None:
    """The volume is new and empty: it is owed what was undecided, and gets the rest by the next push."""
    book.volume = identity
    book.base = {path: mark for path, mark in book.base.items() if path in book.pending}
    book.owed = {path: (None, mark) for path, mark in book.pending.items() if mark is not None}


def _note(book: Book, session: str, turn: str, steps: dict[str, Turn]) -> Run | None:
    known = next((run for run in book.runs if turn and (run.session, run.turn) == (session, turn)), None)
    run = book.run(session, turn) if steps else known
    if run is not None:
        for path, (was, state) in steps.items():
            first = run.steps[path][0] if path in run.steps else was
            if first == state:
                del run.steps[path]
            else:
                run.steps[path] = (first, state)
        if not run.steps:
            book.runs.remove(run)
            return None
    return run


def _snapshot(steps: dict[str, Turn], side: int) -> Snapshot:
    marks: dict[str, Mark] = {path: mark for path, turn in steps.items() if (mark := turn[side]) is not None}
    return Snapshot(
        {
            path: FileState(mark.sha256, mark.size, 0o755 if mark.executable else 0o644)
            for path, mark in marks.items()
        }
    )


async def _thread(work: Callable[[], T]) -> T:
    return await asyncio.to_thread(work)


def _released(holding: asyncio.Task[Lock]) -> None:
    if not holding.cancelled() and holding.exception() is None:
        holding.result().release()


async def _whole(work: Coroutine[Any, Any, T]) -> T:
    """Await to the end what must not be left half done, and only then be cancelled."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
