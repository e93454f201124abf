"""A model that is loaded, chosen, examined or replaced is deleted only as far as that does no harm."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from runtime.assemble import Runtime, assemble
from runtime.errors import OrionError
from runtime.events import Done, ErrorRaised, ResponseChunk
from runtime.providers.local import LocalProvider
from tests.models.gguf_file import METADATA, whole
from tests.runtime.model_stage import bundled, model, settle

Work = Callable[[Runtime], Awaitable[Any]]
NAME = "Mine"


def run(home: Path, work: Work) -> Any:
    async def main() -> Any:
        async with assemble(settle(home), door="test") as runtime:
            return await work(runtime)

    return asyncio.run(main())


@pytest.fixture
def mine(fresh_home: Path) -> Path:
    """A copy of the bundled model that is the user's own."""
    path = fresh_home / "weights" / "maker" / "Mine-GGUF" / f"{NAME}.gguf"
    path.parent.mkdir(parents=True)
    shutil.copyfile(bundled(), path)
    return path


def engine(runtime: Runtime) -> Any:
    client = runtime.made("local")[0]
    assert isinstance(client, LocalProvider)
    return client.engine


async def row(runtime: Runtime) -> dict[str, Any]:
    return next(row for row in await runtime.shelf.installed() if row["name"] == NAME)


def test_a_loaded_and_chosen_model_goes_and_the_bundled_one_answers(fresh_home: Path, mine: Path) -> None:
    async def work(runtime: Runtime) -> None:
        shelf = runtime.shelf
        assert (await shelf.use(NAME))["name"] == NAME
        assert (await row(runtime))["default"]
        session = await runtime.open()
        await session.submit("Hello")
        await session.idle()
        assert (await row(runtime))["in_use"]
        if sys.platform == "linux":
            assert shelf._uses.memory() > 10_000_000
        pid = engine(runtime).pid
        assert pid
        freed = await shelf.frees(NAME)
        assert freed == {"bytes": mine.stat().st_size, "files": [str(mine)]}
        assert await shelf.delete(NAME) == freed
        assert not mine.parent.exists()
        assert engine(runtime).pid == 0
        assert runtime.settings.agent.model == ""
        assert [row["default"] for row in await shelf.installed() if row["kind"] == "language"] == [True]
        errors: list[str] = []
        session.subscribe(lambda e: errors.append(e.body.code) if isinstance(e.body, ErrorRaised) else None)
        await session.submit("Are you there?")
        await session.idle()
        assert errors == ["model_unknown"]
        await shelf.use(bundled().stem, session.id)

    run(fresh_home, work)


def test_a_model_that_answers_is_not_deleted_under_it(fresh_home: Path, mine: Path) -> None:
    async def work(runtime: Runtime) -> None:
        await runtime.shelf.use(NAME)
        session = await runtime.open()
        speaks, done = asyncio.Event(), []

        def on_event(event: Any) -> None:
            if isinstance(event.body, ResponseChunk):
                speaks.set()
            if isinstance(event.body, Done):
                done.append(event.body.reason)

        session.subscribe(on_event)
        await session.submit("Tell me a very long story about the sea.")
        await speaks.wait()
        with pytest.raises(OrionError, match="model_busy"):
            await runtime.shelf.delete(NAME)
        assert mine.exists()
        session.cancel()
        await session.idle()
        assert done == ["cancelled"]

    run(fresh_home, work)


def test_deleting_a_model_ends_its_exam(fresh_home: Path, mine: Path) -> None:
    async def work(runtime: Runtime) -> None:
        shelf = runtime.shelf
        assert (await shelf.exam(NAME))["state"] == "running"
        await shelf.exam_step(1)
        await shelf.delete(NAME)
        assert (await shelf.exam_step(-1))["run"]["state"] == "stopped"
        assert not mine.exists()
        assert runtime.exams.notices() == []

    run(fresh_home, work)


def test_a_model_that_is_replaced_is_not_answered_from_the_old_file(fresh_home: Path, mine: Path) -> None:
    async def work(runtime: Runtime) -> None:
        await runtime.shelf.use(NAME)
        session = await runtime.open()
        await session.submit("Hello")
        await session.idle()
        pid = engine(runtime).pid
        fresh = mine.with_suffix(".part")
        shutil.copyfile(bundled(), fresh)
        fresh.replace(mine)
        await runtime.shelf._uses.replaced(mine)
        assert engine(runtime).pid == 0
        await session.submit("Hello again")
        await session.idle()
        assert engine(runtime).pid not in (0, pid)

    run(fresh_home, work)


def test_what_must_stay_stays(fresh_home: Path) -> None:
    async def work(runtime: Runtime) -> None:
        shelf = runtime.shelf
        own = [row["name"] for row in await shelf.installed() if row["origin"] == "bundled"]
        assert len(own) >= 2
        for name in own:
            for asked in (shelf.delete(name), shelf.frees(name)):
                with pytest.raises(OrionError, match="model_bundled_kept"):
                    await asked

    run(fresh_home, work)


def test_a_broken_file_is_listed_with_its_fault_and_can_be_deleted(fresh_home: Path) -> None:
    async def work(runtime: Runtime) -> None:
        broken = fresh_home / "weights" / "broken.gguf"
        broken.parent.mkdir(exist_ok=True)
        broken.write_bytes(b"GGUF")
        found = next(row for row in await runtime.shelf.installed() if row["name"] == "broken")
        assert (found["error"], found["fit"], found["exam"]) == ("model_file_not_gguf", None, None)
        await runtime.shelf.delete("broken")
        assert not broken.exists()

    run(fresh_home, work)


def test_a_recogniser_is_chosen_and_deleted_like_a_model(fresh_home: Path) -> None:
    async def work(runtime: Runtime) -> None:
        shelf = runtime.shelf
        folder = fresh_home / "weights" / "faster-whisper-base"
        folder.mkdir(parents=True)
        (folder / "model.bin").write_bytes(b"x" * 1000)
        (folder / "config.json").write_bytes(b"{}")
        assert (await shelf.use(folder.name))["kind"] == "speech"
        assert runtime.settings.voice.recogniser == folder.name
        rows = {row["name"]: row for row in await shelf.installed() if row["kind"] == "speech"}
        assert rows[folder.name]["default"]
        assert (await shelf.delete(folder.name))["bytes"] == 1002
        assert runtime.settings.voice.recogniser == ""
        assert not folder.exists()

    run(fresh_home, work)


def test_only_what_answers_can_be_chosen_or_examined(fresh_home: Path) -> None:
    async def work(runtime: Runtime) -> None:
        path = model(fresh_home / "weights" / "vectors.gguf")
        whole(path, METADATA | {"general.architecture": "bert"})
        found = next(row for row in await runtime.shelf.installed() if row["name"] == "vectors")
        assert found["kind"] == "embedding"
        with pytest.raises(OrionError, match="model_not_for_chat"):
            await runtime.shelf.use("vectors")
        with pytest.raises(OrionError, match="exam_not_for_kind"):
            await runtime.shelf.exam("vectors")
        assert "vectors" not in [row["name"] for row in runtime.models()]

    run(fresh_home, work)


def test_of_a_recogniser_only_its_own_files_go(fresh_home: Path) -> None:
    async def work(runtime: Runtime) -> None:
        folder, elsewhere = runtime.home.weights / "listens", fresh_home / "elsewhere"
        for place in (folder, elsewhere):
            (place / "notes").mkdir(parents=True)
            for name in ("model.bin", "config.json", "notes/mine.txt"):
                (place / name).write_text("x", "utf-8")
        (runtime.home.weights / "linked").symlink_to(elsewhere)
        freed = await runtime.shelf.delete("listens")
        assert freed == {"bytes": 2, "files": [str(folder / "config.json"), str(folder / "model.bin")]}
        assert [path.name for path in folder.rglob("*")] == ["notes", "mine.txt"]
        assert (await runtime.shelf.delete("linked"))["bytes"] == 0
        assert not (runtime.home.weights / "linked").is_symlink()
        assert (elsewhere / "model.bin").exists()

    run(fresh_home, work)
