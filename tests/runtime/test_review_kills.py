"""A kill at any step of the review loses neither side's work."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from runtime.changes import Applied, ChangeSet, Origin
from runtime.guest_copy import Wanted
from runtime.proposals import Choice
from runtime.review import Review
from runtime.sync_book import Book, BookFile
from runtime.synced_workspace import SyncedWorkspace
from runtime.workspace import USER, Workspace
from tests.runtime.folder_copy import FolderCopy, files, sha256
from tests.runtime.review_stage import Stage


class Killed(BaseException):
    """The process is gone."""


class Life:
    """Counts the durable steps of a process and ends it at one of them."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def step(self) -> None:
        """Begin a step, unless it is the last one; after death every step fails."""
        self.left -= 1
        if self.left < 0:
            raise Killed


class DyingBook(BookFile):
    """A kill strikes before a write of the book or right after it."""

    def __init__(self, path: Path, life: Life) -> None:
        super().__init__(path)
        self._life = life

    def save(self, book: Book) -> None:
        self._life.step()
        super().save(book)
        self._life.step()


class DyingCopy(FolderCopy):
    """A kill strikes before each file that is written or removed in the copy."""

    def __init__(self, root: Path, life: Life) -> None:
        super().__init__(root)
        self._life = life

    async def put(self, wanted: Sequence[Wanted]) -> dict[str, str]:
        refused: dict[str, str] = {}
        for one in wanted:
            self._life.step()
            refused |= await super().put([one])
        return refused

    async def remove(self, expected: Mapping[str, str]) -> dict[str, str]:
        self._life.step()
        return await super().remove(expected)


class DyingWorkspace(Workspace):
    """A kill strikes when only the first file of a change has landed, or none."""

    life = Life(1 << 30)

    def apply(self, change: ChangeSet, origin: Origin = USER) -> Applied:
        self.life.step()
        if self.life.left == 0:
            super().apply(replace(change, entries=change.entries[:1]), origin)
        self.life.step()
        return super().apply(change, origin)

    def revert(self, change_id: str, origin: Origin = USER) -> Applied:
        self.life.step()
        return super().revert(change_id, origin)


TEXT = "".join(f"line {number}\n" for number in range(40))
WORKED = TEXT.replace("line 2\n", "two\n").replace("line 35\n", "thirty-five\n")


async def whole_day(review: Review) -> None:
    """Each kind of decision once."""
    await review.collect("s", "t")
    await review.push()
    found = {one.path: one for one in review.pending}
    decision = await review.apply([Choice.of(found["a.txt"], [0]), Choice.of(found["new.txt"])])
    await review.take_back(decision.id)
    await review.apply([Choice.of(found["a.txt"], [0]), Choice.of(found["new.txt"])])
    await review.keep_beside(["b.txt"])
    (rest,) = review.pending
    await review.reject([Choice.of(rest)])
    await review.undo(review.runs[0].id)


@pytest.mark.parametrize("at", range(74))
def test_a_kill_at_any_step_loses_neither_side(tmp_path: Path, at: int) -> None:
    stage = Stage(tmp_path)

    async def begin() -> None:
        await stage.begun(a_txt=TEXT, b_txt="one\n", c_txt="one\n")
        stage.user("b.txt", "mine\n")
        stage.user("c.txt", "mine\n")
        stage.put("a.txt", WORKED)
        stage.put("b.txt", "sandbox\n")
        stage.put("new.txt", "new\n")

    async def after() -> None:
        await stage.review.push()
        shown = {path for one in stage.review.pending for path in one.paths}
        host, copy = files(stage.host), files(stage.copy.root)
        for path in host.keys() | copy.keys():
            assert path in shown or host.get(path) == copy.get(path), path
        assert {one.path for one in stage.review.pending if one.conflict} <= {"b.txt"}
        assert host["b.txt"][0] == b"mine\n"
        assert host["c.txt"][0] == b"mine\n"
        there = {sha256(content) for content, _bit in (*host.values(), *copy.values())}
        for content in (WORKED.encode(), b"sandbox\n", b"new\n"):
            assert sha256(content) in there or stage.review.workspace.holds(sha256(content))
        if not stage.review.decisions and stage.review.runs:
            assert shown >= {"a.txt", "b.txt", "new.txt"}

    asyncio.run(begin())
    life = Life(at)
    workspace = DyingWorkspace(stage.host, tmp_path / "changes")
    workspace.life = life
    review = Review(workspace, tmp_path / "changes", synced=SyncedWorkspace(workspace))
    review._file = DyingBook(tmp_path / "changes" / "copy-sandbox.json", life)
    review.attach(DyingCopy(stage.copy.root, life), "volume 1")
    try:
        asyncio.run(whole_day(review))
    except Killed:
        pass
    else:
        assert at == 73
    stage.restart()
    asyncio.run(after())
