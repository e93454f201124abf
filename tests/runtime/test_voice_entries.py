"""What goes to a voice on another machine is in the ledger before it is said."""

from __future__ import annotations

from pathlib import Path

from runtime.errors import OrionError
from runtime.ledger import Ledger
from runtime.spoken_answer import SpokenAnswer
from runtime.voice_entries import ONLINE_HOST, VoiceEntries


def test_an_answer_is_one_entry_that_is_open_while_it_is_said(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    entries, answer = VoiceEntries(ledger, lambda error: None), SpokenAnswer()
    answer.add("Hello.")
    entries.begin(answer, "Hello.")
    assert ledger.entries() == []
    entries.online, entries.via = True, "http://me:secret@proxy:3128/"
    entries.begin(answer, "  ")
    assert ledger.entries() == []
    entries.begin(answer, "Hello.")
    (entry,) = ledger.entries()
    assert (entry.open, entry.host, entry.port, entry.via) == (True, ONLINE_HOST, 443, "proxy:3128")
    answer.add(" And göodbye.")
    entries.begin(answer, " And göodbye.")
    entries.end(answer)
    entries.end(answer)
    (entry,) = ledger.entries()
    assert (entry.open, entry.sent, entry.who) == (False, len("Hello. And göodbye.".encode()), "edge-tts")


def test_closing_ends_what_was_being_said(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    entries = VoiceEntries(ledger, lambda error: None)
    entries.online = True
    for text in ("One.", "Two."):
        answer = SpokenAnswer()
        answer.add(text)
        entries.begin(answer, text)
    entries.close()
    assert [entry.open for entry in ledger.entries()] == [False, False]


def test_a_ledger_that_cannot_be_written_keeps_everything_here(read_only: Path) -> None:
    told: list[OrionError] = []
    entries, answer = VoiceEntries(Ledger(read_only), told.append), SpokenAnswer()
    entries.online = True
    entries.begin(answer, "Hello.")
    entries.begin(answer, "Hello.")
    assert [error.code for error in told] == ["file_unwritable"]
    assert not entries.online
