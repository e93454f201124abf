"""What the window asks about services and the network, answered by a real runtime as plain data."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from desktop import desk_services
from desktop.desk import Desk
from runtime.assemble import assemble
from runtime.errors import OrionError
from tests.runtime.secret_service import secret_service
from tests.wire.ollama import Wire
from tests.wire.server import WireServer

KEY = "planted-0123456789-abcdef"
OPENAI = ("openai", "https://api.openai.com/v1")


def with_desk(home: Path, work: Callable[[Desk], Awaitable[None]]) -> None:
    """Run `work` with the desk of a runtime at `home`."""

    async def main() -> None:
        async with assemble(home, door="test") as runtime:
            desk = Desk(runtime, lambda event: None)
            await work(desk)
            await desk.close()

    asyncio.run(main())


def test_every_known_service_and_every_address_of_a_profile_is_listed(fresh_home: Path) -> None:
    profiles = fresh_home / "profiles"
    profiles.mkdir(parents=True)
    text = "name: router\nprovider: openai\nmodel: m\nbase_url: https://router.example/v1\n"
    (profiles / "router.yaml").write_text(text, "utf-8")

    async def work(desk: Desk) -> None:
        found = await desk_services.services(desk)
        json.dumps(found)
        by_address = {row["address"]: row for row in found}
        assert by_address["https://router.example/v1"]["profiles"] == ["router"]
        assert by_address["https://router.example/v1"]["variable"] == "ORION_KEY_OPENAI_ROUTER_EXAMPLE"
        assert "orion" in by_address[OPENAI[1]]["profiles"]
        assert by_address["http://127.0.0.1:11434"]["local"]
        assert [row["title"] for row in found[:3]] == ["OpenAI", "Anthropic", "Ollama"]
        assert not any(row["allowed"] for row in found if not row["local"])

    with_desk(fresh_home, work)


def test_a_key_is_kept_named_by_its_end_and_removed(
    fresh_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(desk: Desk) -> None:
        rows = await desk_services.keep_key(desk, *OPENAI, KEY)
        assert rows[0]["key"] == {"where": "keyring", "hint": "cdef"}
        assert KEY not in json.dumps(rows)
        rows = await desk_services.remove_key(desk, *OPENAI)
        assert rows[0]["key"]["where"] == "none"

    with secret_service(tmp_path / "service") as env:
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        with_desk(fresh_home, work)


def test_a_host_is_allowed_by_its_service_and_taken_back_on_either_page(fresh_home: Path) -> None:
    async def work(desk: Desk) -> None:
        assert (await desk_services.allow_service(desk, *OPENAI))[0]["allowed"]
        (permission,) = (await desk_services.network(desk))["allowed"]
        assert (permission["host"], permission["who"]) == ("api.openai.com", "openai")
        assert not (await desk_services.revoke_service(desk, OPENAI[1]))[0]["allowed"]
        await desk_services.allow_service(desk, *OPENAI)
        assert (await desk_services.revoke_host(desk, "api.openai.com"))["allowed"] == []

    with_desk(fresh_home, work)


def test_trying_a_service_asks_it_for_its_models_and_is_in_the_ledger(fresh_home: Path) -> None:
    async def work(desk: Desk) -> None:
        async with WireServer(Wire()) as server:
            found = await desk_services.try_service(desk, "ollama", server.url)
        assert found["host"] == "127.0.0.1"
        assert found["models"]
        seen = await desk_services.network(desk)
        json.dumps(seen)
        assert [host["host"] for host in seen["hosts"]] == ["127.0.0.1"]
        assert {entry["who"] for entry in seen["entries"]} == {"ollama"}

    with_desk(fresh_home, work)


def test_trying_a_service_that_was_not_allowed_says_so(
    fresh_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)

    async def work(desk: Desk) -> None:
        with pytest.raises(OrionError) as refused:
            await desk_services.try_service(desk, "anthropic", "https://api.anthropic.com")
        assert refused.value.code == "host_not_allowed"
        assert (await desk_services.network(desk))["hosts"] == []

    with_desk(fresh_home, work)
