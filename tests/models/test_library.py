"""Model files are found, described and looked up by name; broken ones are listed with what is wrong."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

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


def test_models_with_one_name_are_told_apart(tmp_path: Path) -> None:
    for maker in ("ant", "bee"):
        (tmp_path / maker / "Name-GGUF").mkdir(parents=True)
        gguf_file.whole(tmp_path / maker / "Name-GGUF" / "Name.gguf")
    gguf_file.whole(tmp_path / "Name.gguf")
    library = Library((tmp_path,))
    names = [file.name for file in library.list()]
    assert names == ["Name", "ant/Name-GGUF/Name", "bee/Name-GGUF/Name"]
    assert [library.find(name).path.parent.parent.name for name in names[1:]] == ["ant", "bee"]
    (tmp_path / "Name.gguf").unlink()
    assert [file.name for file in library.list()] == ["Name", "bee/Name-GGUF/Name"]
    assert library.find("ant/Name-GGUF/Name") == library.find("Name")


def test_one_file_that_several_ways_lead_to_is_one_model(tmp_path: Path) -> None:
    own, elsewhere = tmp_path / "own", tmp_path / "elsewhere"
    elsewhere.mkdir()
    path = gguf_file.whole(elsewhere / "Name.gguf")
    own.symlink_to(elsewhere)
    (elsewhere / "round").symlink_to(elsewhere)
    library = Library((tmp_path / "none", own), more=lambda: (elsewhere, tmp_path), imported=lambda: (path,))
    assert [file.path for file in library.list()] == [own / "Name.gguf"]


def test_what_a_model_is_for_is_told_from_its_header(tmp_path: Path) -> None:
    kinds: dict[str, dict[str, Any]] = {
        "chat": {},
        "bert": {"general.architecture": "bert"},
        "vectors": {"llama.pooling_type": 3},
        "ranks": {"llama.pooling_type": 4},
        "eye": {"general.architecture": "clip"},
        "adapter": {"general.type": "adapter"},
        "sums": {"tokenizer.ggml.tokens": 0},
    }
    for name, told in kinds.items():
        gguf_file.whole(tmp_path / f"{name}.gguf", gguf_file.METADATA | told)
    library = Library((tmp_path / "none", tmp_path))
    listed = {file.name: (file.kind, file.error) for file in library.list()}
    assert listed == {
        "chat": ("language", ""),
        "bert": ("embedding", ""),
        "vectors": ("embedding", ""),
        "ranks": ("reranker", ""),
        "adapter": ("other", "model_file_other"),
        "sums": ("other", "model_file_other"),
    }
    assert library.find("").name == "chat"
    chat = library.find("chat")
    assert (chat.title, chat.parameters, chat.tools, chat.origin) == ("Tiny", 192, False, "orion")


def test_a_model_that_only_makes_vectors_is_not_the_one_that_answers(tmp_path: Path) -> None:
    gguf_file.whole(tmp_path / "a.gguf", gguf_file.METADATA | {"general.architecture": "bert"})
    library = Library((tmp_path,))
    with pytest.raises(EngineError) as caught:
        library.find("bundled")
    assert caught.value.code == "model_missing"


def test_names_in_a_header_are_shown_as_one_short_line(tmp_path: Path) -> None:
    odd = "Bad\n\x1b[31m\u202e" + "x" * 500
    gguf_file.whole(tmp_path / "a.gguf", gguf_file.METADATA | {"general.name": odd})
    title = Library((tmp_path / "none", tmp_path)).list()[0].title
    assert title.startswith("Bad [31m x")
    assert len(title) == 120


def test_hidden_folders_and_files_hold_nothing_whole(tmp_path: Path) -> None:
    (tmp_path / ".incoming-1").mkdir()
    gguf_file.whole(tmp_path / ".incoming-1" / "half.gguf")
    gguf_file.whole(tmp_path / "._shadow.gguf")
    os.mkfifo(tmp_path / "pipe.gguf")
    library = Library((tmp_path,))
    assert library.list() == []
    assert library.empty()


def test_folders_are_read_again_when_they_change_and_headers_when_files_do(tmp_path: Path) -> None:
    folder = tmp_path / "maker" / "Name"
    folder.mkdir(parents=True)
    first = gguf_file.whole(folder / "first.gguf")
    for place in (tmp_path, tmp_path / "maker", folder):
        os.utime(place, (1, 1))
    library = Library((tmp_path,))
    before = library.list()
    assert all(new is old for new, old in zip(library.list(), before, strict=True))
    assert library.header(before[0]) is library.header(before[0])
    assert library.header(before[0]).context_length == 4096

    gguf_file.whole(folder / "second.gguf")
    assert [file.name for file in library.list()] == ["first", "second"]
    assert library.list()[0] is before[0]
    (folder / "second.gguf").unlink()
    assert library.list() == before
    first.write_bytes(first.read_bytes()[:-40])
    assert library.list()[0].error == "model_file_truncated"


def test_a_name_found_before_is_looked_at_alone_until_it_changes(tmp_path: Path) -> None:
    path = gguf_file.whole(tmp_path / "one.gguf")
    looked: list[int] = []

    def more() -> tuple[Path, ...]:
        looked.append(1)
        return ()

    library = Library((tmp_path,), more=more)
    found = library.find("one")
    assert library.find("one") is found
    assert len(looked) == 1
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(EngineError):
        library.find("one")
    path.unlink()
    with pytest.raises(EngineError) as caught:
        library.find("one")
    assert caught.value.code == "model_unknown"
    gguf_file.whole(path)
    assert not library.find("one").error


def test_many_threads_may_look_at_once(tmp_path: Path) -> None:
    for at in range(12):
        gguf_file.whole(tmp_path / f"m{at:02}.gguf")
    library = Library((tmp_path,))
    with ThreadPoolExecutor(6) as pool:
        lists = list(pool.map(lambda at: library.list() if at % 2 else [library.find("m03")], range(60)))
    assert {len(found) for found in lists} == {1, 12}
