"""Whatever is changed and decided in whatever order, both sides agree in the end on all that is decided."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from runtime.errors import OrionError
from runtime.proposals import Choice
from runtime.review import Review
from tests.runtime.folder_copy import files
from tests.runtime.review_stage import Stage

SEEDS = range(40)
"""Of the campaigns; each takes a quarter of a second."""


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
