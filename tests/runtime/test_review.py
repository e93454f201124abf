"""Nothing from the sandbox reaches the user's folder undecided, and nothing of either side is lost.

The copy is a folder (FolderCopy); tests/runtime/test_guest_copy.py has the same with a real guest.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runtime.changes import Applied, ChangeSet, Origin
from runtime.errors import OrionError
from runtime.guest_copy import Wanted
from runtime.proposals import Choice, Proposal
from runtime.review import Review
from runtime.sync_book import Book, BookFile
from runtime.synced_workspace import SyncedWorkspace
from runtime.workspace import USER, Limits, Workspace
from tests.runtime.folder_copy import FolderCopy, files, sha256

SEEDS = range(int(os.environ.get("ORION_REVIEW_SEEDS", "30")))
"""Of the campaigns; each takes a quarter of a second."""


class Stage:
    """A user's folder, a copy and the review between them."""

    def __init__(self, folder: Path, limits: Limits | None = None, **how: Any) -> None:
        self.folder = folder
        self.limits = limits
        self.how = how
        self.host = folder / "host"
        self.copy = FolderCopy(folder / "copy")
        self.told: list[tuple[str, int]] = []
        self.restart()

    def restart(self, *, attached: bool = True) -> None:
        """A new process with the same home."""
        workspace = Workspace.create(self.host, self.folder / "changes", self.limits)
        synced = SyncedWorkspace(workspace, **self.how)
        self.review = Review(workspace, self.folder / "changes", told=self._tell, synced=synced)
        if attached:
            self.review.attach(self.copy, "volume 1")

    def _tell(self, session: str, count: int) -> None:
        self.told.append((session, count))

    def put(self, path: str, content: str | bytes, root: Path | None = None) -> None:
        target = (root or self.copy.root) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)

    def user(self, path: str, content: str | bytes) -> None:
        self.put(path, content, self.host)

    async def begun(self, **contents: str) -> None:
        """The user's files, sent to the copy; `_` in a name stands for a dot."""
        for name, content in contents.items():
            self.user(name.replace("_", "."), content)
        await self.review.push()

    async def worked(self, turn: str = "t1") -> tuple[Proposal, ...]:
        await self.review.collect("s1", turn)
        return self.review.pending

    def equal(self) -> bool:
        return files(self.host) == files(self.copy.root)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def kinds(found: tuple[Proposal, ...]) -> dict[str, str]:
    return {one.path: one.kind for one in found}


def test_each_kind_of_change_waits_and_then_reaches_the_folder(stage: Stage) -> None:
    async def main() -> None:
        await stage.begun(a_txt="one\n", b_txt="two\n", c_txt="three\n", run_sh="#!/bin/sh\n")
        assert stage.equal()
        before = files(stage.host)
        stage.put("a.txt", "changed\n")
        (stage.copy.root / "b.txt").unlink()
        (stage.copy.root / "c.txt").rename(stage.copy.root / "moved.txt")
        (stage.copy.root / "run.sh").chmod(0o755)
        stage.put("new/deep/d.bin", bytes(range(256)))
        change = await stage.review.collect("s1", "t1")
        assert change is not None
        assert change.origin.turn == "t1"
        assert len(change.entries) == 5
        assert files(stage.host) == before
        assert kinds(stage.review.pending) == {
            "a.txt": "modified",
            "b.txt": "deleted",
            "moved.txt": "moved",
            "new/deep/d.bin": "created",
            "run.sh": "mode",
        }
        assert stage.told == [("s1", 5)]
        decision = await stage.review.apply()
        assert stage.equal()
        assert stage.review.pending == ()
        assert (stage.host / "run.sh").stat().st_mode & 0o111 == 0o111
        await stage.review.push()
        assert stage.equal()
        assert await stage.worked("t2") == ()
        await stage.review.take_back(decision.id)
        assert files(stage.host) == before
        assert len(stage.review.pending) == 5

    asyncio.run(main())


def test_rejected_parts_go_in_the_copy_too_and_can_be_had_again(stage: Stage) -> None:
    async def main() -> None:
        await stage.begun(a_txt="one\n")
        stage.put("a.txt", "changed\n")
        stage.put("made/by/agent.txt", "x")
        worked = files(stage.copy.root)
        await stage.worked()
        decision = await stage.review.reject()
        assert stage.equal()
        assert stage.review.pending == ()
        assert not (stage.copy.root / "made").exists()
        await stage.review.take_back(decision.id)
        assert files(stage.copy.root) == worked
        assert len(stage.review.pending) == 2

    asyncio.run(main())


def test_hunks_are_taken_one_by_one(stage: Stage) -> None:
    async def main() -> None:
        text = "".join(f"line {number}\r\n" for number in range(40))
        await stage.begun(a_txt=text)
        one = text.replace("line 2\r\n", "two\r\n")
        both = one.replace("line 35\r\n", "thirty-five\r\n")
        stage.put("a.txt", both)
        (proposal,) = await stage.worked()
        assert len((await stage.review.detail("a.txt"))["hunks"]) == 2
        await stage.review.apply([Choice.of(proposal, [0])])
        assert (stage.host / "a.txt").read_bytes() == one.encode()
        (rest,) = stage.review.pending
        assert (await stage.review.detail("a.txt"))["hunks"][0]["head"] == "@@ -36,1 +36,1 @@"
        with pytest.raises(OrionError, match="review_changed"):
            await stage.review.apply([Choice.of(proposal, [1])])
        await stage.review.reject([Choice.of(rest, [0])])
        assert stage.equal()
        assert stage.review.pending == ()

    asyncio.run(main())


def test_rejecting_one_hunk_leaves_the_other_proposed(stage: Stage) -> None:
    async def main() -> None:
        text = "".join(f"line {number}\n" for number in range(40))
        await stage.begun(a_txt=text)
        stage.put("a.txt", text.replace("line 2\n", "two\n").replace("line 35\n", ""))
        (proposal,) = await stage.worked()
        await stage.review.reject([Choice.of(proposal, [0])])
        assert (stage.copy.root / "a.txt").read_text() == text.replace("line 35\n", "")
        assert (stage.host / "a.txt").read_text() == text
        await stage.review.apply()
        assert stage.equal()

    asyncio.run(main())


def test_a_file_changed_on_both_sides_is_a_conflict_and_never_overwritten(stage: Stage) -> None:
    async def main() -> None:
        await stage.begun(a_txt="one\n", b_txt="one\n", c_txt="one\n")
        for name in ("a.txt", "b.txt", "c.txt"):
            stage.put(name, "sandbox\n")
        await stage.worked()
        for name in ("a.txt", "b.txt", "c.txt"):
            stage.user(name, "mine\n")
        await stage.review.push()
        assert [one.conflict for one in stage.review.pending] == [True] * 3
        assert (stage.copy.root / "a.txt").read_text() == "sandbox\n"
        with pytest.raises(OrionError, match="review_nothing"):
            await stage.review.apply()
        a, _b, _c = stage.review.pending
        with pytest.raises(OrionError, match="review_conflict"):
            await stage.review.apply([Choice.of(a)])
        await stage.review.reject([Choice.of(a)])
        decision = await stage.review.keep_beside(["b.txt"])
        await stage.review.compare("c.txt")
        assert files(stage.host)["b (sandbox).txt"][0] == b"sandbox\n"
        assert (stage.host / "b.txt").read_text() == "mine\n"
        assert {one.path: one.conflict for one in stage.review.pending} == {"c.txt": False}
        await stage.review.apply()
        assert (stage.host / "c.txt").read_text() == "sandbox\n"
        await stage.review.push()
        assert stage.equal()
        assert (stage.copy.root / "a.txt").read_text() == "mine\n"
        await stage.review.take_back(decision.id)
        assert "b (sandbox).txt" not in files(stage.host) | files(stage.copy.root)
        assert [(one.path, one.conflict) for one in stage.review.pending] == [("b.txt", True)]

    asyncio.run(main())


def test_a_file_that_changes_between_the_look_and_the_click_is_not_overwritten(stage: Stage) -> None:
    async def main() -> None:
        await stage.begun(a_txt="one\n")
        stage.put("a.txt", "sandbox\n")
        (proposal,) = await stage.worked()
        stage.user("a.txt", "mine\n")
        with pytest.raises(OrionError, match="review_changed"):
            await stage.review.apply([Choice.of(proposal)])
        assert (stage.host / "a.txt").read_text() == "mine\n"

    asyncio.run(main())


def test_several_runs_add_up_and_outlive_the_program(stage: Stage) -> None:
    async def main() -> None:
        await stage.begun(a_txt="one\n")
        stage.put("a.txt", "two\n")
        await stage.worked("t1")
        stage.put("a.txt", "three\n")
        stage.put("b.txt", "new\n")
        await stage.worked("t2")
        stage.restart(attached=False)
        assert [one.path for one in await stage.review.look()] == ["a.txt", "b.txt"]
        first = stage.review.pending[0]
        assert len(first.runs) == 2
        assert (await stage.review.detail("a.txt"))["hunks"][0]["text"] == "-one\n+three"
        await stage.review.apply()
        assert stage.equal()

    asyncio.run(main())


def test_what_a_run_did_and_undid_again_is_no_proposal(stage: Stage) -> None:
    async def main() -> None:
        await stage.begun(a_txt="one\n")
        stage.put("a.txt", "two\n")
        await stage.worked()
        stage.put("a.txt", "one\n")
        assert await stage.worked() == ()
        assert stage.review.runs == ()

    asyncio.run(main())


@pytest.mark.parametrize("applied", [False, True])
def test_a_whole_run_is_undone_on_both_sides(stage: Stage, applied: bool) -> None:
    async def main() -> None:
        await stage.begun(a_txt="one\n", b_txt="two\n")
        before = files(stage.host)
        stage.put("a.txt", "changed\n")
        (stage.copy.root / "b.txt").unlink()
        stage.put("x/y.txt", "shell\n")
        change = await stage.review.collect("s1", "t1")
        assert change is not None
        run = stage.review.run_of("s1", "t1")
        assert run is not None
        assert run.id == change.id
        if applied:
            await stage.review.apply()
        assert await stage.review.undo(run.id) == ["a.txt", "b.txt", "x/y.txt"]
        assert files(stage.host) == before
        assert files(stage.copy.root) == before
        assert stage.review.pending == ()
        assert not (stage.host / "x").exists()
        with pytest.raises(OrionError, match="review_unknown"):
            await stage.review.undo(run.id)

    asyncio.run(main())


def test_undoing_one_run_of_two_leaves_the_other_proposed(stage: Stage) -> None:
    async def main() -> None:
        await stage.begun(a_txt="one\n", b_txt="one\n")
        stage.put("a.txt", "by t1\n")
        await stage.worked("t1")
        stage.put("b.txt", "by t2\n")
        await stage.worked("t2")
        await stage.review.apply()
        first, second = stage.review.runs
        await stage.review.undo(first.id)
        assert (stage.host / "b.txt").read_text() == "one\n"
        assert kinds(stage.review.pending) == {"b.txt": "modified"}
        assert (stage.copy.root / "a.txt").read_text() == "one\n"
        stage.put("b.txt", "by t3\n")
        await stage.worked("t3")
        with pytest.raises(OrionError, match="review_moved_on"):
            await stage.review.undo(second.id)

    asyncio.run(main())


def test_undo_of_what_the_user_changed_since_is_refused(stage: Stage) -> None:
    async def main() -> None:
        await stage.begun(a_txt="one\n")
        stage.put("a.txt", "two\n")
        await stage.worked()
        await stage.review.apply()
        stage.user("a.txt", "mine\n")
        with pytest.raises(OrionError, match="undo_conflict"):
            await stage.review.undo(stage.review.runs[0].id)
        await stage.review.push()
        assert (stage.host / "a.txt").read_text() == "mine\n"
        assert stage.equal()

    asyncio.run(main())


def test_only_differences_are_sent_and_the_copys_own_change_becomes_a_proposal_first(stage: Stage) -> None:
    async def main() -> None:
        for number in range(300):
            stage.user(f"code/f{number}.txt", f"{number}\n")
        assert await stage.review.push() == 300
        stage.restart()
        stage.copy.sent.clear()
        stage.user("code/f7.txt", "seven\n")
        (stage.host / "code/f8.txt").unlink()
        stage.put("code/f9.txt", "by hand in the sandbox\n")
        assert await stage.review.push() == 2
        assert sorted(stage.copy.sent) == ["code/f7.txt", "code/f8.txt"]
        assert kinds(stage.review.pending) == {"code/f9.txt": "modified"}
        assert (stage.copy.root / "code/f9.txt").read_text() == "by hand in the sandbox\n"

    asyncio.run(main())


def test_a_save_in_the_sandbox_while_a_push_is_under_way_is_kept(stage: Stage) -> None:
    async def main() -> None:
        await stage.begun(a_txt="one\n")
        stage.user("a.txt", "mine\n")
        stage.copy.before_put = lambda: stage.put("a.txt", "saved just now\n")
        assert await stage.review.push() == 0
        assert (stage.copy.root / "a.txt").read_text() == "saved just now\n"
        (proposal,) = await stage.worked()
        assert proposal.conflict

    asyncio.run(main())


def test_a_new_volume_gets_everything_again_with_what_was_undecided(stage: Stage, tmp_path: Path) -> None:
    async def main() -> None:
        await stage.begun(a_txt="one\n", b_txt="two\n", c_txt="three\n")
        stage.put("a.txt", "changed\n")
        (stage.copy.root / "b.txt").unlink()
        stage.put("new.txt", "new\n")
        await stage.worked()
        worked = files(stage.copy.root)
        stage.copy = FolderCopy(tmp_path / "fresh")
        stage.review.attach(stage.copy, "volume 2")
        await stage.review.push()
        assert files(stage.copy.root) == worked
        assert kinds(stage.review.pending) == {"a.txt": "modified", "b.txt": "deleted", "new.txt": "created"}
        await stage.review.apply()
        assert stage.equal()

    asyncio.run(main())


def test_decisions_made_while_the_machine_is_off_reach_the_copy_later(stage: Stage) -> None:
    async def main() -> None:
        await stage.begun(a_txt="one\n", b_txt="two\n")
        stage.put("a.txt", "changed\n")
        stage.put("b.txt", "changed\n")
        await stage.worked()
        stage.restart(attached=False)
        a, b = await stage.review.look()
        await stage.review.reject([Choice.of(a)])
        await stage.review.apply([Choice.of(b)])
        assert (stage.copy.root / "a.txt").read_text() == "changed\n"
        with pytest.raises(OrionError, match="review_detached"):
            await stage.review.push()
        stage.restart()
        await stage.review.push()
        assert stage.equal()
        assert stage.review.pending == ()

    asyncio.run(main())


def test_the_wire_that_breaks_in_a_decision_loses_nothing(stage: Stage) -> None:
    async def main() -> None:
        await stage.begun(a_txt="one\n")
        stage.put("a.txt", "changed\n")
        await stage.worked()
        stage.copy.gone = True
        await stage.review.reject()
        with pytest.raises(OrionError, match="sync_interrupted"):
            await stage.review.push()
        stage.copy.gone = False
        await stage.review.push()
        assert stage.equal()
        assert (stage.host / "a.txt").read_text() == "one\n"

    asyncio.run(main())


def test_what_cannot_be_synced_is_told_by_name(tmp_path: Path) -> None:
    stage = Stage(tmp_path, Limits(read=100, write=100), folds=True)

    async def main() -> None:
        await stage.begun(a_txt="one\n", Case_txt="one\n")
        stage.user("huge.bin", b"x" * 101)
        (stage.host / "link").symlink_to("a.txt")
        stage.put("large.bin", b"x" * 101)
        stage.put("nul.txt", "x")
        stage.put("case.TXT", "x")
        stage.put("dot./x", "x")
        (stage.copy.root / "a.txt").unlink()
        (stage.copy.root / "a.txt").symlink_to("/etc/passwd")
        stage.put("nul", "x")
        stage.copy.unread = ["secret"]
        await stage.review.push()
        assert stage.review.left_out == {
            "a.txt": "sync_link",
            "case.TXT": "sync_collides",
            "dot./x": "sync_name",
            "huge.bin": "sync_host_large",
            "large.bin": "sync_large",
            "link": "sync_host_left_out",
            "nul": "sync_name",
            "nul.txt": "sync_name",
            "secret": "sync_unread",
        }
        assert stage.review.pending == ()
        assert not (stage.copy.root / "huge.bin").exists()
        assert (stage.host / "a.txt").read_text() == "one\n"

    asyncio.run(main())


def test_a_folder_that_cannot_be_read_is_not_taken_for_deleted(stage: Stage) -> None:
    async def main() -> None:
        stage.user("code/a.txt", "one\n")
        await stage.review.push()
        stage.copy.unread = ["code"]
        assert await stage.worked() == ()
        stage.copy.unread = []
        assert await stage.worked() == ()

    asyncio.run(main())


def test_a_file_may_become_a_folder_and_a_folder_a_file(stage: Stage) -> None:
    async def main() -> None:
        await stage.begun(a="was a file\n")
        stage.user("b/c/d.txt", "deep\n")
        await stage.review.push()
        (stage.copy.root / "a").unlink()
        stage.put("a/x.txt", "now in a folder\n")
        (stage.copy.root / "b/c/d.txt").unlink()
        (stage.copy.root / "b/c").rmdir()
        (stage.copy.root / "b").rmdir()
        stage.put("b", "now a file\n")
        before = files(stage.host)
        await stage.worked()
        decision = await stage.review.apply()
        assert stage.equal()
        await stage.review.take_back(decision.id)
        assert files(stage.host) == before

    asyncio.run(main())


def test_a_removed_folder_goes_from_the_host_as_well(stage: Stage) -> None:
    async def main() -> None:
        stage.user("old/in/a.txt", "x")
        stage.user("notes/n.txt", "x")
        await stage.review.push()
        for name in ("old/in/a.txt", "notes/n.txt"):
            (stage.copy.root / name).unlink()
        (stage.copy.root / "old/in").rmdir()
        (stage.copy.root / "old").rmdir()
        await stage.worked()
        await stage.review.apply()
        assert not (stage.host / "old").exists()
        assert (stage.host / "notes").exists()

    asyncio.run(main())


def test_equal_on_both_sides_is_no_question(stage: Stage) -> None:
    async def main() -> None:
        stage.user("a.txt", "same\n")
        stage.put("a.txt", "same\n")
        await stage.review.push()
        assert stage.review.pending == ()
        assert stage.copy.sent == []
        stage.put("b.txt", "later same\n")
        await stage.worked()
        stage.user("b.txt", "later same\n")
        await stage.review.push()
        assert stage.review.pending == ()

    asyncio.run(main())


def test_the_book_of_a_newer_program_and_a_damaged_one_are_refused_untouched(stage: Stage) -> None:
    path = stage.folder / "changes" / "copy-sandbox.json"
    path.parent.mkdir()
    for content, code in ((b'{"v": 99}', "format_newer"), (b'{"v": 1, "ba', "review_damaged")):
        path.write_bytes(content)
        with pytest.raises(OrionError, match=code):
            asyncio.run(stage.review.push())
        assert path.read_bytes() == content


# --- campaigns ----------------------------------------------------------------------------------------


NAMES = ("a.txt", "b.txt", "d/c.txt", "d/e.bin", "d", "f/g/h.txt")


def scribble(dice: random.Random, root: Path) -> None:
    """One change to a folder, as a person or a program makes it."""
    target = root / dice.choice(NAMES)
    if dice.random() < 0.25 and target.is_file():
        target.unlink()
        return
    if target.is_dir() or any(parent.is_file() for parent in target.parents):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    end = dice.choice(["\n", "\r\n"])
    old = target.read_bytes() if target.is_file() else b""
    kind = dice.randint(0, 5)
    if kind == 0:
        target.write_bytes(bytes(dice.randrange(256) for _ in range(20)))
    elif kind == 1:
        target.write_bytes("".join(f"l{number}{end}" for number in range(30)).encode("utf-16"))
    elif kind == 2:
        target.write_bytes(b"")
    elif kind == 3 and old:
        lines = old.splitlines(keepends=True)
        lines[dice.randrange(len(lines))] = b"edited %d\n" % dice.randrange(100)
        target.write_bytes(b"".join(lines))
    else:
        target.write_bytes("".join(f"l{number}{end}" for number in range(30)).encode() + b"no end")
    target.chmod(dice.choice([0o644, 0o755]))


async def decide(dice: random.Random, review: Review) -> None:
    """Something a person does in the review."""
    found = list(await review.look())
    if not found:
        return
    some = [one for one in found if dice.random() < 0.6] or found[:1]
    choices = []
    for one in some:
        hunks = len((await review.detail(one.path))["hunks"])
        part = [number for number in range(hunks) if dice.random() < 0.5]
        choices.append(Choice.of(one, part if part and dice.random() < 0.5 else None))
    clear = [choice for one, choice in zip(some, choices, strict=True) if not one.conflict]
    match dice.randint(0, 4):
        case 0:
            await review.apply(clear)
        case 1:
            await review.reject(choices)
        case 2:
            await review.keep_beside([one.path for one in some if one.conflict and one.after][:1])
        case 3 if review.decisions:
            await review.take_back(dice.choice(review.decisions).id)
        case _ if review.runs:
            await review.undo(dice.choice(review.runs).id)


async def checked(step: Coroutine[Any, Any, Any]) -> None:
    """A step may be refused for what the world did, never for another reason."""
    allowed = {"review_nothing", "review_changed", "review_conflict", "review_moved_on", "undo_conflict"}
    allowed |= {"workspace_not_folder", "workspace_not_file", "workspace_conflict", "workspace_exists"}
    try:
        await step
    except OrionError as error:
        if error.code not in allowed:
            raise


async def settled(stage: Stage) -> None:
    """In the end both sides agree on everything but what still waits."""
    await stage.review.push()
    await stage.review.push()
    waiting = {path for one in stage.review.pending for path in one.paths} | stage.review.left_out.keys()
    host, copy = files(stage.host), files(stage.copy.root)
    for path in host.keys() | copy.keys():
        assert path in waiting or host.get(path) == copy.get(path), path


@pytest.mark.parametrize("seed", SEEDS)
def test_a_campaign_of_edits_on_both_sides_ends_in_agreement(tmp_path: Path, seed: int) -> None:
    stage = Stage(tmp_path)
    dice = random.Random(seed)

    async def main() -> None:
        for turn in range(6):
            for _ in range(dice.randint(0, 3)):
                scribble(dice, stage.host)
            await stage.review.push()
            for _ in range(dice.randint(0, 3)):
                scribble(dice, stage.copy.root)
            if dice.random() < 0.3:
                scribble(dice, stage.host)
            expected = files(stage.host)
            await stage.review.collect("s", str(turn))
            assert files(stage.host) == expected
            if dice.random() < 0.3:
                stage.restart()
            await checked(decide(dice, stage.review))
        await settled(stage)

    asyncio.run(main())


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
