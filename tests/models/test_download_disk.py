"""Downloads on disks that are full, damaged, in the way or elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from models.download import Download, Wanted
from tests.conftest import missing
from tests.models.download_stage import QUICK, REPOSITORY, Stage, content, stage, under_way, wanted
from tests.wire.hub import Misdeed

NAME = "Name-Q4_K_M.gguf"
DATA = content(1_000_000)


def test_a_part_that_was_damaged_on_the_disk_is_noticed(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    at.hub.misdeeds += [Misdeed("cut", after=600_000), Misdeed("hangup", times=9)]

    async def once() -> Download:
        async with at.queue() as downloads:
            begun = await downloads.begin(wanted(NAME, DATA))
            return await at.until(
                downloads, lambda row: row.id == begun.id and row.state in ("done", "failed")
            )

    with at.hub:
        assert asyncio.run(once()).state == "failed"
        at.hub.misdeeds.clear()
        (part,) = at.staging.rglob("*.part")
        damaged = bytearray(part.read_bytes())
        damaged[1234] ^= 1
        part.write_bytes(damaged)
        assert asyncio.run(once()).state == "done"
    assert (at.folder / REPOSITORY / NAME).read_bytes() == DATA


OTHER = "mmproj-F16.gguf"
EYE = content(700_000, seed=2)
AWAY = Misdeed("hangup", times=99)


def ended(at: Stage, want: Wanted) -> Download:
    """How a download ends in a process of its own."""

    async def main() -> Download:
        async with at.queue() as downloads:
            await downloads.begin(want)
            return await at.end(downloads)

    return asyncio.run(main())


def test_what_came_of_a_longer_file_is_not_left_behind_a_shorter_one(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    at.hub.misdeeds += [Misdeed("cut", after=600_000), AWAY]
    short = content(90_000, seed=3)
    with at.hub:
        assert ended(at, wanted(NAME, DATA)).done == 600_000
        at.hub.misdeeds.clear()
        at.hub.put(REPOSITORY, {NAME: short})
        assert ended(at, wanted(NAME, short)).state == "done"
    assert (at.folder / REPOSITORY / NAME).read_bytes() == short


def test_a_part_is_not_put_over_the_whole_file_that_came_otherwise(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    at.hub.misdeeds += [Misdeed("cut", after=600_000), AWAY]
    with at.hub:
        assert ended(at, wanted(NAME, DATA)).done == 600_000
        target = at.folder / REPOSITORY / NAME
        target.parent.mkdir(parents=True)
        target.write_bytes(DATA)
        at.hub.misdeeds.clear()
        assert ended(at, wanted(NAME, DATA)).state == "done"
    assert target.read_bytes() == DATA


def test_a_file_that_was_there_and_went_is_fetched_whole(tmp_path: Path) -> None:
    """The projector is there, from another form of the model, and is deleted with that one meanwhile."""
    at = stage(tmp_path, {OTHER: EYE, NAME: DATA})
    both = replace(wanted(OTHER, EYE), files=wanted(OTHER, EYE).files + wanted(NAME, DATA).files)
    eye = at.folder / REPOSITORY / OTHER
    eye.parent.mkdir(parents=True)
    eye.write_bytes(EYE)
    with at.hub:
        at.hub.misdeeds += [Misdeed("cut", after=500_000), AWAY]
        assert ended(at, both).done == len(EYE) + 500_000
        eye.unlink()
        at.hub.misdeeds[:] = [Misdeed("cut", after=300_000), AWAY]
        row = ended(at, both)
        assert (row.state, row.done) == ("failed", 300_000 + 500_000)
        at.hub.misdeeds.clear()
        assert ended(at, both).state == "done"
    assert eye.read_bytes() == EYE
    assert (at.folder / REPOSITORY / NAME).read_bytes() == DATA


def test_a_folder_that_cannot_be_written_is_said_and_costs_nothing(tmp_path: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    at.folder.mkdir()
    (at.folder / "maker").write_text("a file where a folder should be", "utf-8")

    async def main() -> None:
        async with at.queue() as downloads:
            begun = await downloads.begin(wanted(NAME, DATA))
            row = await at.end(downloads)
            assert (row.state, row.code, row.done) == ("failed", "download_unwritable", len(DATA))
            (at.folder / "maker").unlink()
            await downloads.resume(begun.id)
            assert (await at.end(downloads)).state == "done"

    with at.hub:
        asyncio.run(main())
    assert at.hub.served == len(DATA)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes."""
    folder = tmp_path / "small"
    folder.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], capture_output=True
    ).returncode:
        missing("the right to mount a small file system")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_without_room_it_does_not_begin(small_disk: Path) -> None:
    data = content(3_000_000)
    at = stage(small_disk, {NAME: data})

    async def main() -> Download:
        async with at.queue() as downloads:
            await downloads.begin(wanted(NAME, data))
            return await at.end(downloads)

    with at.hub:
        row = asyncio.run(main())
    assert (row.state, row.code) == ("paused", "disk_full_for_model")
    assert row.fields["needed"] == 3_000_000
    assert 0 < int(row.fields["free"]) <= 2 << 20
    assert at.hub.asked("/cdn/") == []


def test_models_may_lie_on_another_disk_which_may_be_full(tmp_path: Path, small_disk: Path) -> None:
    at = stage(tmp_path, {NAME: DATA})
    at.folder.symlink_to(small_disk, target_is_directory=True)
    ballast = small_disk / "ballast"

    async def main() -> None:
        async with at.queue() as downloads:
            fill(ballast)
            begun = await downloads.begin(wanted(NAME, DATA))
            row = await at.end(downloads)
            assert (row.state, row.code) == ("paused", "disk_full_for_model")
            assert at.placed == ["ballast"]
            ballast.unlink()
            await downloads.resume(begun.id)
            assert (await at.end(downloads)).state == "done"

    with at.hub:
        asyncio.run(main())
    assert at.placed == [f"{REPOSITORY}/{NAME}"]
    assert at.hub.served == len(DATA)


@pytest.mark.parametrize("spare", [0, 300_000])
def test_a_disk_that_fills_up_meanwhile_pauses_it_and_nothing_is_lost(spare: int, small_disk: Path) -> None:
    """With `spare` bytes the program stops before the disk is full, without at the last of them."""
    at = stage(small_disk, {NAME: DATA})
    at.pace = replace(QUICK, spare=spare, sync=0.0)
    at.hub.misdeeds.append(Misdeed("stall", after=200_000))
    ballast = small_disk / "ballast"

    async def main() -> None:
        async with at.queue() as downloads:
            begun = await downloads.begin(wanted(NAME, DATA))
            await at.until(downloads, under_way)
            fill(ballast)
            at.hub.drop()
            row = await at.end(downloads)
            assert (row.state, row.code) == ("paused", "disk_full_for_model")
            assert row.done > 0
            ballast.unlink()
            await downloads.resume(begun.id)
            assert (await at.end(downloads)).state == "done"
            assert at.hub.asked("/cdn/")[-1].headers["range"] == f"bytes={row.done}-"

    with at.hub:
        asyncio.run(main())
    assert (at.folder / REPOSITORY / NAME).read_bytes() == DATA


def fill(path: Path) -> None:
    """Take all but some hundred kilobytes of the disk."""
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 200_000)
