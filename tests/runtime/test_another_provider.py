"""Another provider is one file and one line: everything else works with it at once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from runtime.assemble import PROVIDERS, assemble
from tests.runtime.providers.parrot import Parrot
from tests.runtime.scripted_house import Watch


def test_another_provider_answers_is_listed_and_can_be_chosen(
    fresh_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PROVIDERS, "parrot", lambda runtime, profile: Parrot())
    (fresh_home / "profiles").mkdir(parents=True)
    (fresh_home / "profiles" / "bird.yaml").write_text("name: bird\nprovider: parrot\nmodel: grey\n")

    async def main() -> tuple[Watch, list[str], list[Any], str]:
        async with assemble(fresh_home, door="test") as runtime:
            session = await runtime.open(profile="bird")
            watch = Watch(session)
            await session.submit("Hello pretty bird")
            await session.idle()
            listed = [row["name"] for row in await runtime.offers.of(runtime.profiles.get("bird"))]
            chosen = await runtime.choose("parrot/green")
            later = await runtime.open()
            return watch, listed, [chosen["profile"], later.profile, later.model], session.traits.name

    watch, listed, chosen, name = asyncio.run(main())
    assert watch.text == "Hello pretty bird "
    assert watch.of("usage")[0].provider == "parrot"
    assert watch.of("done")[0].reason == "complete"
    assert listed == ["grey", "green"]
    assert chosen == ["bird", "bird", "green"]
    assert name == "parrot"
