"""A part of a file: what it holds, what its hash says, and how it gets to its place."""

from __future__ import annotations

import hashlib
from contextlib import closing
from pathlib import Path

import pytest

from models.download_record import Piece
from models.partial import Part, is_right, put

DATA = b"weights of a model " * 1000
PIECE = Piece("x.gguf", len(DATA), hashlib.sha256(DATA).hexdigest())
SMALL = Piece("x.json", len(DATA), "", hashlib.sha1(b"blob %d\0" % len(DATA) + DATA).hexdigest())


def alive(_size: int) -> None:
    """Nobody wants it to end."""


@pytest.mark.parametrize("piece", [PIECE, SMALL])
def test_a_part_grows_until_it_is_the_file_that_was_wanted(piece: Piece, tmp_path: Path) -> None:
    with closing(Part(tmp_path / "new" / "0.part", piece)) as part:
        part.write(DATA[:100])
        assert not part.right()
        part.write(DATA[100:])
        assert part.right()
        assert part.sync() == len(DATA)


@pytest.mark.parametrize(("durable", "kept"), [(0, 0), (60, 60), (100, 100), (10**9, 100)])
def test_only_what_was_durable_is_gone_on_with(durable: int, kept: int, tmp_path: Path) -> None:
    path = tmp_path / "0.part"
    path.write_bytes(DATA[:100])
    with closing(Part(path, PIECE)) as part:
        part.go_on(durable, alive)
        assert part.size == kept
        part.write(DATA[kept:])
        assert part.right()
    assert path.read_bytes() == DATA


def test_a_part_that_is_damaged_is_not_right(tmp_path: Path) -> None:
    path = tmp_path / "0.part"
    path.write_bytes(b"W" + DATA[1:])
    with closing(Part(path, PIECE)) as part:
        part.go_on(len(DATA), alive)
        assert part.size == len(DATA)
        assert not part.right()
        part.reset()
        part.write(DATA)
        assert part.right()


def test_reading_what_is_there_can_be_ended(tmp_path: Path) -> None:
    def enough(_size: int) -> None:
        raise InterruptedError

    path = tmp_path / "0.part"
    path.write_bytes(DATA)
    with closing(Part(path, PIECE)) as part, pytest.raises(InterruptedError):
        part.go_on(len(DATA), enough)


def test_a_file_in_place_is_right_by_size_and_hash(tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    assert not is_right(path, PIECE, alive)
    for content, right in ((DATA, True), (DATA[:-1], False), (DATA[:-1] + b"!", False)):
        path.write_bytes(content)
        assert is_right(path, PIECE, alive) is right


def test_a_whole_file_moves_to_its_place_over_what_was_there(tmp_path: Path) -> None:
    part, target = tmp_path / "0.part", tmp_path / "maker" / "name" / "x.gguf"
    for content in (b"older", DATA):
        part.write_bytes(content)
        put(part, target)
        assert target.read_bytes() == content
        assert not part.exists()
    assert [path.name for path in target.parent.iterdir()] == ["x.gguf"]
