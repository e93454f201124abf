"""`orion sessions` on stored conversations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runtime.cli.sessions import listing
from tests.runtime.cli.commands import Here
from tests.runtime.scripted_house import write_profile


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, fresh_home: Path) -> Here:
    """A house with one conversation."""
    write_profile(fresh_home, [{"say": "An **answer** about gardens."}, {"say": "More."}], loop=True)
    commands = Here(monkeypatch)
    assert commands.run("ask", "Tell me of gardens", "-p", "test").code == 0
    return commands


def ids(here: Here) -> list[str]:
    return [row["id"] for row in json.loads(here.run("sessions", "list", "--json").out)]


def test_list_shows_id_and_title(here: Here) -> None:
    (session,) = ids(here)
    shown = here.run("sessions", "list").out
    assert shown.startswith(session)
    assert "Tell me of gardens" in shown


def test_an_empty_house_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = Here(monkeypatch).run("sessions", "list")
    assert (ran.code, ran.out) == (0, "")
    assert "no sessions here yet" in ran.err


def test_show_prints_markdown_or_json(here: Here) -> None:
    (session,) = ids(here)
    assert "An **answer** about gardens." in here.run("sessions", "show", session[:12]).out
    assert json.loads(here.run("sessions", "show", session, "--json").out)["format"] == "orion-session"


def test_export_and_import_carry_a_session_over(here: Here, tmp_path: Path) -> None:
    file = tmp_path / "session.json"
    assert here.run("sessions", "export", "last", "--json", "-o", str(file)).code == 0
    assert here.run("sessions", "export", "last", "-o", str(file)).code == 1
    imported = json.loads(here.run("sessions", "import", str(file), "--json").out)["id"]
    assert "about gardens" in here.run("sessions", "show", imported).out
    again = here.run("sessions", "import", "-", typed=file.read_bytes())
    assert (again.code, len(ids(here))) == (0, 3)


def test_what_is_no_export_is_refused(here: Here) -> None:
    ran = here.run("sessions", "import", "-", typed=b"{}")
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)


def test_rename(here: Here) -> None:
    assert here.run("sessions", "rename", "last", "Roses & tea").code == 0
    assert json.loads(here.run("sessions", "list", "--json").out)[0]["title"] == "Roses & tea"
    assert here.run("sessions", "rename", "last", "a\udc80\0\n").code == 0
    assert here.run("sessions", "list").code == 0


def test_delete_says_how_to_restore(here: Here) -> None:
    (session,) = ids(here)
    shown = here.run("sessions", "delete", session).out
    assert ids(here) == []
    restore = shown.strip().rpartition("orion ")[2].split()
    assert here.run(*restore).code == 0
    assert ids(here) == [session]


def test_search_finds_words_of_the_answer(here: Here) -> None:
    found = json.loads(here.run("sessions", "search", "gardens", "--json").out)
    assert len(found) == 1
    assert "gardens" in here.run("sessions", "search", "gardens").out
    assert json.loads(here.run("sessions", "search", "elephants", "--json").out) == []


def test_fork_goes_on_from_a_message(here: Here) -> None:
    records = json.loads(here.run("sessions", "show", "last", "--json").out)["records"]
    message = next(record["id"] for record in records if record["type"] == "assistant")
    forked = json.loads(here.run("sessions", "fork", "last", message, "--json").out)["id"]
    assert here.run("ask", "more", "-s", forked).out == "More.\n"
    assert here.run("sessions", "fork", "last", "nothing").code == 6


def test_a_beginning_that_fits_two_is_refused(here: Here) -> None:
    here.run("ask", "again", "-p", "test")
    ran = here.run("sessions", "show", "2")
    assert ran.code == 2
    assert "2 sessions begin with 2" in ran.err


def test_without_a_command_the_help_is_shown(here: Here) -> None:
    ran = here.run("sessions")
    assert ran.code == 0
    assert "restore" in ran.out


def test_a_listing_fits_the_terminal() -> None:
    row = {
        "id": "x",
        "title": "a\x1b[2J" * 50,
        "preview": "",
        "updated": 0.0,
        "messages": 3,
        "interrupted": True,
    }
    (line,) = listing([row], 60)
    assert len(line) == 60
    assert "\x1b" not in line
    assert "! a\\x1b[2J" in line
