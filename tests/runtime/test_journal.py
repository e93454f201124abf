"""The journal keeps every record through damage, torn tails and full disks."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import OrionError
from runtime.journal import Journal


def written(path: Path, *texts: str) -> Journal:
    journal = Journal(path)
    journal.append("session", title="")
    for text in texts:
        journal.append("user", text=text, source="test")
    return journal


def test_records_come_back_in_order_with_their_parents(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    first = written(path, "one", "two")
    first.close()
    again = Journal(path)
    again.close()
    assert again.records == first.records
    assert [record.parent for record in again.records] == [
        None,
        *(record.id for record in again.records[:-1]),
    ]


@given(st.text(st.characters(codec=None), max_size=200))
def test_any_text_survives_lone_surrogates_and_nul_included(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        written(path, text).close()
        again = Journal(path)
        again.close()
        assert again.records[-1].data["text"] == text


def test_a_torn_last_line_is_kept_aside_and_the_journal_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    written(path, "one").close()
    with path.open("ab") as file:
        file.write(b'{"v":1,"id":"x","ty')
    journal = Journal(path)
    assert [damage.line for damage in journal.damage] == [3]
    journal.append("user", text="two", source="test")
    journal.close()
    assert [record.data.get("text") for record in Journal(path).chain()] == [None, "one", "two"]
    assert path.with_suffix(".bad").read_bytes() == b'{"v":1,"id":"x","ty\n'


def test_a_whole_last_line_without_its_newline_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    written(path, "one").close()
    path.write_bytes(path.read_bytes()[:-1])
    journal = Journal(path)
    journal.append("user", text="two", source="test")
    journal.close()
    assert not journal.damage
    assert len(Journal(path).records) == 3


@pytest.mark.parametrize(
    "bad",
    [
        b"garbage",
        b'{"v":1}',
        b"[1]",
        b'{"v":1,"id":"x","type":"user","time":1}',
        b"\xff\xfe\r\x00",
        b"[" * 100_000,
        b'{"v":1,"id":"x","type":"note","time":1,"text":"a"} {}',
    ],
    ids=range(7),
)
def test_a_bad_record_in_the_middle_is_named_copied_once_and_left_out(tmp_path: Path, bad: bytes) -> None:
    path = tmp_path / "a.jsonl"
    written(path, "one", "two", "three").close()
    lines = path.read_bytes().split(b"\n")
    lines[2] = bad
    path.write_bytes(b"\n".join(lines))
    for _ in range(2):
        journal = Journal(path)
        journal.close()
        assert [damage.line for damage in journal.damage] == [3]
        assert [record.data.get("text") for record in journal.chain()] == [None, "one", "three"]
    assert path.with_suffix(".bad").read_bytes() == bad + b"\n"
    assert path.read_bytes() == b"\n".join(lines)


@given(st.integers(0, 400))
def test_a_journal_cut_anywhere_opens_with_every_whole_record(cut: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        written(path, "one", "two", "three").close()
        raw = path.read_bytes()[:cut]
        path.write_bytes(raw)
        journal = Journal(path)
        journal.close()
        assert len(journal.records) in (raw.count(b"\n"), raw.count(b"\n") + 1)


def test_a_newer_format_is_refused_and_left_untouched(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    line = json.dumps({"v": 99, "id": "x", "type": "user", "time": 1}).encode() + b"\nnonsense"
    path.write_bytes(line)
    with pytest.raises(OrionError) as caught:
        Journal(path)
    assert caught.value.code == "format_newer"
    assert path.read_bytes() == line
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_no_half_record(small_disk: Path) -> None:
    path = small_disk / "a.jsonl"
    journal = written(path, "one")

    def fill() -> None:
        for _ in range(100):
            journal.append("user", text="x" * 50_000, source="test")

    with pytest.raises(OrionError) as caught:
        fill()
    assert caught.value.code == "disk_full"
    assert path.read_bytes().endswith(b"\n")
    kept = len(journal.records)
    journal.close()
    again = Journal(path)
    again.close()
    assert (len(again.records), again.damage) == (kept, [])


def test_a_branch_leaves_what_followed_on_its_own_branch(tmp_path: Path) -> None:
    journal = written(tmp_path / "a.jsonl", "one", "two")
    journal.branch(journal.records[1].id)
    journal.append("user", text="other", source="test")
    journal.close()
    again = Journal(tmp_path / "a.jsonl")
    again.close()
    assert [record.data.get("text") for record in again.chain()] == [None, "one", "other"]
    assert len(again.records) == 4


def test_a_lost_parent_is_bridged_and_a_loop_of_parents_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [
        {"v": 1, "id": name, "parent": parent, "time": 1, "type": "user", "text": name, "source": ""}
        for name, parent in (("a", None), ("b", "lost"), ("c", "d"), ("d", "c"))
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    journal = Journal(path)
    journal.close()
    assert [record.id for record in journal.chain()] == ["a", "b", "c", "d"]
