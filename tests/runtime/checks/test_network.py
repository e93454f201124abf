"""What the doctor and the diagnostics tell of the network and of keys: hosts and counts, never a key."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from runtime.checks import network
from runtime.diagnostics import report
from runtime.ledger import Entry
from runtime.network import Network
from runtime.paths import Home, find_home

KEY = "planted-0123456789-abcdef"
FAR = "api.far.example"


@pytest.fixture
def home(fresh_home: Path) -> Home:
    found = find_home(fresh_home)
    found.create()
    return found


def test_it_reads_zero_until_something_left(home: Home) -> None:
    check = network.network(home)
    assert (check.status, check.what) == ("ok", "nothing has left this machine; no host is allowed")
    assert network.keys(home).what == "none; models on this machine need none"


def test_hosts_are_counted_and_the_allowed_ones_named(home: Home) -> None:
    wires = Network(home)
    wires.allow(FAR, "openai")
    entry = Entry("1", 0.0, "openai", "model", FAR, 443, "POST")
    wires.ledger.begin(entry)
    wires.ledger.end(replace(entry, sent=7, received=8))
    wires.ledger.begin(replace(entry, id="2", host="127.0.0.1", local=True))
    check = network.network(home)
    told = "1 hosts reached since 1970-01-01 (7 bytes sent, 8 received)"
    assert check.what == f"{told}; allowed: {FAR}"
    text = report(home)
    assert f"{FAR} 1 times, 7 sent, 8 received" in text
    assert "127.0.0.1 (local) 1 times" in text


def test_a_broken_file_is_told_with_what_it_means(home: Home) -> None:
    home.network_file.write_text("hosts: {{", "utf-8")
    check = network.network(home)
    assert check.status == "warn"
    assert "network.yaml" in check.what
    assert "no host may be reached" in check.mend


def test_keys_are_named_by_place_and_never_shown(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    home.keys_file.write_text(
        "version: 1\nkeys:\n- {provider: openai, place: api.openai.com, since: '2026-01-01T00:00:00Z'}\n",
        "utf-8",
    )
    what = network.keys(home).what
    assert what == "OpenAI at api.openai.com in the keyring, Anthropic from ANTHROPIC_API_KEY"
    home.keys_file.write_text("keys: 7\n", "utf-8")
    assert network.keys(home).status == "warn"
    assert KEY not in report(home)
