"""The record of a download: what survives, what is refused, and what is kept of an earlier one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from models.download import Wanted
from models.download_record import FILE, Record, Shelf, fresh, renewed, shelves
from models.errors import EngineError
from models.hub_files import File

ONE, TWO = File("a-00001-of-00002.gguf", 10, "1" * 64), File("a-00002-of-00002.gguf", 20, "2" * 64)
WANTED = Wanted("maker/Name", "main", (ONE, TWO), "Name \ud83d", into="maker/Name")
RECORD = replace(
    fresh(WANTED, 5.5).with_piece(1, synced=7, whole=False),
    commit="c" * 40,
    state="failed",
    code="hub_unreachable",
    fields={"host": "h", "reason": "r"},
)


def written(folder: Path, record: Record) -> Shelf:
    shelf = Shelf(folder)
    shelf.write(record)
    return shelf


def test_a_record_comes_back_as_it_was(tmp_path: Path) -> None:
    shelf = written(tmp_path / "a", RECORD)
    assert shelf.read() == RECORD
    assert [found.folder.name for found in shelves(tmp_path)] == ["a"]
    stamp = shelf.stamp()
    shelf.write(replace(RECORD, state="queued"))
    assert shelf.stamp() != stamp
    shelf.remove()
    assert (shelf.read(), shelf.stamp(), list(tmp_path.iterdir())) == (None, None, [])


def test_a_newer_format_is_refused_untouched(tmp_path: Path) -> None:
    shelf = written(tmp_path / "a", RECORD)
    path = shelf.folder / FILE
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"v": 2}), "ascii")
    with pytest.raises(EngineError, match="format_newer"):
        shelf.read()


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data["wanted"].update(into="../elsewhere"),
        lambda data: data["wanted"]["files"][0].update(name="/etc/passwd"),
        lambda data: data["pieces"][0].update(name="../x"),
        lambda data: data["pieces"].pop(),
        lambda data: data.pop("wanted"),
        lambda data: data["pieces"][0].update(more=1),
    ],
)
def test_a_record_that_was_tampered_with_is_none(change: Any, tmp_path: Path) -> None:
    shelf = written(tmp_path / "a", RECORD)
    path = shelf.folder / FILE
    data = json.loads(path.read_bytes())
    change(data)
    path.write_text(json.dumps(data), "ascii")
    assert shelf.read() is None


def test_the_same_files_have_the_same_name_whatever_their_revision() -> None:
    assert WANTED.id == replace(WANTED, revision="d" * 40, title="other").id
    assert WANTED.id != replace(WANTED, into="elsewhere").id
    assert WANTED.id != replace(WANTED, files=(ONE,)).id


def test_of_what_is_asked_for_again_the_unchanged_files_stay() -> None:
    old = RECORD.with_piece(0, synced=10, whole=True)
    later = replace(WANTED, revision="d" * 40, files=(replace(ONE, sha256="3" * 64), TWO))
    new = renewed(old, later)
    assert [(piece.synced, piece.whole) for piece in new.pieces] == [(0, False), (7, False)]
    assert (new.commit, new.code, new.begun) == ("", "", old.begun)
    assert renewed(old, replace(WANTED, files=(TWO,))).pieces[0].synced == 0


def test_the_lock_is_one_process_s_alone(tmp_path: Path) -> None:
    mine, other = Shelf(tmp_path / "a"), Shelf(tmp_path / "a")
    assert mine.take()
    assert other.held()
    assert not other.take()
    mine.release()
    assert not other.held()
    assert other.take()
    other.release()
