"""What the sandbox changed is looked at and decided on from the terminal too, with no engine in sight."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from runtime.machines import NAME
from runtime.review import Review
from runtime.workspace import Workspace
from tests.runtime.cli.commands import Here
from tests.runtime.folder_copy import FolderCopy

TEXT = "".join(f"line {number}\n" for number in range(40))


@pytest.fixture
def workspace(fresh_home: Path, tmp_path: Path) -> Path:
    """A workspace whose copy (a folder) was worked in."""
    home = fresh_home
    workspace = Workspace.create(home / "workspace", home / "changes")
    copy = FolderCopy(tmp_path / "copy")
    review = Review(workspace, home / "changes", name=NAME)
    review.attach(copy, "v1")

    async def work() -> None:
        (workspace.root / "a.txt").write_text(TEXT)
        (workspace.root / "b.txt").write_text("mine\n")
        await review.push()
        (copy.root / "a.txt").write_text(TEXT.replace("line 3\n", "three\n").replace("line 33\n", ""))
        (copy.root / "b.txt").write_text("sandbox\n")
        (copy.root / "new\x1b[2J.txt").write_text("x")
        (copy.root / "new.bin").write_bytes(b"\0\1")
        (copy.root / "link").symlink_to("a.txt")
        await review.collect("s", "t")
        (workspace.root / "b.txt").write_text("mine again\n")

    asyncio.run(work())
    return workspace.root


def test_what_waits_is_listed_and_shown_in_parts(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = Here(monkeypatch)
    ran = here.run("sandbox", "review")
    assert ran.out.splitlines() == [
        "changed   a.txt  +1 -2",
        "changed   b.txt  +1 -1  (in conflict)",
        "new       new.bin",
    ]
    assert "link in the sandbox is a link" in ran.err
    shown = here.run("sandbox", "review", "a.txt").out
    assert "[1] @@ -4,1 +4,1 @@" in shown
    assert "\n-line 3\n+three\n" in shown
    assert "[2] @@ -34,1 +33,0 @@" in shown
    plain = json.loads(here.run("sandbox", "review", "--json").out)
    assert [one["path"] for one in plain["proposals"]] == ["a.txt", "b.txt", "new.bin"]
    assert len(plain["left_out"]) == 2


def test_parts_are_applied_rejected_and_taken_back(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = Here(monkeypatch)
    assert here.run("sandbox", "apply", "a.txt", "--part", "2").code == 0
    assert (workspace / "a.txt").read_text() == TEXT.replace("line 33\n", "")
    assert here.run("sandbox", "undo").code == 0
    assert (workspace / "a.txt").read_text() == TEXT
    ran = here.run("sandbox", "apply")
    assert "1 file still waits." in ran.err
    assert (workspace / "a.txt").read_text() == TEXT.replace("line 3\n", "three\n").replace("line 33\n", "")
    assert (workspace / "b.txt").read_text() == "mine again\n"
    assert here.run("sandbox", "reject", "b.txt").code == 0
    assert "Nothing waits" in here.run("sandbox", "review").err
    run = json.loads((workspace.parent / "changes" / f"copy-{NAME}.json").read_text())["runs"][0]["id"]
    assert "a.txt" in here.run("sandbox", "undo", "--run", run).out
    assert (workspace / "a.txt").read_text() == TEXT
    assert not (workspace / "new.bin").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("apply", "gone.txt"), "does not wait for a decision"),
        (("apply", "a.txt", "new.bin", "--part", "1"), "name exactly one file"),
        (("apply", "a.txt", "--part", "9"), "has no part of that number"),
        (("apply", "new.bin", "--part", "1"), "not a text"),
        (("apply", "b.txt"), "not overwritten"),
        (("undo",), "No decision is left"),
        (("undo", "--run", "x"), "no decision or run"),
    ],
)
def test_what_cannot_be_done_is_said(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    ran = Here(monkeypatch).run("sandbox", *arguments)
    assert ran.code != 0
    assert words in ran.err
    assert (workspace / "a.txt").read_text() == TEXT
