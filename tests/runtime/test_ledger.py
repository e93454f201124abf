"""Ledger: append-only, whole after a kill, bounded in size without losing what a host ever got."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from runtime.errors import OrionError
from runtime.ledger import FILE, Entry, Ledger


def entry(number: int, host: str = "a.example") -> Entry:
    """A request that began at second `number`."""
    return Entry(f"{number:08x}", float(number), "openai", "model", host, 443, "POST")


def write(ledger: Ledger, one: Entry, sent: int = 10, received: int = 20) -> None:
    ledger.begin(one)
    ledger.end(replace(one, status=200, sent=sent, received=received, seconds=0.5))


def test_it_reads_zero_before_anything_was_sent(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    assert ledger.entries() == []
    assert ledger.summary() == []


def test_one_entry_a_request_in_versioned_lines(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    write(ledger, entry(1))
    (found,) = ledger.entries()
    assert found == replace(entry(1), status=200, sent=10, received=20, seconds=0.5)
    lines = [json.loads(line) for line in (tmp_path / FILE).read_text("ascii").splitlines()]
    assert [(line["v"], line["open"]) for line in lines] == [(1, True), (1, False)]


def test_a_process_that_dies_leaves_an_open_entry_behind(tmp_path: Path) -> None:
    Ledger(tmp_path).begin(entry(1))
    assert [found.open for found in Ledger(tmp_path).entries()] == [True]
    assert [reached.times for reached in Ledger(tmp_path).summary()] == [1]


def test_entries_since_and_the_sums_of_each_host(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    for number, host in enumerate(("a.example", "b.example", "a.example")):
        write(ledger, entry(number, host))
    assert [found.time for found in ledger.entries(since=1.0)] == [1.0, 2.0]
    first, second = ledger.summary()
    assert (first.host, first.first, first.last, first.times, first.sent) == ("a.example", 0.0, 2.0, 2, 20)
    assert (second.host, second.received) == ("b.example", 20)


def test_a_torn_line_is_left_out_and_a_newer_one_refused(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    write(ledger, entry(1))
    with (tmp_path / FILE).open("a", encoding="ascii") as file:
        file.write('{"v":1,"id":"torn\n[]\n{"v":1,"id":"x"}\n')
    write(ledger, entry(2))
    assert len(ledger.entries()) == 2
    with (tmp_path / FILE).open("a", encoding="ascii") as file:
        file.write('{"v":2,"id":"later"}\n')
    with pytest.raises(OrionError) as newer:
        ledger.entries()
    assert newer.value.code == "format_newer"


def test_old_entries_go_but_what_a_host_ever_got_stays(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, limit=4_000, kept=2)
    for number in range(100):
        write(ledger, entry(number))
    assert 10 < len(ledger.entries()) < 60
    assert sum(path.stat().st_size for path in tmp_path.glob("network*.jsonl")) < 3 * 4_500
    (reached,) = Ledger(tmp_path, limit=4_000, kept=2).summary()
    assert (reached.first, reached.last, reached.times) == (0.0, 99.0, 100)
    assert (reached.sent, reached.received) == (1000, 2000)


def test_an_entry_that_cannot_be_written_is_an_error_before_the_request_and_none_after(
    tmp_path: Path,
) -> None:
    ledger = Ledger(tmp_path / "gone")
    with pytest.raises(OrionError) as fault:
        ledger.begin(entry(1))
    assert fault.value.code == "file_unwritable"
    ledger.end(entry(1))


def test_a_file_that_cannot_be_put_aside_stops_no_request(tmp_path: Path) -> None:
    """Another process was quicker, or holds a file open; the entry stands all the same."""
    (tmp_path / "network.1.jsonl").mkdir()
    ledger = Ledger(tmp_path, limit=1, kept=1)
    write(ledger, entry(1))
    (found,) = ledger.entries()
    assert (found.status, found.open) == (200, False)
