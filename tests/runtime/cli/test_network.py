"""`orion network`: zero until something left, hosts allowed and taken back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from runtime.ledger import Entry, Ledger
from tests.runtime.cli.commands import Here

FAR = "api.far.example"


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Here:
    return Here(monkeypatch)


def test_it_reads_zero_at_first(here: Here) -> None:
    ran = here.run("network")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "Nothing has left this machine.\nAllowed hosts: none\n"
    assert json.loads(here.run("network", "--json").out) == {"allowed": [], "hosts": [], "entries": []}


def test_a_host_is_allowed_and_taken_back(here: Here) -> None:
    assert here.run("network", "allow", f"https://{FAR}/v1").err == f"{FAR} may be reached now.\n"
    assert here.run("network").out.endswith(f"Allowed hosts: {FAR}\n")
    (known,) = json.loads(here.run("network", "--json").out)["allowed"]
    assert (known["host"], known["who"]) == (FAR, "the terminal")
    assert "not be reached any more" in here.run("network", "revoke", FAR).err
    assert here.run("network").out.endswith("Allowed hosts: none\n")


def test_this_machine_needs_no_permission(here: Here) -> None:
    assert "needs no permission" in here.run("network", "allow", "localhost:11434").err


def test_what_is_no_host_is_refused(here: Here) -> None:
    ran = here.run("network", "allow", "not a host")
    assert (ran.code, ran.out) == (1, "")
    assert "not a host is not the name of a host" in ran.err


def test_hosts_are_listed_with_bytes_and_days(here: Here, fresh_home: Path) -> None:
    (fresh_home / "audit").mkdir(parents=True)
    ledger = Ledger(fresh_home / "audit")
    entry = Entry("1", 0.0, "openai", "model", FAR, 443, "POST")
    ledger.begin(entry)
    ledger.end(replace(entry, status=200, sent=1500, received=20))
    ledger.begin(replace(entry, id="2", host="127.0.0.1", local=True))
    out = here.run("network").out
    assert f"{FAR}  1 times, 1500 bytes sent, 20 received, 1970-01-01 to 1970-01-01\n" in out
    assert "(this machine)" in out
    assert "Nothing has left" not in out
