"""A model that plays a script as if it ran at a service that wants money for it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from runtime import assemble
from runtime.messages import Usage
from runtime.paths import Home
from runtime.profiles import Profile
from runtime.providers.provider import Finished, Request, StreamItem, Traits
from runtime.providers.scripted import ScriptedProvider, load_script
from runtime.spending import Spending
from tests.runtime.scripted_house import Steps, write_profile

PRICES = """\
version: 1
makers:
  paid:
    models:
      "*": {input: 1000, cached: 100, output: 2000}
"""


PAID, HERE = Traits("paid", local=False), Traits("local", local=True)
NOON = datetime(2026, 11, 21, 12).timestamp()  # noqa: DTZ001
CALL = Usage(100, 50)
"""Costs 0.20 dollars at PRICES."""


class Clock:
    """A clock that a test moves."""

    now = NOON

    def __call__(self) -> float:
        return self.now


class PaidProvider(ScriptedProvider):
    """The scripted provider, with its words sent elsewhere. One that does not count tells no tokens."""

    counts = True

    def traits(self, model: str) -> Traits:
        return Traits("paid", local=False, images=True)

    async def stream(self, request: Request) -> AsyncGenerator[StreamItem, None]:
        async with aclosing(super().stream(request)) as items:
            async for item in items:
                if isinstance(item, Finished) and not self.counts:
                    item = replace(item, usage=Usage())
                yield item


def _make(runtime: assemble.Runtime, profile: Profile) -> PaidProvider:
    return PaidProvider(load_script(runtime.profiles.folder(profile.name) / profile.model))


def paid_profile(
    monkeypatch: pytest.MonkeyPatch, home: Path, steps: Steps, *, prices: str = PRICES, loop: bool = False
) -> None:
    """A profile called test whose words cost a thousandth of a dollar each to read and two to write."""
    monkeypatch.setitem(assemble.PROVIDERS, "paid", _make)
    write_profile(home, steps, loop=loop, provider="paid")
    if prices:
        (home / "pricing.yaml").write_text(prices, "utf-8")


def set_caps(home: Path, **caps: float) -> None:
    """Write caps into the settings."""
    lines = ["version: 1", *["spending:"][: len(caps)], *(f"  {name}: {caps[name]}" for name in caps)]
    (home / "settings.yaml").write_text("\n".join(lines) + "\n", "utf-8")


def accounts(home: Path, clock: Clock | None = None, **caps: float) -> Spending:
    """The accounts of a home with these caps."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "pricing.yaml").write_text(PRICES, "utf-8")
    set_caps(home, **caps)
    return Spending(Home(home, home / "workspace"), clock or Clock())
