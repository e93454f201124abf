"""The guest's files as a copy: over the real wire, with the guest's own code, and in a real machine."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from runtime.errors import OrionError
from runtime.guest_copy import Copy, Wanted, guest_copy
from runtime.proposals import Choice
from runtime.review import Review
from runtime.workspace import Workspace
from sandbox.files import GuestFiles
from sandbox.guest.files import Files
from sandbox.shell import GuestShell
from tests.runtime.folder_copy import files, sha256
from tests.sandbox.conftest import Stage, config, engine, guest_machine, image
from tests.sandbox.guest.pairs import pair
from tests.sandbox.guest.test_files import served

__all__ = ["config", "engine", "guest_machine", "image"]


def over_the_wire(root: Path, work: Callable[[Copy], Awaitable[None]]) -> None:
    async def run() -> None:
        async with pair(guest=served(Files(str(root)))) as (host, _guest):
            await work(guest_copy(GuestFiles(host)))

    asyncio.run(run())


def test_everything_is_listed_and_links_are_told(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/a.sh").write_bytes(b"x")
    (tmp_path / "notes/a.sh").chmod(0o755)
    (tmp_path / "link").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe")

    async def work(copy: Copy) -> None:
        found = {one.path: one for one in (await copy.list()).found}
        assert {path: one.sort for path, one in found.items()} == {
            "notes": "folder",
            "notes/a.sh": "file",
            "link": "link",
            "pipe": "other",
        }
        assert (found["notes/a.sh"].sha256, found["notes/a.sh"].mode) == (sha256(b"x"), 0o755)
        assert await copy.get(["notes/a.sh", "link", "gone"], 100) == {"notes/a.sh": b"x"}

    over_the_wire(tmp_path, work)


def test_only_what_is_as_expected_is_replaced_or_removed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one")
    (tmp_path / "link").symlink_to(tmp_path / "a.txt")

    async def work(copy: Copy) -> None:
        wanted = [
            Wanted("a.txt", b"two", 0o644, sha256(b"other")),
            Wanted("new/b.txt", b"new", 0o755, ""),
            Wanted("link", b"through", 0o644, ""),
        ]
        refused = await copy.put(wanted)
        assert refused["a.txt"] == "changed"
        assert set(refused) == {"a.txt", "link"}
        assert files(tmp_path) == {"a.txt": (b"one", False), "new/b.txt": (b"new", True)}
        assert await copy.remove({"a.txt": sha256(b"two"), "new/b.txt": sha256(b"new")}) == {
            "a.txt": "changed"
        }
        await copy.remove_folders(["new", "a.txt"])
        assert sorted(os.listdir(tmp_path)) == ["a.txt", "link"]

    over_the_wire(tmp_path, work)


def test_a_review_over_the_wire(tmp_path: Path) -> None:
    workspace = Workspace.create(tmp_path / "host", tmp_path / "changes")
    inside = tmp_path / "guest"
    inside.mkdir()
    review = Review(workspace, tmp_path / "changes")
    text = "".join(f"line {number}\n" for number in range(50))

    async def work(copy: Copy) -> None:
        for number in range(500):
            (workspace.root / f"code/f{number}.txt").write_text(text)
        review.attach(copy, "v1")
        assert await review.push() == 500
        assert files(workspace.root) == files(inside)
        (inside / "code/f1.txt").write_text(text.replace("line 7\n", "seven\n"))
        (inside / "code/f2.txt").unlink()
        (inside / "big.bin").write_bytes(bytes(range(256)) * 10_000)
        await review.collect("s", "t")
        assert [one.path for one in review.pending] == ["big.bin", "code/f1.txt", "code/f2.txt"]
        await review.apply()
        assert files(workspace.root) == files(inside)
        await review.undo(review.runs[0].id)
        assert files(workspace.root) == files(inside)
        assert (inside / "code/f2.txt").read_text() == text

    over_the_wire(inside, work)


def test_a_guest_that_ends_is_an_expected_failure(tmp_path: Path) -> None:
    async def run() -> None:
        async with pair(guest=served(Files(str(tmp_path)))) as (host, guest):
            copy = guest_copy(GuestFiles(host))
            guest.close()
            with pytest.raises(OrionError, match="sync_interrupted"):
                await copy.list()

    asyncio.run(run())


def test_a_run_in_a_real_machine_is_reviewed_and_undone(guest_machine: Stage, tmp_path: Path) -> None:
    workspace = Workspace.create(tmp_path / "host", tmp_path / "changes")
    review = Review(workspace, tmp_path / "changes")
    text = "".join(f"line {number}\n" for number in range(50))
    script = (
        "cd /workspace && sed -i 's/line 7$/seven/; s/line 40$/forty/' code/a.txt && rm notes/b.txt"
        " && mv code/c.txt notes/ && printf '#!/bin/sh\\n' > run.sh && chmod +x run.sh"
        " && mkdir -p 'new folder/ä' && head -c 300000 /dev/urandom > 'new folder/ä/data.bin'"
        " && ln -s /etc/passwd link && mkfifo pipe"
    )
    for name in ("code/a.txt", "notes/b.txt", "code/c.txt"):
        (workspace.root / name).write_text(name + "\n" + text)
    before = files(workspace.root)

    async def work() -> None:
        guest = guest_machine.guest
        review.attach(guest_copy(GuestFiles(guest.bulk)), guest_machine.machine.volume_identity)
        await review.push()
        ran = await GuestShell(guest.control).execute(script, "bash")
        assert ran.code == 0, ran
        change = await review.collect("s", "t")
        assert change is not None
        assert files(workspace.root) == before
        assert {one.path: one.kind for one in review.pending} == {
            "code/a.txt": "modified",
            "new folder/ä/data.bin": "created",
            "notes/b.txt": "deleted",
            "notes/c.txt": "moved",
            "run.sh": "created",
        }
        assert review.left_out == {"link": "sync_link", "pipe": "sync_special"}
        found = {one.path: one for one in review.pending}
        await review.apply([Choice.of(found["code/a.txt"], [0])])
        assert "seven\n" in (workspace.root / "code/a.txt").read_text()
        assert "line 40\n" in (workspace.root / "code/a.txt").read_text()
        await review.apply()
        marks = await review.fingerprints()
        assert marks == {path: sha256(content) for path, (content, _bit) in files(workspace.root).items()}
        assert await review.push() == 0
        await review.undo(change.id)
        assert files(workspace.root) == before
        marks = await review.fingerprints()
        assert marks == {path: sha256(content) for path, (content, _bit) in before.items()}

    guest_machine.run(work())


def test_a_copy_that_sends_more_than_it_listed_fills_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abcd":
        (tmp_path / name).write_bytes(name.encode() * 400)
    monkeypatch.setattr("runtime.guest_copy.TOGETHER", 500)

    async def work(copy: Copy) -> None:
        assert sorted(await copy.get(["a", "b", "c", "d"], 400)) == ["a", "b"]
        assert await copy.get(["d"], 400) == {"d": b"d" * 400}

    over_the_wire(tmp_path, work)
