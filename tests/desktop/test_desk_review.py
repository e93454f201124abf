"""The window's questions about the sandbox's changes, over a real review with a folder for its copy."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from desktop import desk_review
from desktop.desk import Desk
from runtime.errors import OrionError
from runtime.review import Review
from tests.runtime.review_stage import Stage

TEXT = "".join(f"line {number}\n" for number in range(40))


@dataclass(frozen=True, slots=True)
class Computer:
    review: Review


@dataclass(frozen=True, slots=True)
class House:
    computer: Computer


@dataclass(frozen=True, slots=True)
class Reception:
    """As much of a Desk as these questions use."""

    runtime: House


def with_desk(stage: Stage, work: Callable[[Desk], Awaitable[None]]) -> None:
    async def run() -> None:
        await stage.begun(a_txt=TEXT, b_txt="one\n", c_txt="one\n")
        stage.put("a.txt", TEXT.replace("line 3\n", "three\n").replace("line 33\n", ""))
        stage.put("b.txt", "sandbox\n")
        stage.put("c.txt", "sandbox\n")
        (stage.copy.root / "link").symlink_to("a.txt")
        await stage.review.collect("s", "t")
        stage.user("b.txt", "mine\n")
        await work(cast(Desk, Reception(House(Computer(stage.review)))))

    asyncio.run(run())


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def choice(row: dict[str, Any], hunks: list[int] | None = None) -> dict[str, Any]:
    return {"path": row["path"], "before": row["before"], "after": row["after"], "hunks": hunks}


def test_the_list_is_plain_data_with_counted_lines(stage: Stage) -> None:
    async def work(desk: Desk) -> None:
        found = await desk_review.review(desk)
        json.dumps(found)
        rows = [(row["path"], row["added"], row["removed"], row["conflict"]) for row in found["proposals"]]
        assert rows == [("a.txt", 1, 2, False), ("b.txt", 1, 1, True), ("c.txt", 1, 1, False)]
        assert found["left_out"] == [{"path": "link", "code": "sync_link"}]
        detail = await desk_review.review_detail(desk, "a.txt")
        json.dumps(detail)
        assert [hunk["head"] for hunk in detail["hunks"]] == ["@@ -4,1 +4,1 @@", "@@ -34,1 +33,0 @@"]
        with pytest.raises(OrionError, match="review_changed"):
            await desk_review.review_detail(desk, "gone.txt")

    with_desk(stage, work)


def test_decisions_answer_with_the_list_and_can_be_taken_back(stage: Stage) -> None:
    async def work(desk: Desk) -> None:
        a, b, c = (await desk_review.review(desk))["proposals"]
        found = await desk_review.review_apply(desk, [choice(a, [0]), choice(c)])
        assert found["undo"]["kind"] == "apply"
        assert found["undo"]["count"] == 2
        assert found["open"] == [found["undo"]["id"]]
        assert [row["path"] for row in found["proposals"]] == ["a.txt", "b.txt"]
        assert (stage.host / "a.txt").read_text() == TEXT.replace("line 3\n", "three\n")
        found = await desk_review.review_take_back(desk, found["undo"]["id"])
        assert found["undo"] is None
        assert len(found["proposals"]) == 3
        found = await desk_review.review_keep_beside(desk, "b.txt")
        assert (stage.host / "b (sandbox).txt").read_text() == "sandbox\n"
        found = await desk_review.review_reject(desk, [choice(c)])
        assert [row["path"] for row in found["proposals"]] == ["a.txt"]
        assert b["conflict"]

    with_desk(stage, work)


def test_a_conflict_is_compared_and_a_run_undone(stage: Stage) -> None:
    async def work(desk: Desk) -> None:
        found = await desk_review.review_compare(desk, "b.txt")
        assert not found["proposals"][1]["conflict"]
        await desk_review.review_apply(desk, [choice(row) for row in found["proposals"]])
        assert (stage.host / "b.txt").read_text() == "sandbox\n"
        (run,) = (await desk_review.review(desk))["runs"]
        assert run["files"] == 3
        assert stage.review.newest == run["id"]
        assert (await desk_review.review_undo_run(desk, run["id"]))["undone"] == 3
        assert stage.review.newest == ""
        assert (stage.host / "a.txt").read_text() == TEXT
        assert (stage.host / "b.txt").read_text() == "mine\n"
        assert stage.review.pending == ()
        (stage.copy.root / "link").unlink()
        assert stage.equal()

    with_desk(stage, work)


def test_a_run_is_undone_by_its_id(stage: Stage) -> None:
    async def work(desk: Desk) -> None:
        (run,) = (await desk_review.review(desk))["runs"]
        found = await desk_review.review_undo_run(desk, run["id"])
        json.dumps(found)
        assert found["undone"] == 3
        assert found["proposals"] == []
        assert found["runs"] == []

    with_desk(stage, work)
