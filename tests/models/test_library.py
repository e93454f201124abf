"""Model files are found, described and looked up by name; broken ones are listed with what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.errors import EngineError
from models.library import Library
from tests.models import gguf_file


def test_files_are_listed_with_their_facts_and_faults(tmp_path: Path) -> None:
    bundled, own = tmp_path / "bundled", tmp_path / "own"
    (own / "deep").mkdir(parents=True)
    bundled.mkdir()
    gguf_file.whole(bundled / "small.gguf")
    gguf_file.whole(own / "deep" / "Other.GGUF")
    (own / "broken.gguf").write_bytes(b"no model")
    (own / "notes.txt").write_text("hello")
    library = Library((bundled, own, tmp_path / "nowhere"))
    listed = library.list()
    assert [(file.name, file.error) for file in listed] == [
        ("small", ""),
        ("broken", "model_file_not_gguf"),
        ("Other", ""),
    ]
    assert (listed[0].architecture, listed[0].context, listed[0].quantisation) == ("llama", 4096, "F32")
    assert library.list() == listed

    gguf_file.whole(own / "broken.gguf")
    assert all(not file.error for file in library.list())


def test_names_file_names_paths_and_the_bundled_one_are_found(tmp_path: Path) -> None:
    path = gguf_file.whole(tmp_path / "small.gguf")
    elsewhere = gguf_file.whole(tmp_path / "elsewhere.bin")
    library = Library((tmp_path,))
    for name in ("", "bundled", "small", "small.gguf", str(path)):
        assert library.find(name).path == path
    assert library.find(str(elsewhere)).path == elsewhere


def test_a_file_elsewhere_is_read_once_and_again_when_it_changed(tmp_path: Path) -> None:
    elsewhere = gguf_file.whole(tmp_path / "elsewhere.gguf")
    library = Library((tmp_path / "own",))
    found = library.find(str(elsewhere))
    assert library.find(str(elsewhere)) is found
    elsewhere.write_bytes(b"no model")
    with pytest.raises(EngineError):
        library.find(str(elsewhere))


def test_what_cannot_be_found_or_used_is_an_error(tmp_path: Path) -> None:
    library = Library((tmp_path,))
    for name, code in (
        ("", "model_missing"),
        ("bundled", "model_missing"),
        ("ghost", "model_unknown"),
        ("/nowhere/x.gguf", "model_file_missing"),
    ):
        with pytest.raises(EngineError) as caught:
            library.find(name)
        assert caught.value.code == code
    (tmp_path / "bad.gguf").write_bytes(b"GGUF")
    for name in ("", "bad"):
        with pytest.raises(EngineError) as caught:
            library.find(name)
        assert caught.value.code == "model_file_not_gguf"
