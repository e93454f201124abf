"""`orion models pull | show | delete` before a local server that speaks Ollama's wire format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.runtime.cli.commands import Here, typist
from tests.runtime.cli.ollama_service import ollama_service
from tests.wire.ollama import TOTAL
from tests.wire.server import Play

MINE = ("--profile", "mine")


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Here:
    return Here(monkeypatch)


def test_a_model_is_fetched_and_it_says_who_goes_out(here: Here, fresh_home: Path) -> None:
    with ollama_service(fresh_home, Play()) as server:
        ran = here.run("models", "pull", "gemma:2b", *MINE)
        assert ran.code == 0
        assert f"Ollama at {server.url} fetches gemma:2b from registry.ollama.ai." in ran.err
        assert "not counted in the ledger" in ran.err
        assert "gemma:2b is there." in ran.err
        assert ran.out == ""
        ledger = here.run("network").out
        assert "Nothing has left this machine.\nOllama was asked to fetch a model once." in ledger


def test_the_steps_are_lines_of_json(here: Here, fresh_home: Path) -> None:
    with ollama_service(fresh_home, Play(misdeed="drip")):
        ran = here.run("models", "pull", "gemma:2b", "--json", *MINE)
    steps = [json.loads(line) for line in ran.out.splitlines()]
    assert (steps[0]["model"], steps[0]["state"], steps[0]["step"]) == ("gemma:2b", "running", 0)
    assert (steps[-1]["state"], steps[-1]["completed"], steps[-1]["total"]) == ("done", TOTAL, TOTAL)
    assert [step["state"] for step in steps].count("done") == 1


def test_an_unknown_name_and_a_cut_download_fail_in_a_sentence(here: Here, fresh_home: Path) -> None:
    plays = Play(problem="pull model manifest: file does not exist"), Play(misdeed="cut")
    with ollama_service(fresh_home, *plays):
        unknown = here.run("models", "pull", "gema", *MINE)
        assert unknown.code == 7
        assert "Ollama's library has no model called gema." in unknown.err
        cut = here.run("models", "pull", "gemma:2b", "--json", *MINE)
        assert cut.code == 7
        assert "The download of gemma:2b broke off." in cut.err
        last = json.loads(cut.out.splitlines()[-1])
        assert (last["state"], last["code"]) == ("failed", "pull_cut_short")


def test_the_bar_moves_and_ctrl_c_says_what_stays(fresh_home: Path) -> None:
    with ollama_service(fresh_home, Play(misdeed="silent")) as server:
        with typist("models", "pull", "gemma:2b", *MINE) as terminal:
            terminal.until(" 50%  500 B of 1.0 kB")
            terminal.type("\x03")
            terminal.until("Stopped. What came of gemma:2b so far stays on Ollama's disk")
            assert terminal.ended() == 130
        assert server.closed_early.is_set()


def test_a_model_is_shown(here: Here, fresh_home: Path) -> None:
    with ollama_service(fresh_home):
        shown = here.run("models", "show", "mine", *MINE)
        assert "size                     3.0 GB\n" in shown.out
        assert "can                      completion, tools\n" in shown.out
        data = json.loads(here.run("models", "show", "mine", "--json", *MINE).out)
        assert (data["name"], data["window"], data["chosen"]) == ("mine:latest", 131_072, 4096)
        missing = here.run("models", "show", "nonsense", *MINE)
        assert missing.code == 7
        assert "no model called nonsense" in missing.err


def test_deleting_asks_at_a_terminal_and_wants_yes_elsewhere(here: Here, fresh_home: Path) -> None:
    with ollama_service(fresh_home) as server:
        piped = here.run("models", "delete", "gemma:2b", *MINE, typed=b"y\n")
        assert piped.code == 4
        assert "Say --yes if you mean it" in piped.err
        for typed, told, code in (("\n", "Nothing was deleted.", 4), ("y\n", "gemma:2b is deleted", 0)):
            with typist("models", "delete", "gemma:2b", *MINE) as terminal:
                terminal.until("Delete gemma:2b (3.0 GB) from the disk of Ollama? [y/N] ")
                assert not any(request.method == "DELETE" for request in server.requests)
                terminal.type(typed)
                terminal.until(told)
                assert terminal.ended() == code
        assert here.run("models", "delete", "gemma:2b", "--yes", *MINE).code == 7
        assert here.run("models", "delete", "mine", "--yes", *MINE).code == 0
        assert [request.body["model"] for request in server.requests if request.method == "DELETE"] == [
            "gemma:2b",
            "mine:latest",
        ]


def test_without_a_server_it_says_how_to_start_one(here: Here, fresh_home: Path) -> None:
    with ollama_service(fresh_home):
        pass
    for command in (("pull", "gemma:2b"), ("show", "gemma:2b")):
        ran = here.run("models", *command, *MINE)
        assert ran.code == 7
        assert "No Ollama answers at http://127.0.0.1:" in ran.err
        assert "ollama serve" in ran.err


def test_a_profile_of_another_service_is_refused(here: Here) -> None:
    ran = here.run("models", "pull", "gemma:2b", "--profile", "orion-local")
    assert ran.code == 2
    assert "uses local, not Ollama" in ran.err
