"""Models of an Ollama server are listed, fetched step by step and deleted; a local server speaks its wire
format."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from runtime.assemble import Runtime, assemble
from runtime.errors import OrionError
from runtime.network import PULL
from runtime.ollama_shelf import REGISTRY, Download, OllamaShelf, registry_of
from tests.wire.ollama import MODEL, TOTAL, Wire
from tests.wire.server import Play, WireServer

Work = Callable[[Runtime, OllamaShelf, WireServer], Awaitable[Any]]


def run(home: Path, work: Work, *plays: Play) -> Any:
    """What `work` gives with a runtime at `home` and a server that plays `plays`."""

    async def main() -> Any:
        async with WireServer(Wire()) as server, assemble(home, door="test") as runtime:
            server.plays(*plays)
            return await work(runtime, runtime.ollama(address=server.url), server)

    return asyncio.run(main())


async def followed(shelf: OllamaShelf, now: Download) -> list[Download]:
    steps = [now]
    while steps[-1].state == "running":
        step = await shelf.step(steps[-1].step)
        assert step is not None
        steps.append(step)
    return steps


def test_a_download_is_followed_to_its_end_and_the_lists_are_asked_anew(fresh_home: Path) -> None:
    async def work(runtime: Runtime, shelf: OllamaShelf, server: WireServer) -> None:
        profile = runtime.profiles.get("orion-ollama")
        here = profile.model_copy(update={"base_url": server.url})
        await runtime.offers.of(here)
        listed = sum(request.path == "/api/tags" for request in server.requests)
        await runtime.offers.of(here)
        assert sum(request.path == "/api/tags" for request in server.requests) == listed
        steps = await followed(shelf, await shelf.begin("  gemma:2b "))
        assert steps[0] == Download("gemma:2b")
        assert [step.step for step in steps] == sorted({step.step for step in steps})
        last = steps[-1]
        assert (last.state, last.completed, last.total) == ("done", TOTAL, TOTAL)
        assert last.as_dict()["registry"] == REGISTRY
        await runtime.offers.of(here)
        assert sum(request.path == "/api/tags" for request in server.requests) == listed + 1

    run(fresh_home, work, Play(misdeed="drip"))


def test_the_ledger_names_the_request_as_a_pull(fresh_home: Path) -> None:
    async def work(runtime: Runtime, shelf: OllamaShelf, _server: WireServer) -> None:
        await shelf.models()
        await followed(shelf, await shelf.begin("gemma:2b"))
        pulls = [entry for entry in runtime.network.entries() if entry.purpose == PULL]
        assert [(entry.who, entry.host, entry.local, entry.status) for entry in pulls] == [
            ("ollama", "127.0.0.1", True, 200)
        ]
        assert pulls[0].received < 10_000
        assert all(entry.local for entry in runtime.network.entries())

    run(fresh_home, work, Play())


def test_one_download_at_a_time_is_stopped_and_the_server_hears_of_it(fresh_home: Path) -> None:
    async def work(_runtime: Runtime, shelf: OllamaShelf, server: WireServer) -> None:
        assert await shelf.step(-1) is None
        assert await shelf.stop() is None
        await shelf.step((await shelf.begin("gemma:2b")).step)
        with pytest.raises(OrionError, match="pull_busy"):
            await shelf.begin("mine")
        stopped = await shelf.stop()
        assert stopped is not None
        assert stopped.state == "stopped"
        assert await shelf.step(stopped.step) == stopped
        async with asyncio.timeout(5):
            await server.closed_early.wait()
        again = await followed(shelf, await shelf.begin("mine"))
        assert again[-1].state == "done"

    run(fresh_home, work, Play(misdeed="silent"), Play())


def test_a_download_that_had_not_begun_is_stopped_too(fresh_home: Path) -> None:
    async def work(_runtime: Runtime, shelf: OllamaShelf, server: WireServer) -> None:
        await shelf.begin("gemma:2b")
        stopped = await shelf.stop()
        assert stopped is not None
        assert stopped.state == "stopped"
        assert not server.requests

    run(fresh_home, work)


def test_the_runtime_stops_a_download_when_it_closes(fresh_home: Path) -> None:
    async def main() -> None:
        async with WireServer(Wire()) as server:
            server.plays(Play(misdeed="silent"))
            async with assemble(fresh_home, door="test") as runtime:
                shelf = runtime.ollama(address=server.url)
                await shelf.step((await shelf.begin("gemma:2b")).step)
            async with asyncio.timeout(5):
                await server.closed_early.wait()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("play", "code"),
    [
        (Play(problem="pull model manifest: file does not exist"), "pull_unknown"),
        (Play(problem="write blobs: no space left on device"), "pull_failed"),
        (Play(misdeed="cut"), "pull_cut_short"),
    ],
)
def test_a_download_that_fails_says_why_and_can_be_begun_again(
    fresh_home: Path, play: Play, code: str
) -> None:
    async def work(_runtime: Runtime, shelf: OllamaShelf, _server: WireServer) -> None:
        failed = (await followed(shelf, await shelf.begin("gemma:2b")))[-1]
        assert (failed.state, failed.code) == ("failed", code)
        assert (failed.fields or {})["model"] == "gemma:2b"
        assert (await followed(shelf, await shelf.begin("gemma:2b")))[-1].state == "done"

    run(fresh_home, work, play, Play())


def test_a_model_is_shown_with_its_size_and_deleted_once(fresh_home: Path) -> None:
    async def work(_runtime: Runtime, shelf: OllamaShelf, _server: WireServer) -> None:
        assert (await shelf.show("mine")).size == 3_000_000_000
        await shelf.delete("mine:latest")
        assert "mine:latest" not in [model.name for model in await shelf.models()]
        for ask in (shelf.show, shelf.delete):
            with pytest.raises(OrionError, match="model_not_offered"):
                await ask("mine")
        assert (await shelf.show(MODEL)).parameters == "8.8B"

    run(fresh_home, work)


def test_a_server_that_does_not_run_here_is_said_to_be_started(fresh_home: Path) -> None:
    async def work(_runtime: Runtime, shelf: OllamaShelf, server: WireServer) -> None:
        await server.stop()
        with pytest.raises(OrionError, match="ollama_not_running"):
            await shelf.models()
        assert (await followed(shelf, await shelf.begin("gemma:2b")))[-1].code == "ollama_not_running"

    run(fresh_home, work)


def test_only_servers_that_were_allowed_and_profiles_of_ollama_are_asked(fresh_home: Path) -> None:
    async def main() -> None:
        async with assemble(fresh_home, door="test") as runtime:
            far = runtime.ollama(address="http://ollama.far.example:11434")
            assert not far.local
            assert (await followed(far, await far.begin("gemma:2b")))[-1].code == "host_not_allowed"
            assert runtime.network.entries() == []
            assert runtime.ollama() is runtime.ollama("orion-ollama")
            for name, code in (("orion-local", "profile_not_ollama"), ("none", "profile_unknown")):
                with pytest.raises(OrionError, match=code):
                    runtime.ollama(name)
            with pytest.raises(OrionError, match="pull_name_missing"):
                await far.begin(" ")

    asyncio.run(main())


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("qwen3:8b", REGISTRY),
        ("maker/model:tag", REGISTRY),
        ("hf.co/maker/model:Q4_K_M", "hf.co"),
        ("http://house.example:5000/maker/model", "house.example:5000"),
    ],
)
def test_the_host_a_model_is_fetched_from_is_in_its_name(name: str, host: str) -> None:
    assert registry_of(name) == host
