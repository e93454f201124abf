"""`orion models pull`: questions first, a line that moves, a rest at Ctrl-C, and how every failure ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.runtime.cli.commands import Here, typist
from tests.runtime.model_stage import REPOSITORY, settle, tiny_hub
from tests.wire.hub import Misdeed


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Here:
    return Here(monkeypatch)


def test_a_model_is_fetched_and_can_be_chosen(here: Here, fresh_home: Path, tmp_path: Path) -> None:
    with tiny_hub(tmp_path) as hub:
        settle(fresh_home, hub)
        ran = here.run("models", "pull", f"{REPOSITORY}:q8_0")
        assert ran.code == 0
        assert "Tiny Q8_0 is here as Tiny-Q8_0. orion models use Tiny-Q8_0 chooses it." in ran.err
        assert "orion models exam Tiny-Q8_0" in ran.err
        assert ran.out == ""
        assert here.run("models", "use", "Tiny-Q8_0").code == 0
        assert "* Q8_0" in here.run("models", "info", REPOSITORY).out
        assert here.run("models", "downloads").err == "No download rests or runs.\n"


def test_the_steps_are_lines_of_json(here: Here, fresh_home: Path, tmp_path: Path) -> None:
    with tiny_hub(tmp_path) as hub:
        settle(fresh_home, hub)
        steps = [
            json.loads(line) for line in here.run("models", "pull", REPOSITORY, "--json").out.splitlines()
        ]
    assert {step["id"] for step in steps} == {steps[0]["id"]}
    assert (steps[-1]["state"], steps[-1]["done"]) == ("done", steps[-1]["total"])
    assert steps[-1]["name"]


def test_ctrl_c_lets_it_rest_and_the_same_command_goes_on(
    here: Here, fresh_home: Path, tmp_path: Path
) -> None:
    with tiny_hub(tmp_path, rate=200_000, more=2_000_000) as hub:
        settle(fresh_home, hub)
        with typist("models", "pull", f"{REPOSITORY}:Q4_K_M") as terminal:
            terminal.until("kB/s")
            terminal.type("\x03")
            terminal.until("This goes on from there: orion models pull maker/Tiny-GGUF:Q4_K_M")
            assert terminal.ended() == 130
        rows = json.loads(here.run("models", "downloads", "--json").out)
        assert [row["state"] for row in rows] == ["paused"]
        assert rows[0]["done"] > 0
        assert "paused" in here.run("models", "downloads").out
        hub.rate = 0
        assert here.run("models", "pull", f"{REPOSITORY}:Q4_K_M").code == 0
        assert any("range" in asked.headers for asked in hub.requests)


def test_a_resting_download_is_dropped(here: Here, fresh_home: Path, tmp_path: Path) -> None:
    with tiny_hub(tmp_path) as hub:
        settle(fresh_home, hub)
        hub.misdeeds.append(Misdeed("redirect", door="resolve", to="https://cdn.example/file"))
        assert here.run("models", "pull", REPOSITORY).code == 4
        (row,) = json.loads(here.run("models", "downloads", "--json").out)
        assert here.run("models", "downloads", "--stop", "nothing").code == 6
        assert here.run("models", "downloads", "--stop", row["id"]).code == 0
        assert json.loads(here.run("models", "downloads", "--json").out) == []


def test_another_host_is_asked_for_and_allowed(here: Here, fresh_home: Path, tmp_path: Path) -> None:
    with tiny_hub(tmp_path) as hub:
        settle(fresh_home, hub)
        hub.misdeeds.append(Misdeed("redirect", door="resolve", to="https://cdn.example/file"))
        piped = here.run("models", "pull", REPOSITORY, typed=b"y\n")
        assert piped.code == 4
        assert "cdn.example" in piped.err
        hub.misdeeds.append(Misdeed("redirect", door="resolve", to="https://cdn.example/file"))
        with typist("models", "pull", REPOSITORY) as terminal:
            terminal.until("Ask cdn.example for models and fetch them from there?")
            terminal.type("y\n")
            terminal.until("is here as")
            assert terminal.ended() == 0
        assert "cdn.example" in (fresh_home / "network.yaml").read_text("utf-8")


def test_yes_allows_the_host_and_accepts_the_licence(here: Here, fresh_home: Path, tmp_path: Path) -> None:
    with tiny_hub(tmp_path, license="llama3.2") as hub:
        settle(fresh_home, hub)
        piped = here.run("models", "pull", REPOSITORY)
        assert piped.code == 4
        assert "is under the licence llama3.2" in piped.err
        with typist("models", "pull", REPOSITORY) as terminal:
            terminal.until("Do you accept it? [y/N] ")
            terminal.type("n\n")
            assert terminal.ended() == 4
        assert here.run("models", "pull", f"{REPOSITORY}:Q8_0", "--yes").code == 0
        hub.misdeeds.append(Misdeed("redirect", door="resolve", to="https://cdn.example/file"))
        ran = here.run("models", "pull", f"{REPOSITORY}:Q4_K_M", "--yes")
        assert ran.code == 0
        assert "cdn.example" in (fresh_home / "network.yaml").read_text("utf-8")


def test_every_failure_is_a_sentence_and_an_exit_code(here: Here, fresh_home: Path, tmp_path: Path) -> None:
    with tiny_hub(tmp_path) as hub:
        settle(fresh_home, hub)
        hub.misdeeds.append(Misdeed("wrong", times=2))
        wrong = here.run("models", "pull", f"{REPOSITORY}:Q8_0")
        assert wrong.code == 7
        assert "its checksum is another one, twice" in wrong.err
        assert not list((fresh_home / "weights").rglob("*.gguf"))
        unknown = here.run("models", "pull", f"{REPOSITORY}:Q2_K")
        assert unknown.code == 6
        assert "There is no Q2_K of maker/Tiny-GGUF; on offer are Q4_K_M, Q8_0." in unknown.err
    with tiny_hub(tmp_path, gated="auto") as hub:
        settle(fresh_home, hub)
        gated = here.run("models", "pull", REPOSITORY)
        assert gated.code == 4
        assert "HF_TOKEN" in gated.err
    gone = here.run("models", "pull", REPOSITORY)
    assert gone.code == 7
    assert "cannot be reached" in gone.err
