"""The runtime of a process tells what keeps it from working, and closes what it opened."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from runtime.assemble import assemble
from runtime.errors import OrionError
from tests.runtime.scripted_house import write_profile


def health(home: Path) -> list[str]:
    async def main() -> list[str]:
        async with assemble(home) as runtime:
            return [code for code, _ in runtime.health()]

    return asyncio.run(main())


def test_a_fresh_home_is_healthy_and_has_its_folders(fresh_home: Path) -> None:
    assert health(fresh_home) == []
    assert {"profiles", "sessions", "changes", "workspace", "weights"} <= {
        path.name for path in fresh_home.iterdir()
    }


def test_tools_that_are_not_there_are_notices(fresh_home: Path) -> None:
    write_profile(fresh_home, [{"say": "x"}], allowed_tools=["echo", "web_search", "ekho"])
    (fresh_home / "settings.yaml").write_text("agent:\n  profile: test\n")
    assert health(fresh_home) == ["tool_announced", "tool_unknown"]


def test_broken_settings_and_profiles_are_named_and_the_program_starts(fresh_home: Path) -> None:
    (fresh_home / "profiles").mkdir(parents=True)
    (fresh_home / "profiles" / "bad.yaml").write_text("nme: x\n")
    (fresh_home / "settings.yaml").write_text("appearance:\n  thema: dark\n")
    assert health(fresh_home) == ["yaml_unknown_key", "yaml_unknown_key"]


def test_a_home_that_cannot_be_written_is_one_error(read_only: Path) -> None:
    async def main() -> None:
        async with assemble(read_only / "home"):
            pass

    with pytest.raises(OrionError, match="home_unwritable"):
        asyncio.run(main())


def test_deleting_an_open_session_closes_it_first(fresh_home: Path) -> None:
    async def main() -> None:
        write_profile(fresh_home, [{"say": "Hello."}])
        async with assemble(fresh_home) as runtime:
            session = await runtime.open(profile="test")
            await session.submit("Hi")
            await session.idle()
            token = await runtime.delete(session.id)
            assert session.closed
            assert runtime.sessions.list() == []
            runtime.sessions.restore(token)
            again = await runtime.open(session.id)
            assert [row["text"] for row in again.rows()] == ["Hi", "Hello."]

    asyncio.run(main())
