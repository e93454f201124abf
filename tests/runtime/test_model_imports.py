"""Model files are taken in one after the other, and what is stopped leaves nothing half behind."""

from __future__ import annotations

import asyncio
from pathlib import Path

from models.intake import plan
from models.references import References
from runtime.model_imports import Import, Imports
from runtime.news import News
from tests.runtime.model_stage import model


def made(folder: Path, news: News) -> Imports:
    return Imports(folder / "weights", References(folder / "models.yaml"), news.tell)


async def ended(imports: Imports, news: News, key: str) -> Import:
    while True:
        row = next(row for row in imports.rows() if row.id == key)
        if row.state in ("done", "failed"):
            return row
        await news.after(news.step)


def test_two_files_arrive_in_order(tmp_path: Path) -> None:
    async def work() -> None:
        news = News()
        imports = made(tmp_path, news)
        files = [model(tmp_path / f"{name}.gguf", more=1 << 20) for name in ("One", "Two")]
        rows = imports.begin(plan(files), "copy")
        assert [row.state for row in rows] == ["queued", "queued"]
        last = await ended(imports, news, rows[1].id)
        first = await ended(imports, news, rows[0].id)
        assert (first.state, last.state) == ("done", "done")
        assert Path(last.path).read_bytes() == files[1].read_bytes()
        told = first.as_row()
        assert (told["kind"], told["done"], told["code"]) == ("import", told["total"], "")
        await imports.stop(rows[0].id)
        assert [row.id for row in imports.rows()] == [rows[1].id]
        await imports.close()

    asyncio.run(work())


def test_what_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    async def work() -> None:
        news = News()
        imports = made(tmp_path, news)
        file = model(tmp_path / "Large.gguf", more=64 << 20)
        (row,) = imports.begin(plan([file]), "move")
        while next(r for r in imports.rows() if r.id == row.id).state == "queued":
            await news.after(news.step)
        await imports.stop(row.id)
        assert imports.rows() == []
        assert file.exists() != bool(list((tmp_path / "weights").rglob("*.gguf")))
        await imports.close()

    asyncio.run(work())


def test_one_that_fails_says_why_and_the_next_goes_on(tmp_path: Path) -> None:
    async def work() -> None:
        news = News()
        imports = made(tmp_path, news)
        files = [model(tmp_path / f"{name}.gguf") for name in ("One", "Two")]
        intakes = plan(files)
        files[0].unlink()
        rows = imports.begin(intakes, "copy")
        failed = await ended(imports, news, rows[0].id)
        assert failed.state == "failed"
        assert failed.code
        assert (await ended(imports, news, rows[1].id)).state == "done"
        await imports.close()

    asyncio.run(work())


def test_one_that_waits_for_its_turn_is_stopped_at_once_and_not_done(tmp_path: Path) -> None:
    async def work() -> None:
        news = News()
        imports = made(tmp_path, news)
        large, small = model(tmp_path / "Large.gguf", more=64 << 20), model(tmp_path / "Small.gguf")
        first, second = imports.begin(plan([large]), "copy") + imports.begin(plan([small]), "move")
        await imports.stop(second.id)
        assert next(row for row in imports.rows() if row.id == first.id).state in ("queued", "running")
        await ended(imports, news, first.id)
        assert small.exists()
        assert [path.name for path in (tmp_path / "weights").rglob("*.gguf")] == ["Large.gguf"]
        third = imports.begin(plan([small]), "in_place")
        await imports.close()
        assert imports.rows()[-1].id == third[0].id
        assert not (tmp_path / "models.yaml").exists()

    asyncio.run(work())
