"""Hosts that tell less than the sandbox does: no executable bits, no difference between a and A."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from runtime.proposals import Choice
from tests.runtime.folder_copy import files
from tests.runtime.test_review import Stage, scribble


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A host as Windows is one."""
    return Stage(tmp_path, bits=False, folds=True)


def contents(root: Path) -> dict[str, bytes]:
    return {path: content for path, (content, _bit) in files(root).items()}


def test_a_bit_the_host_cannot_keep_is_kept_for_the_sandbox(stage: Stage) -> None:
    async def main() -> None:
        await stage.begun(run_sh="#!/bin/sh\n")
        (stage.copy.root / "run.sh").chmod(0o755)
        (proposal,) = await stage.worked()
        assert proposal.kind == "mode"
        await stage.review.apply()
        assert await stage.worked("t2") == ()
        stage.user("run.sh", "#!/bin/sh\necho\n")
        await stage.review.push()
        assert files(stage.copy.root)["run.sh"] == (b"#!/bin/sh\necho\n", True)
        stage.put("new.sh", "x\n")
        (stage.copy.root / "new.sh").chmod(0o755)
        await stage.worked("t3")
        await stage.review.apply()
        assert await stage.worked("t4") == ()

    asyncio.run(main())


def test_a_part_of_a_file_that_became_a_program_is_taken(stage: Stage) -> None:
    async def main() -> None:
        text = "".join(f"line {number}\n" for number in range(40))
        await stage.begun(run_sh=text)
        stage.put("run.sh", text.replace("line 1\n", "one\n").replace("line 30\n", "thirty\n"))
        (stage.copy.root / "run.sh").chmod(0o755)
        (proposal,) = await stage.worked()
        await stage.review.apply([Choice.of(proposal, [0])])
        (rest,) = stage.review.pending
        assert not rest.conflict
        await stage.review.apply()
        assert contents(stage.host) == contents(stage.copy.root)
        assert await stage.worked("t2") == ()

    asyncio.run(main())


@pytest.mark.parametrize("name", ["A.TXT", "Code/x.txt", "CODE", "cafe\u0301.txt"])
def test_names_the_host_takes_for_one_are_left_out(stage: Stage, name: str) -> None:
    async def main() -> None:
        stage.user("code/y.txt", "y\n")
        stage.user("café.txt", "composed\n")
        await stage.begun(a_txt="one\n")
        stage.put(name, "x\n")
        assert await stage.worked() == ()
        assert stage.review.left_out == {name: "sync_collides"}
        (stage.copy.root / name).rename(stage.copy.root / "fine.txt")
        assert [one.path for one in await stage.worked("t2")] == ["fine.txt"]

    asyncio.run(main())


@pytest.mark.parametrize("seed", range(10))
def test_campaigns_end_in_agreement_on_contents(stage: Stage, seed: int) -> None:
    dice = random.Random(1000 + seed)

    async def main() -> None:
        for turn in range(4):
            scribble(dice, stage.host)
            await stage.review.push()
            scribble(dice, stage.copy.root)
            scribble(dice, stage.copy.root)
            await stage.review.collect("s", str(turn))
            if turn == 2 and stage.review.pending:
                await stage.review.reject()
        await stage.review.push()
        waiting = {path for one in stage.review.pending for path in one.paths} | stage.review.left_out.keys()
        host, copy = contents(stage.host), contents(stage.copy.root)
        assert {path for path in host.keys() | copy.keys() if host.get(path) != copy.get(path)} <= waiting

    asyncio.run(main())
