"""Connections: a profile's service gets its own key, its address and a way out that is watched."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from runtime.assemble import assemble
from runtime.connections import known_services
from runtime.errors import OrionError
from runtime.profiles import Profile
from tests.runtime.local_servers import says, serving

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def profile(base_url: str = "") -> Profile:
    """A profile of the service whose address is `base_url`."""
    return Profile(name="p", provider="openai", model="m", base_url=base_url)


def test_the_key_follows_the_address_and_is_read_anew(
    fresh_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        async with assemble(fresh_home, door="test") as runtime:
            own = runtime.connection(profile())
            other = runtime.connection(profile("https://other.example/v1"))
            assert (own.provider, own.base_url) == ("openai", "https://api.openai.com/v1")
            monkeypatch.setenv("OPENAI_API_KEY", "first-key-of-the-user")
            assert own.key() == "first-key-of-the-user"
            monkeypatch.setenv("OPENAI_API_KEY", "second-key-of-the-user")
            assert own.key() == "second-key-of-the-user"
            with pytest.raises(OrionError, match="key_missing"):
                other.key()
            assert "key-of-the-user" not in repr(own)

    asyncio.run(work())


def test_both_clients_write_into_the_ledger_of_the_home(fresh_home: Path) -> None:
    async def work() -> None:
        async with assemble(fresh_home, door="test") as runtime, serving(says(ANSWER)) as port:
            connection = runtime.connection(profile(f"http://127.0.0.1:{port}/v1"))
            async with connection.client() as client, connection.old_client() as old:
                await client.get(connection.base_url)
                await old.get(connection.base_url)
            assert [(entry.who, entry.purpose) for entry in runtime.network.entries()] == [
                ("openai", "model")
            ] * 2

    asyncio.run(work())


def test_an_address_that_is_none_is_said_when_the_connection_is_made(fresh_home: Path) -> None:
    async def work() -> None:
        async with assemble(fresh_home, door="test") as runtime:
            with pytest.raises(OrionError, match="address_invalid"):
                runtime.connection(profile("openrouter.ai"))

    asyncio.run(work())


def test_an_address_that_is_none_hides_no_other_service(
    fresh_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable is told of where Ollama is used; the page of the services still opens."""
    monkeypatch.setenv("OLLAMA_HOST", "http://someone@127.0.0.1:port")

    async def work() -> list[str]:
        async with assemble(fresh_home, door="test") as runtime:
            rows = known_services(runtime.profiles, runtime.keys, runtime.network)
            return [row["provider"] for row in rows]

    assert set(asyncio.run(work())) == {"openai", "anthropic", "huggingface"}
