"""`orion models search | info | fit`: the catalogue without a network, the hub where it was allowed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.runtime.cli.commands import Here, typist
from tests.runtime.model_stage import CATALOGUED, REPOSITORY, bundled, settle, tiny_hub


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Here:
    return Here(monkeypatch)


def test_what_suits_this_machine_is_told_without_a_network(here: Here, fresh_home: Path) -> None:
    settle(fresh_home)
    shown = here.run("models", "fit")
    assert shown.code == 0
    machine, *models = shown.out.splitlines()
    assert "memory free" in machine
    assert any(CATALOGUED in line and "tokens/s" in line for line in models)
    data = json.loads(here.run("models", "fit", "qwen3-0.6b", "--json").out)
    assert [card["id"] for card in data["models"]] == [CATALOGUED]
    speech = json.loads(here.run("models", "search", "--kind", "speech", "--json").out)
    assert {card["kind"] for card in speech["known"]} == {"speech"}
    assert here.run("network").out.startswith("Nothing has left this machine.")


def test_a_search_says_what_was_not_asked_and_how_to_allow_it(here: Here, fresh_home: Path) -> None:
    settle(fresh_home)
    found = here.run("models", "search", "qwen3", "0.6b")
    assert found.code == 0
    assert CATALOGUED in found.out
    assert "orion network allow hub.example" in found.err
    offline = here.run("models", "search", "qwen3", "--offline")
    assert offline.err == ""
    data = json.loads(here.run("models", "search", "qwen3", "--json").out)
    assert data["refused"] == "hub.example"
    nothing = here.run("models", "search", "nobody-has-this", "--offline")
    assert "Nothing was found for nobody-has-this." in nothing.err


def test_a_person_is_asked_before_the_hub_is(fresh_home: Path) -> None:
    settle(fresh_home)
    with typist("models", "search", "qwen3") as terminal:
        terminal.until(
            "Search hub.example too? It is told what you look for, now and in later searches. [y/N] "
        )
        terminal.type("n\n")
        terminal.until("Only the catalogue of this program was searched.")
        assert terminal.ended() == 0
    assert not (fresh_home / "network.yaml").exists()


def test_the_hub_is_searched_and_its_models_described(here: Here, fresh_home: Path, tmp_path: Path) -> None:
    with tiny_hub(tmp_path) as hub:
        settle(fresh_home, hub)
        found = here.run("models", "search", "tiny")
        assert found.code == 0
        assert f"  {REPOSITORY}" in found.out
        card = here.run("models", "info", REPOSITORY)
        assert card.code == 0
        assert "licence  mit\n" in card.out
        assert "Q4_K_M" in card.out
        assert "Q8_0" in card.out
        purposes = {entry["purpose"] for entry in json.loads(here.run("network", "--json").out)["entries"]}
        assert purposes == {"search"}
        missing = here.run("models", "info", "maker/none")
        assert missing.code == 6
        assert "has no maker/none" in missing.err
        hub.stop()
        gone = here.run("models", "search", "tiny")
        assert gone.code == 7
        assert "cannot be reached" in gone.err
        kept = here.run("models", "search", "qwen3")
        assert kept.code == 7
        assert CATALOGUED in kept.out
        assert here.run("models", "info", CATALOGUED).code == 0


def test_a_model_of_this_machine_is_described(here: Here, fresh_home: Path) -> None:
    settle(fresh_home)
    shown = here.run("models", "info", bundled().stem)
    assert shown.code == 0
    assert f"On this machine as {bundled().stem}: {bundled()}" in shown.out
    assert "not examined" in shown.out
    data = json.loads(here.run("models", "info", bundled().stem, "--json").out)
    assert data["here"][0]["origin"] == "bundled"


def test_what_nobody_knows_is_one_sentence(here: Here, fresh_home: Path) -> None:
    settle(fresh_home)
    for command in ("info", "fit", "pull"):
        ran = here.run("models", command, "nonsense")
        assert ran.code == 6
        assert "There is no model called nonsense" in ran.err
    refused = here.run("models", "info", "maker/other")
    assert refused.code == 4
    assert "hub.example" in refused.err
