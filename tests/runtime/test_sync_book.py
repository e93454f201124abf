"""The memory of a copy survives kills and strange names, and a file it cannot read is left alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runtime.errors import OrionError
from runtime.sync_book import RUNS, STEPS, Book, BookFile, Decision, Mark

A, B = Mark("a" * 64, 1), Mark("b" * 64, 2, executable=True)


def full() -> Book:
    book = Book(volume="v", base={"x": A, "caf\udce9.txt": B})
    book.set_copy("x", B)
    book.owe("gone", A)
    book.run("s", "t").steps["x"] = (A, B)
    book.decisions.append(Decision("d", "beside", 1.5, {"x": (None, A)}, {"y": (A, None)}, {}, ["r"]))
    book.left_out["link"] = "sync_link"
    book.meant, book.meant_by, book.gone = {"x": None}, "d", ["old"]
    return book


def test_everything_comes_back_as_it_was_stored(tmp_path: Path) -> None:
    file = BookFile(tmp_path / "copy-x.json")
    assert file.load() == Book()
    book = full()
    file.save(book)
    assert file.load() == book
    assert file.load().base["caf\udce9.txt"] == B
    assert os.listdir(tmp_path) == ["copy-x.json"]


def test_a_kill_while_it_is_written_leaves_the_old_one(tmp_path: Path) -> None:
    file = BookFile(tmp_path / "copy-x.json")
    file.save(full())
    (tmp_path / "copy-x.new").write_bytes(b'{"v": 1, "ba')
    assert file.load().volume == "v"
    file.save(Book(volume="w"))
    assert file.load().volume == "w"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"null",
        b'{"v": "x"}',
        b'{"v": 1, "base": {"a": 3}}',
        b'{"v": 1}',
        b"\xff",
        b'{"v": 1, "base": [1]',
    ],
)
def test_a_damaged_one_is_refused_untouched(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "copy-x.json"
    path.write_bytes(content)
    with pytest.raises(OrionError, match="review_damaged"):
        BookFile(path).load()
    assert path.read_bytes() == content


def test_what_is_owed_counts_as_given(tmp_path: Path) -> None:
    book = Book(base={"x": A}, pending={"x": B})
    book.owe("x", A)
    assert (book.known("x"), book.pending, book.owed) == (A, {}, {"x": (B, A)})
    book.owe("x", B)
    assert (book.known("x"), book.pending, book.owed) == (B, {"x": B}, {})


def test_the_common_state_moves_and_the_copy_keeps_its_own() -> None:
    book = Book(base={"x": A})
    book.rebase("x", B)
    assert (book.base, book.pending) == ({"x": B}, {"x": A})
    book.rebase("x", A)
    assert (book.base, book.pending) == ({"x": A}, {})


def test_one_run_a_turn_and_the_oldest_are_forgotten() -> None:
    book = Book()
    assert book.run("s", "t") is book.run("s", "t")
    first = book.run("", "")
    assert book.run("", "") is first
    book.run("s", "t2")
    assert book.run("", "") is not first
    for number in range(RUNS + 5):
        book.run("s", f"n{number}")
    assert len(book.runs) == RUNS


def test_two_processes_do_not_write_at_once(tmp_path: Path) -> None:
    held = BookFile(tmp_path / "changes" / "copy-x.json").hold()
    other = BookFile(tmp_path / "changes" / "copy-x.json")
    other.patience = 0.05
    with pytest.raises(OrionError, match="review_busy"):
        other.hold()
    held.release()
    other.hold().release()


def test_old_runs_and_decisions_of_many_files_are_forgotten_and_the_newest_never(tmp_path: Path) -> None:
    book = Book()
    for number in range(4):
        book.run("s", f"t{number}").steps = {f"f{n}": (A, B) for n in range(STEPS // 2)}
        book.decisions.append(
            Decision(f"d{number}", "apply", 0.0, {f"f{n}": (A, B) for n in range(STEPS // 2)})
        )
    book.run("s", "big").steps = {f"f{n}": (A, B) for n in range(STEPS + 1)}
    file = BookFile(tmp_path / "copy-x.json")
    file.save(book)
    stored = file.load()
    assert [run.turn for run in stored.runs] == ["big"]
    assert [made.id for made in stored.decisions] == ["d2", "d3"]
