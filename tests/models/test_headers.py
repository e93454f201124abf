"""Headers are kept from one start to the next, and forgotten as soon as anything about them is in doubt."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from models.fit import predict
from models.gguf import read_header
from models.headers import Headers
from models.library import Library
from tests.models import gguf_file
from tests.models.splitter import split


def spoiled(path: Path) -> None:
    """Make the file unreadable without changing its size or time: only a kept header still tells of it."""
    status = path.stat()
    path.write_bytes(b"x" * status.st_size)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_a_header_comes_back_as_it_was(tmp_path: Path, weights: Path) -> None:
    cache = tmp_path / "cache" / "headers.json"
    parts = tuple(split(gguf_file.whole(tmp_path / "w.bin"), tmp_path, 2, name="set"))
    array = gguf_file.METADATA | {"llama.attention.head_count_kv": [2, 4]}
    listed = gguf_file.whole(tmp_path / "list.gguf", array)
    first = Headers(cache)
    told = [first.read(files) for files in ((weights,), parts, (listed,))]
    first.keep([weights, parts[0], listed])
    for path in (*parts, listed):
        spoiled(path)
    again = Headers(cache)
    assert [again.read(files) for files in ((weights,), parts, (listed,))] == told
    whole = read_header(weights)
    assert len(whole.metadata) - len(told[0].metadata) in (1, 2)
    assert predict(told[0], 2048) == predict(whole, 2048)


def test_what_changed_is_read_again_and_what_is_gone_forgotten(tmp_path: Path) -> None:
    cache = tmp_path / "headers.json"
    one, two = (gguf_file.whole(tmp_path / name) for name in ("one.gguf", "two.gguf"))
    headers = Headers(cache)
    headers.read((one,))
    headers.read((two,))
    headers.keep([one, two])
    gguf_file.whole(one, gguf_file.METADATA | {"llama.context_length": 77})
    again = Headers(cache)
    assert again.read((one,)).context_length == 77
    again.keep([one])
    assert list(json.loads(cache.read_text())["headers"]) == [str(one)]


def broken(text: str, **changes: Any) -> str:
    told = json.loads(text)
    return json.dumps(told | changes)


@pytest.mark.parametrize("damage", range(8))
def test_a_damaged_or_foreign_file_is_as_none(damage: int, tmp_path: Path) -> None:
    cache = tmp_path / "headers.json"
    path = gguf_file.whole(tmp_path / "one.gguf")
    headers = Headers(cache)
    told = headers.read((path,))
    headers.keep([path])
    text = cache.read_text()
    cache.write_text(
        [
            "",
            "[]",
            text[: len(text) // 2],
            broken(text, form=[2, []]),
            broken(text, headers={str(path): 7}),
            broken(text, headers={str(path): [[[1, 2, 3]], {"path": 7}]}),
            broken(text, headers=[]),
            "[" * 100_000,
        ][damage]
    )
    assert Headers(cache).read((path,)) == told


def test_a_library_of_the_next_start_opens_nothing(tmp_path: Path) -> None:
    cache, folder = tmp_path / "headers.json", tmp_path / "models"
    folder.mkdir()
    path = gguf_file.whole(folder / "one.gguf")
    listed = Library((folder,), cache=cache).list()
    spoiled(path)
    assert Library((folder,), cache=cache).list() == listed
    assert Library((folder,)).list()[0].error == "model_file_not_gguf"


def test_a_place_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    path = gguf_file.whole(tmp_path / "one.gguf")
    headers = Headers(tmp_path / "file" / "headers.json")
    assert headers.read((path,)).context_length == 4096
    headers.keep([path])
    assert headers.read((path,)).context_length == 4096
