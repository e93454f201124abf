"""A model that plays a script as if it ran at a service that wants money for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime import assemble
from runtime.profiles import Profile
from runtime.providers.provider import Traits
from runtime.providers.scripted import ScriptedProvider, load_script
from tests.runtime.scripted_house import Steps, write_profile

PRICES = """\
version: 1
makers:
  paid:
    models:
      "*": {input: 1000, cached: 100, output: 2000}
"""


class PaidProvider(ScriptedProvider):
    """The scripted provider, with its words sent elsewhere."""

    def traits(self, model: str) -> Traits:
        return Traits("paid", local=False, images=True)


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
    lines = ["version: 1", "spending:", *(f"  {name}: {value}" for name, value in caps.items())]
    (home / "settings.yaml").write_text("\n".join(lines) + "\n", "utf-8")
