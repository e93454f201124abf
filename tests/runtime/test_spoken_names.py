"""Hints are names of the chat and of files, few and in order."""

from __future__ import annotations

from pathlib import Path

from runtime.spoken_names import MOST, Names


def test_names_of_the_chat_come_first_and_the_latest_before_all(tmp_path: Path) -> None:
    (tmp_path / "kuchen_rezept.md").touch()
    (tmp_path / ".hidden").touch()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "AnnualReport-2026.txt").touch()
    names = Names()
    names.note("Yesterday I met Iolanthe and saw read_file in LibreOffice. Then we left.")
    names.note("Tell Aurelius.")
    assert names.hints(tmp_path) == (
        "Aurelius",
        "LibreOffice",
        "read_file",
        "Iolanthe",
        "kuchen rezept",
        "sub",
        "AnnualReport 2026",
    )


def test_there_are_never_too_many(tmp_path: Path) -> None:
    for number in range(500):
        (tmp_path / f"file{number:03}.txt").touch()
    names = Names()
    names.note("x " + " ".join(f"Name{number}" for number in range(500)))
    assert len(names.hints(tmp_path)) == MOST


def test_a_missing_folder_has_no_names(tmp_path: Path) -> None:
    assert Names().hints(tmp_path / "gone") == ()
