"""Hosts that the user lets the agent's computer reach: what was typed becomes an entry of the settings."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from desktop.desk import Desk
from desktop.desk_hosts import add_computer_host, computer_hosts, remove_computer_host
from runtime.assemble import assemble
from runtime.errors import OrionError


@pytest.mark.parametrize(
    ("typed", "entry"),
    [
        ("Example.org", "example.org"),
        (" https://docs.python.org/3/library/ ", "docs.python.org"),
        ("http://localhost:8000/x", "localhost:8000"),
        ("*.wikipedia.org", "*.wikipedia.org"),
        ("private:nas.lan", "private:nas.lan"),
        ("not a host", ""),
        ("https://", ""),
        ("http://[::1", ""),
        ("*", ""),
        ("*.*", ""),
    ],
)
def test_what_is_typed_becomes_one_host(fresh_home: Path, typed: str, entry: str) -> None:
    async def adds() -> None:
        async with assemble(fresh_home, door="test") as runtime:
            desk = Desk(runtime, lambda event: None)
            if not entry:
                with pytest.raises(OrionError, match="computer_host_invalid"):
                    await add_computer_host(desk, typed)
                assert await computer_hosts(desk) == []
            else:
                assert await add_computer_host(desk, typed) == [entry]
                assert await add_computer_host(desk, typed) == [entry]
                assert runtime.sandbox.allowed_hosts == (entry,)
                assert await remove_computer_host(desk, entry) == []
            await desk.close()

    asyncio.run(adds())
