"""What the window asks about models is answered by the runtime's shelf with plain rows."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from desktop import desk_models
from runtime.assemble import assemble
from runtime.errors import OrionError
from tests.desktop.models import rows

HUB = "version: 1\nmodels:\n  hub: http://0.0.0.0:9\n"
"""A host that was not allowed."""


def test_the_shelf_answers_with_the_rows_that_the_page_draws(fresh_home: Path) -> None:
    fresh_home.mkdir(parents=True)
    (fresh_home / "settings.yaml").write_text(HUB)

    async def ask() -> None:
        async with assemble(fresh_home) as runtime:
            desk: Any = SimpleNamespace(runtime=runtime)
            here = await desk_models.models_here(desk)
            assert set(rows.machine()) <= set(here["machine"])
            for row in here["installed"]:
                assert set(rows.installed()) <= set(row)
                assert set(rows.fit()) <= set(row["fit"])
            offers = await desk_models.models_recommended(desk, "language")
            assert set(rows.offer()) <= set(offers[0])
            assert set(rows.variant()) <= set(offers[0]["variants"][0])
            results = await desk_models.models_search(desk, "instruct")
            assert (results["refused"], results["code"]) == ("0.0.0.0", "")
            assert results["known"]
            await desk_models.models_allow(desk, "0.0.0.0")
            alone = await desk_models.models_search(desk, "instruct")
            assert [card["id"] for card in alone["known"]] == [card["id"] for card in results["known"]]
            assert alone["code"] == "hub_unreachable"
            assert alone["fields"]["host"]
            assert "Errno" not in alone["fields"]["reason"]
            runtime.network.revoke("0.0.0.0")
            told = await desk_models.models_step(desk, -1)
            assert told["downloads"] == []
            assert (await desk_models.models_exam_step(desk, -1))["run"] is None
            plan = await desk_models.models_plan(desk, [str(fresh_home / "nothing.gguf")])
            assert set(rows.plan()) <= set(plan[0])
            assert plan[0]["code"]
            menu = await desk_models.models_menu(desk)
            json.dumps([here, offers, results, told, plan, menu])
            with pytest.raises(OrionError) as refused:
                await desk_models.model_fetch(desk, offers[0]["id"], "", accepted=True)
            assert refused.value.code == "host_refused"
            await desk_models.models_allow(desk, "0.0.0.0")
            assert (await desk_models.models_search(desk, ""))["refused"] == ""
            await desk_models.models_go_on(desk)

    asyncio.run(ask())


def test_a_model_is_used_and_what_is_bundled_stays(fresh_home: Path) -> None:
    async def ask() -> None:
        async with assemble(fresh_home) as runtime:
            desk: Any = SimpleNamespace(runtime=runtime)
            name = next(
                row["name"]
                for row in (await desk_models.models_here(desk))["installed"]
                if row["kind"] == "language"
            )
            chosen = await desk_models.model_use(desk, name)
            assert chosen["model"] == name
            assert chosen["profile"] in runtime.profiles.names()
            for question in (
                desk_models.model_frees(desk, name),
                desk_models.model_delete(desk, name, False),
            ):
                with pytest.raises(OrionError) as refused:
                    await question
                assert refused.value.code == "model_bundled_kept"
            await desk_models.model_stop_exam(desk)

    asyncio.run(ask())
