"""A model in parts is one model: found by any part, summed, refused where one is missing, answered from."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from models import shards
from models.errors import EngineError
from models.fit import predict
from models.generation import LoadOptions
from models.gguf import read_header
from models.library import Library, inspect
from models.state_store import fingerprint
from models.worker_client import LocalEngine
from tests.models import gguf_file
from tests.models.conversation import answer, ask, play, user
from tests.models.splitter import split


@pytest.fixture(scope="module")
def parts(weights: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The bundled model in three parts."""
    return split(weights, tmp_path_factory.mktemp("parts"), 3, name="Small-Q4_1")


def tiny(folder: Path, count: int = 2, **options: bool) -> list[Path]:
    whole = gguf_file.whole(folder / "whole.bin")
    made = split(whole, folder, count, name="tiny", **options)
    whole.unlink()
    return made


def code_of(path: Path) -> tuple[str, str]:
    with pytest.raises(EngineError) as caught:
        read_header(path)
    return caught.value.code, str(caught.value.fields["path"])


def test_names_of_parts_are_read() -> None:
    part = shards.part_of(Path("/m/Big-00002-of-00003.gguf"))
    assert part is not None
    assert (part.stem, part.number, part.count) == ("Big", 2, 3)
    assert [path.name for path in part.paths()] == [f"Big-0000{at}-of-00003.gguf" for at in (1, 2, 3)]
    assert shards.stem_of(Path("Big-00002-of-00003.gguf")) == "Big"
    assert shards.stem_of(Path("Big.gguf")) == "Big"
    for other in (
        "Big-00004-of-00003.gguf",
        "Big-00000-of-00003.gguf",
        "Big-1-of-3.gguf",
        "a-00001-of-99999.gguf",
    ):
        assert shards.part_of(Path(other)) is None


def test_a_split_model_has_the_header_of_the_whole(weights: Path, parts: list[Path]) -> None:
    whole = read_header(weights)
    for part in parts:
        header = read_header(part)
        assert header.path == parts[0]
        assert header.parts == tuple(parts)
        assert header.size == sum(path.stat().st_size for path in parts)
        assert (header.tensors, header.quantisation) == (whole.tensors, whole.quantisation)
        assert (header.parameters, header.matrices, header.types) == (
            whole.parameters,
            whole.matrices,
            whole.types,
        )
        assert header.context_length == whole.context_length
        assert abs(predict(header, 2048) - predict(whole, 2048)) < 4096


def test_the_engine_answers_from_parts_as_from_the_whole(
    weights: Path, parts: list[Path], tmp_path: Path
) -> None:
    question = user("Name the colours of a rainbow.")
    bare = split(weights, tmp_path, 3, name="Bare", bare_first=True)

    async def scene(engine: LocalEngine) -> None:
        told = [
            (await answer(engine, ask(LoadOptions(str(path), threads=1, window=512), question, most=12))).text
            for path in (weights, parts[0], parts[2], bare[0])
        ]
        assert told[0]
        assert set(told) == {told[0]}

    play(scene)


def test_the_engine_refuses_parts_that_are_not_whole(parts: list[Path], tmp_path: Path) -> None:
    for path in parts:
        shutil.copy(path, tmp_path)
    last = tmp_path / parts[2].name
    last.write_bytes(last.read_bytes()[:-5000])

    async def scene(engine: LocalEngine) -> None:
        request = ask(LoadOptions(str(tmp_path / parts[0].name), threads=1), user("Hi"))
        with pytest.raises(EngineError) as caught:
            await answer(engine, request)
        assert (caught.value.code, caught.value.fields["path"]) == ("model_file_truncated", str(last))
        last.unlink()
        with pytest.raises(EngineError) as caught:
            await answer(engine, request)
        assert (caught.value.code, caught.value.fields["path"]) == ("model_file_part_missing", str(last))

    play(scene)


def test_a_missing_part_is_named_from_every_other(tmp_path: Path) -> None:
    made = tiny(tmp_path)
    made[1].unlink()
    assert code_of(made[0]) == ("model_file_part_missing", str(made[1]))
    assert code_of(made[1]) == ("model_file_part_missing", str(made[1]))
    tiny(tmp_path)
    made[0].unlink()
    assert code_of(made[1]) == ("model_file_part_missing", str(made[0]))


def test_parts_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    made = tiny(tmp_path)
    shutil.copy(made[0], made[1])
    assert code_of(made[0]) == ("model_file_not_gguf", str(made[1]))
    made = tiny(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    larger = gguf_file.header(
        tensors=tuple(gguf_file.tensor(name, (64,), 0, 256 * at) for at, name in enumerate("abcd"))
    )
    (other / "whole.bin").write_bytes(larger + b"\0" * (-len(larger) % 32) + b"\1" * 1024)
    shutil.copy(split(other / "whole.bin", other, 2, name="tiny")[0], made[0])
    assert code_of(made[0]) == ("model_file_not_gguf", str(made[0]))


def test_a_part_under_another_name_says_so(tmp_path: Path) -> None:
    made = tiny(tmp_path)
    renamed = made[0].rename(tmp_path / "renamed.gguf")
    assert code_of(renamed) == ("model_file_part_misnamed", str(renamed))
    wrong = made[1].rename(tmp_path / "tiny-00002-of-00005.gguf")
    assert code_of(wrong) == ("model_file_part_misnamed", str(wrong))


def test_a_whole_file_with_the_name_of_a_part_is_a_whole_file(tmp_path: Path) -> None:
    path = gguf_file.whole(tmp_path / "old-00001-of-00002.gguf")
    assert read_header(path).parts == (path,)
    assert not inspect(path).error


def test_the_library_lists_parts_once_and_a_broken_set_with_its_fault(tmp_path: Path) -> None:
    made = tiny(tmp_path)
    gguf_file.whole(tmp_path / "zebra.gguf")
    library = Library((tmp_path,))
    listed = library.list()
    assert [file.name for file in listed] == ["tiny", "zebra"]
    assert (listed[0].path, listed[0].parts, listed[0].error) == (made[0], tuple(made), "")
    assert listed[0].size == sum(path.stat().st_size for path in made)
    for name in ("tiny", *(path.name for path in made), str(made[1])):
        assert library.find(name) == listed[0]

    made[0].unlink()
    broken = library.list()[0]
    assert (broken.name, broken.error) == ("tiny", "model_file_part_missing")
    assert dict(broken.fields)["path"] == str(made[0])
    with pytest.raises(EngineError):
        library.find("tiny")


def test_a_model_without_a_name_is_called_after_its_files(tmp_path: Path) -> None:
    unnamed = {key: value for key, value in gguf_file.METADATA.items() if key != "general.name"}
    parts = split(gguf_file.whole(tmp_path / "w.bin", unnamed), tmp_path, 2, name="tiny")
    assert read_header(parts[1]).name == inspect(parts[0]).title == "tiny"


def test_a_change_of_a_later_part_is_noticed(tmp_path: Path) -> None:
    made = tiny(tmp_path)
    library = Library((tmp_path,))
    assert not library.list()[0].error
    made[1].write_bytes(made[1].read_bytes()[:-40])
    assert library.list()[0].error == "model_file_truncated"


def test_stored_states_tell_later_parts_apart(tmp_path: Path) -> None:
    made = tiny(tmp_path, 3, bare_first=True)
    first = fingerprint(made, "build")
    data = bytearray(made[2].read_bytes())
    data[-1] ^= 1
    made[2].write_bytes(data)
    assert fingerprint(made, "build") != first
