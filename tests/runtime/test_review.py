"""Nothing from the sandbox reaches the user's folder undecided, and nothing of either side is lost.

The copy is a folder (FolderCopy); tests/runtime/test_guest_copy.py has the same with a real guest.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from runtime.errors import OrionError
from runtime.proposals import Choice, Proposal, proposals
from runtime.sync_book import Book, Mark
from runtime.synced_workspace import Side
from tests.runtime.folder_copy import files, sha256
from tests.runtime.review_stage import Stage


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
        assert stage.review.newest == change.id
        if applied:
            await stage.review.apply()
        assert await stage.review.undo(change.id) == ["a.txt", "b.txt", "x/y.txt"]
        assert files(stage.host) == before
        assert files(stage.copy.root) == before
        assert stage.review.pending == ()
        assert not (stage.host / "x").exists()
        with pytest.raises(OrionError, match="review_unknown"):
            await stage.review.undo(change.id)

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


def test_the_book_of_a_newer_program_and_a_damaged_one_are_refused_untouched(stage: Stage) -> None:
    path = stage.folder / "changes" / "copy-sandbox.json"
    path.parent.mkdir()
    for content, code in ((b'{"v": 99}', "format_newer"), (b'{"v": 1, "ba', "review_damaged")):
        path.write_bytes(content)
        with pytest.raises(OrionError, match=code):
            asyncio.run(stage.review.push())
        assert path.read_bytes() == content


def test_thousands_of_moved_files_are_told_at_once() -> None:
    host, book = Side(), Book()
    for number in range(20_000):
        mark = Mark(sha256(b"%d" % number), 5)
        host.files[f"old/{number}"] = book.base[f"old/{number}"] = mark
        book.set_copy(f"old/{number}", None)
        book.set_copy(f"new/{number}", mark)
    started = time.process_time()
    found = proposals(book, host)
    assert time.process_time() - started < 5
    assert {one.kind for one in found} == {"moved"}
    assert len(found) == 20_000
