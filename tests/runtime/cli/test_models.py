"""`orion models` lists what can answer and chooses one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runtime.cli.models_list import listing
from runtime.settings import load_settings
from tests.runtime.cli.commands import Here
from tests.runtime.scripted_house import write_profile


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, fresh_home: Path) -> Here:
    write_profile(fresh_home, [{"say": "Here."}], loop=True)
    return Here(monkeypatch)


def bundled(here: Here) -> str:
    rows = json.loads(here.run("models", "list", "--profile", "orion-local", "--json").out)
    return str(rows[0]["name"])


def test_the_model_on_this_machine_is_listed_first(here: Here) -> None:
    shown = here.run("models", "list").out.splitlines()
    assert shown[0].startswith("* local/")
    assert "on this machine" in shown[0]


def test_a_model_is_chosen_for_new_conversations(here: Here, fresh_home: Path) -> None:
    name = bundled(here)
    ran = here.run("models", "use", f"local/{name}")
    assert ran.code == 0
    assert "New conversations use" in ran.err
    agent = load_settings(fresh_home / "settings.yaml").agent
    assert (agent.profile, agent.model) == ("orion-local", "")


def test_a_model_is_chosen_for_one_session(here: Here) -> None:
    assert here.run("ask", "Hello", "-p", "test").code == 0
    row = json.loads(here.run("models", "use", bundled(here), "--session", "last", "--json").out)
    assert row["profile"] == "orion-local"
    exported = json.loads(here.run("sessions", "show", "last", "--json").out)
    modes = [record for record in exported["records"] if record["type"] == "mode"]
    assert {key: value for mode in modes for key, value in mode.items()}["profile"] == "orion-local"


def test_an_unknown_model_is_one_sentence(here: Here) -> None:
    ran = here.run("models", "use", "nonsense")
    assert ran.code != 0
    assert "There is no model called nonsense" in ran.err


def test_models_of_one_provider_at_two_places_are_told_apart() -> None:
    row = {"name": "m", "size": 0, "local": False, "default": False, "error": "", "provider": "openai"}
    alone = list(listing([row | {"profile": "orion"}], 100))
    both = list(listing([row | {"profile": "orion"}, row | {"profile": "studio"}], 100))
    assert "profile" not in alone[0]
    assert both[1].endswith("profile studio")
