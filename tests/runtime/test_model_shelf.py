"""The shelf of models: what is here, what can be had, fetched, taken in, chosen and deleted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from runtime.assemble import Runtime, assemble
from runtime.errors import OrionError
from runtime.messages import JsonObject
from runtime.voice_setup import recogniser_folder
from tests.runtime.model_stage import CATALOGUED, REPOSITORY, bundled, model, settle, tiny_hub
from tests.wire.hub import HubServer, Misdeed

Work = Callable[[Runtime], Awaitable[Any]]
FIT = {
    "verdict", "memory", "available", "tokens_per_second", "window",
    "gpu_layers", "disk_free", "disk_needed", "code", "fields",
}  # fmt: skip
CARD = {
    "id", "title", "maker", "about", "licence", "licence_url", "accept", "gated", "kind", "parameters",
    "window", "tools", "vision", "reasoning", "downloads", "variants",
}  # fmt: skip
INSTALLED = {
    "name", "title", "path", "size", "parts", "origin", "kind", "architecture", "quantisation", "parameters",
    "window", "tools", "images", "error", "fields", "fit", "exam", "roles", "in_use", "default", "deletable",
}  # fmt: skip


def run(home: Path, work: Work, hub: HubServer | None = None) -> Any:
    """What `work` gives with a runtime at `home` whose models come from `hub`."""

    async def main() -> Any:
        async with assemble(settle(home, hub), door="test") as runtime:
            return await work(runtime)

    return asyncio.run(main())


async def ended(runtime: Runtime, row: JsonObject) -> JsonObject:
    """The row of an arrival once it is under way no more."""
    seen = -1
    while row["state"] in ("queued", "running", "checking"):
        told = await runtime.shelf.step(seen)
        seen = told["step"]
        row = next(found for found in told["downloads"] if found["id"] == row["id"])
    return row


async def fetched(runtime: Runtime, name: str = REPOSITORY, file: str = "") -> JsonObject:
    return await ended(runtime, await runtime.shelf.fetch(name, file))


def purposes(runtime: Runtime) -> list[str]:
    return sorted({entry.purpose for entry in runtime.network.entries()})


def test_the_rows_are_plain_and_whole(fresh_home: Path) -> None:
    async def work(runtime: Runtime) -> None:
        shelf = runtime.shelf
        machine, installed = await shelf.machine(), await shelf.installed()
        cards = await shelf.recommended()
        assert machine["cores"] >= 1
        assert machine["bandwidth"] > 0
        own = next(row for row in installed if row["default"] and row["kind"] == "language")
        assert (own["path"], own["origin"], own["deletable"]) == (str(bundled()), "bundled", False)
        assert bundled().stem.startswith(own["title"])
        assert all(set(row) == INSTALLED for row in installed)
        assert {row["kind"] for row in installed} >= {"language", "speech"}
        assert all(set(card) == CARD for card in cards)
        assert all(set(variant["fit"]) == FIT for card in cards for variant in card["variants"])
        assert sum(variant["recommended"] for variant in cards[0]["variants"]) == 1
        assert cards[0]["kind"] in ("language", "vision")
        assert {card["kind"] for card in await shelf.recommended("speech")} == {"speech"}
        json.dumps([machine, installed, cards])
        assert runtime.network.entries() == []

    run(fresh_home, work)


def test_nothing_is_sent_before_the_host_was_allowed(fresh_home: Path) -> None:
    async def work(runtime: Runtime) -> None:
        shelf = runtime.shelf
        found = await shelf.search("qwen")
        assert found["refused"] == "hub.example"
        assert found["known"]
        assert found["found"] == []
        assert (await shelf.info(CATALOGUED))["id"] == CATALOGUED
        for asked in (shelf.fetch(CATALOGUED), shelf.info("maker/other"), shelf.fetch("maker/other")):
            with pytest.raises(OrionError, match="host_refused") as refused:
                await asked
            assert refused.value.fields == {"host": "hub.example"}
        assert runtime.network.entries() == []
        await shelf.allow("hub.example")
        assert runtime.network.permits("hub.example")

    run(fresh_home, work)


def test_what_was_found_is_fetched_checked_and_listed(fresh_home: Path, tmp_path: Path) -> None:
    async def work(runtime: Runtime) -> None:
        shelf = runtime.shelf
        found = await shelf.search("tiny")
        assert [card["id"] for card in found["found"]] == [REPOSITORY]
        assert found["found"][0]["variants"] == []
        card = await shelf.info(REPOSITORY)
        assert [variant["quantisation"] for variant in card["variants"]] == ["Q4_K_M", "Q8_0"]
        assert set(card) == CARD
        row = await fetched(runtime, file="q8_0")
        assert (row["state"], row["name"], row["done"]) == ("done", "Tiny-Q8_0", row["total"])
        assert Path(row["path"]) == fresh_home / "weights" / "maker" / "Tiny-GGUF" / "Tiny-Q8_0.gguf"
        card = await shelf.info(REPOSITORY)
        assert {v["quantisation"]: v["installed"] for v in card["variants"]} == {
            "Q4_K_M": "",
            "Q8_0": "Tiny-Q8_0",
        }
        installed = {row["name"]: row for row in await shelf.installed()}
        assert installed["Tiny-Q8_0"]["deletable"]
        assert installed["Tiny-Q8_0"]["title"] == "Tiny"
        assert purposes(runtime) == ["download", "search"]
        await shelf.stop(row["id"])
        assert await shelf.downloads() == []

    with tiny_hub(tmp_path) as hub:
        run(fresh_home, work, hub)


def test_a_model_of_the_catalogue_comes_by_its_short_name(fresh_home: Path, tmp_path: Path) -> None:
    async def work(runtime: Runtime) -> None:
        row = await fetched(runtime, "qwen3-0.6b")
        assert (row["state"], row["repository"]) == ("done", CATALOGUED)
        titles = {row["name"]: row["title"] for row in await runtime.shelf.installed()}
        assert titles[row["name"]] == "Qwen3 0.6B"

    with tiny_hub(tmp_path) as hub:
        run(fresh_home, work, hub)


def test_a_recogniser_of_speech_comes_to_where_voice_looks_for_it(fresh_home: Path) -> None:
    repository = "Systran/faster-whisper-tiny"
    names = ("model.bin", "config.json", "tokenizer.json", "vocabulary.txt")

    async def work(runtime: Runtime) -> None:
        row = await fetched(runtime, repository)
        assert (row["state"], row["name"], row["kind"]) == ("done", "faster-whisper-tiny", "speech")
        folder = recogniser_folder(row["name"], runtime.home)
        assert {path.name for path in folder.iterdir()} == set(names)
        assert (await runtime.shelf.info(repository))["variants"][0]["installed"] == row["name"]

    with HubServer({repository: {name: name.encode() * 50 for name in names}}) as hub:
        run(fresh_home, work, hub)


def test_a_licence_is_asked_for_before_anything_is_sent(fresh_home: Path, tmp_path: Path) -> None:
    async def work(runtime: Runtime) -> None:
        with pytest.raises(OrionError, match="licence_not_accepted") as asked:
            await runtime.shelf.fetch("llama-3.2-1b")
        assert asked.value.fields["url"]
        assert runtime.network.entries() == []
        with pytest.raises(OrionError, match="licence_not_accepted"):
            await runtime.shelf.fetch(REPOSITORY)
        row = await ended(runtime, await runtime.shelf.fetch(REPOSITORY, accepted=True))
        assert row["state"] == "done"

    with tiny_hub(tmp_path, license="gemma") as hub:
        run(fresh_home, work, hub)


def test_a_paused_download_goes_on_in_another_process(fresh_home: Path, tmp_path: Path) -> None:
    async def begin(runtime: Runtime) -> JsonObject:
        row = await runtime.shelf.fetch(REPOSITORY, "Q4_K_M")
        seen = -1
        while not row["done"]:
            told = await runtime.shelf.step(seen)
            seen, row = told["step"], told["downloads"][0]
        await runtime.shelf.pause(row["id"])
        return (await runtime.shelf.downloads())[0]

    async def go_on(runtime: Runtime) -> JsonObject:
        await runtime.shelf.go_on()
        assert [row["state"] for row in await runtime.shelf.downloads()] == ["paused"]
        return await ended(runtime, await runtime.shelf.resume(paused["id"]))

    with tiny_hub(tmp_path, rate=400_000, more=200_000) as hub:
        paused = run(fresh_home, begin, hub)
        assert paused["state"] == "paused"
        assert 0 < paused["done"] < paused["total"]
        assert not list((fresh_home / "weights").rglob("*.gguf"))
        hub.rate = 0
        assert run(fresh_home, go_on, hub)["state"] == "done"
        assert any("range" in asked.headers for asked in hub.requests)


def test_a_redirect_to_another_host_waits_for_its_permission(fresh_home: Path, tmp_path: Path) -> None:
    async def work(runtime: Runtime) -> None:
        row = await fetched(runtime, file="Q4_K_M")
        assert (row["state"], row["code"], row["host"]) == ("failed", "host_refused", "cdn.example")
        assert all(entry.local for entry in runtime.network.entries())
        hub.misdeeds.clear()
        row = await ended(runtime, await runtime.shelf.resume(row["id"]))
        assert (row["state"], row["host"]) == ("done", "")

    with tiny_hub(tmp_path) as hub:
        away = Misdeed("redirect", door="resolve", to="https://cdn.example/file", times=9)
        hub.misdeeds.append(away)
        run(fresh_home, work, hub)


def test_files_of_another_hub_are_asked_for_where_the_settings_say(fresh_home: Path, tmp_path: Path) -> None:
    async def work(runtime: Runtime) -> None:
        assert (await fetched(runtime))["state"] == "done"
        runtime.save_settings({"models.hub": other.url})
        row = await fetched(runtime, file="Q8_0")
        assert row["state"] == "done"

    with tiny_hub(tmp_path / "one") as hub, tiny_hub(tmp_path / "two") as other:
        run(fresh_home, work, hub)
        assert other.asked("Tiny-Q8_0.gguf")


def test_what_is_not_there_is_said(fresh_home: Path, tmp_path: Path) -> None:
    async def work(runtime: Runtime) -> None:
        shelf = runtime.shelf
        for asked, code in (
            (shelf.fetch(REPOSITORY, "Q2_K"), "model_file_not_offered"),
            (shelf.fetch("maker/none"), "hub_not_found"),
            (shelf.fetch("nonsense"), "catalogue_unknown"),
            (shelf.info("nonsense"), "catalogue_unknown"),
            (shelf.info("maker/none", offline=True), "catalogue_unknown"),
            (shelf.pause("nothing"), "download_unknown"),
            (shelf.resume("nothing"), "download_unknown"),
            (shelf.stop("nothing"), "download_unknown"),
            (shelf.delete("nonsense"), "model_unknown"),
            (shelf.frees("nonsense"), "model_unknown"),
            (shelf.exam("nonsense"), "model_unknown"),
            (shelf.use("nonsense"), "model_unknown"),
        ):
            with pytest.raises(OrionError, match=code):
                await asked

    with tiny_hub(tmp_path) as hub:
        run(fresh_home, work, hub)


def test_the_token_goes_to_the_hub_alone(
    fresh_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(runtime: Runtime) -> None:
        assert (await runtime.shelf.info(REPOSITORY))["gated"]
        row = await fetched(runtime)
        assert (row["state"], row["code"]) == ("failed", "download_gated")
        monkeypatch.setenv("HF_TOKEN", "hf_wrong_place")
        assert (await ended(runtime, await runtime.shelf.resume(row["id"])))["code"] == "download_gated"
        place = hub.url.removeprefix("http://").replace(".", "_").replace(":", "_")
        monkeypatch.setenv(f"ORION_KEY_HUGGINGFACE_HTTP_{place}", "hf_right")
        assert (await ended(runtime, await runtime.shelf.resume(row["id"])))["state"] == "done"
        sent = [asked.headers.get("authorization", "") for asked in hub.requests]
        assert not any("wrong" in said for said in sent)

    with tiny_hub(tmp_path, gated="auto") as hub:
        run(fresh_home, work, hub)


def test_files_are_taken_in_and_the_bad_ones_say_why(fresh_home: Path, tmp_path: Path) -> None:
    async def work(runtime: Runtime) -> None:
        shelf = runtime.shelf
        good, bad = model(tmp_path / "Mine.gguf"), tmp_path / "bad.gguf"
        bad.write_bytes(b"nothing")
        plan = await shelf.plan_import([str(good), str(bad)])
        assert [(row["name"], row["code"]) for row in plan] == [("Mine", ""), ("bad", "model_file_not_gguf")]
        assert plan[0]["modes"] == ["copy", "move", "in_place"]
        rows = await shelf.take([str(good), str(bad)])
        row = await ended(runtime, rows[0])
        assert (len(rows), row["state"], row["kind"], row["name"]) == (1, "done", "import", "Mine")
        assert good.exists()
        again = await shelf.plan_import([row["path"]])
        assert again[0]["code"] == "model_already_here"
        await shelf.stop(row["id"])
        assert await shelf.downloads() == []

    run(fresh_home, work)


def test_settings_name_more_folders_and_take_effect_at_once(fresh_home: Path, tmp_path: Path) -> None:
    async def work(runtime: Runtime) -> None:
        found = model(tmp_path / "mine" / "Own.gguf")
        assert "Own" not in [row["name"] for row in await runtime.shelf.installed()]
        runtime.save_settings({"models.folders": [str(found.parent)]})
        rows = {row["name"]: row for row in await runtime.shelf.installed()}
        assert rows["Own"]["origin"] == "imported"
        with pytest.raises(OrionError, match="model_in_own_folder"):
            await runtime.shelf.delete("Own")
        await runtime.shelf.delete("Own", agreed=True)
        assert not found.exists()

    run(fresh_home, work)
