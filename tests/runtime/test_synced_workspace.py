"""Both sides are kept in step by differences alone, also on hosts that tell less than the sandbox does."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from pathlib import Path

import pytest

from runtime.guest_copy import Listing
from runtime.proposals import Choice
from runtime.workspace import Limits
from tests.runtime.folder_copy import FolderCopy, files
from tests.runtime.review_stage import Stage
from tests.runtime.test_review_campaigns import scribble


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


@pytest.fixture
def plain_stage(tmp_path: Path) -> Stage:
    """A host as Windows is one: no executable bits, no difference between a and A."""
    return Stage(tmp_path, bits=False, folds=True)


def contents(root: Path) -> dict[str, bytes]:
    return {path: content for path, (content, _bit) in files(root).items()}


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
        assert {one.path: one.kind for one in stage.review.pending} == {"code/f9.txt": "modified"}
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
        assert {one.path: one.kind for one in stage.review.pending} == {
            "a.txt": "modified",
            "b.txt": "deleted",
            "new.txt": "created",
        }
        await stage.review.apply()
        assert stage.equal()

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


@pytest.mark.parametrize("side", ["copy", "host"])
def test_too_many_files_are_told_and_do_not_stop_the_agent(tmp_path: Path, side: str) -> None:
    stage = Stage(tmp_path, Limits(files=5))

    async def main() -> None:
        await stage.begun(a_txt="one\n")
        root = stage.copy.root if side == "copy" else stage.host
        for number in range(6):
            stage.put(f"many/{number}", "x", root)
        assert await stage.review.push() == 0
        code = "sync_all_left_out" if side == "copy" else "sync_host_all_left_out"
        assert stage.review.left_out == {"/workspace": code}
        assert await stage.review.collect("s", "t") is None
        for number in range(3):
            (root / f"many/{number}").unlink()
        await stage.review.push()
        assert len(stage.review.pending) == (3 if side == "copy" else 0)
        assert stage.review.left_out == {}

    asyncio.run(main())


def test_a_content_that_is_lost_does_not_stop_the_agent(stage: Stage) -> None:
    async def main() -> None:
        await stage.begun(a_txt="one\n", b_txt="one\n")
        stage.put("a.txt", "changed\n")
        await stage.worked()
        stage.review.detach()
        await stage.review.reject()
        for stored in (stage.folder / "changes" / "objects").rglob("*"):
            if stored.is_file():
                stored.unlink()
        stage.restart()
        stage.user("b.txt", "two\n")
        await stage.review.push()
        assert stage.review.left_out == {"a.txt": "sync_refused"}
        assert (stage.copy.root / "b.txt").read_text() == "two\n"

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


def test_a_bit_the_host_cannot_keep_is_kept_for_the_sandbox(plain_stage: Stage) -> None:
    async def main() -> None:
        await plain_stage.begun(run_sh="#!/bin/sh\n")
        (plain_stage.copy.root / "run.sh").chmod(0o755)
        (proposal,) = await plain_stage.worked()
        assert proposal.kind == "mode"
        await plain_stage.review.apply()
        assert await plain_stage.worked("t2") == ()
        plain_stage.user("run.sh", "#!/bin/sh\necho\n")
        await plain_stage.review.push()
        assert files(plain_stage.copy.root)["run.sh"] == (b"#!/bin/sh\necho\n", True)
        plain_stage.put("new.sh", "x\n")
        (plain_stage.copy.root / "new.sh").chmod(0o755)
        await plain_stage.worked("t3")
        await plain_stage.review.apply()
        assert await plain_stage.worked("t4") == ()

    asyncio.run(main())


def test_a_part_of_a_file_that_became_a_program_is_taken(plain_stage: Stage) -> None:
    async def main() -> None:
        text = "".join(f"line {number}\n" for number in range(40))
        await plain_stage.begun(run_sh=text)
        plain_stage.put("run.sh", text.replace("line 1\n", "one\n").replace("line 30\n", "thirty\n"))
        (plain_stage.copy.root / "run.sh").chmod(0o755)
        (proposal,) = await plain_stage.worked()
        await plain_stage.review.apply([Choice.of(proposal, [0])])
        (rest,) = plain_stage.review.pending
        assert not rest.conflict
        await plain_stage.review.apply()
        assert contents(plain_stage.host) == contents(plain_stage.copy.root)
        assert await plain_stage.worked("t2") == ()

    asyncio.run(main())


@pytest.mark.parametrize("name", ["A.TXT", "Code/x.txt", "CODE", "cafe\u0301.txt"])
def test_names_the_host_takes_for_one_are_left_out(plain_stage: Stage, name: str) -> None:
    async def main() -> None:
        plain_stage.user("code/y.txt", "y\n")
        plain_stage.user("café.txt", "composed\n")
        await plain_stage.begun(a_txt="one\n")
        plain_stage.put(name, "x\n")
        assert await plain_stage.worked() == ()
        assert plain_stage.review.left_out == {name: "sync_collides"}
        (plain_stage.copy.root / name).rename(plain_stage.copy.root / "fine.txt")
        assert [one.path for one in await plain_stage.worked("t2")] == ["fine.txt"]

    asyncio.run(main())


@pytest.mark.parametrize("seed", range(10))
def test_campaigns_end_in_agreement_on_contents(plain_stage: Stage, seed: int) -> None:
    dice = random.Random(1000 + seed)

    async def main() -> None:
        for turn in range(4):
            scribble(dice, plain_stage.host)
            await plain_stage.review.push()
            scribble(dice, plain_stage.copy.root)
            scribble(dice, plain_stage.copy.root)
            await plain_stage.review.collect("s", str(turn))
            if turn == 2 and plain_stage.review.pending:
                await plain_stage.review.reject()
        await plain_stage.review.push()
        waiting = {
            path for one in plain_stage.review.pending for path in one.paths
        } | plain_stage.review.left_out.keys()
        host, copy = contents(plain_stage.host), contents(plain_stage.copy.root)
        assert {path for path in host.keys() | copy.keys() if host.get(path) != copy.get(path)} <= waiting

    asyncio.run(main())


def test_sizes_the_copy_makes_up_change_nothing_in_the_book(stage: Stage) -> None:
    async def main() -> None:
        await stage.begun(a_txt="one\n")
        stage.put("b.txt", "one\n")
        (proposal,) = await stage.worked()
        await stage.review.reject()
        await stage.review.push()
        stage.put("b.txt", "one\n")
        honest = stage.copy.list

        async def lying() -> Listing:
            listing = await honest()
            return replace(listing, found=tuple(replace(one, size=one.size + 7) for one in listing.found))

        stage.copy.list = lying  # type: ignore[method-assign]
        for waiting in await stage.worked("t2"):
            assert waiting.size == 4
        await stage.review.apply([Choice.of(one) for one in stage.review.pending if one.path == "b.txt"])
        assert contents(stage.host)["b.txt"] == b"one\n"
        assert [made.kind for made in stage.review.decisions] == ["reject", "apply"]
        assert proposal.size == 4

    asyncio.run(main())
