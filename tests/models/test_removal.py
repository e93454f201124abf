"""Deleting says truthfully what it frees, takes what is the program's own, and asks for what is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from models.errors import EngineError
from models.foreign import LmStudio, Ollama
from models.library import Library, ModelFile
from models.references import References
from models.removal import delete, frees
from tests.models import gguf_file, projector_file
from tests.models.splitter import split
from tests.models.test_foreign import OllamaStore, layer


class House:
    """A library with everything in it that can be."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bundled, self.weights, self.own = folder / "bundled", folder / "weights", folder / "own"
        for place in (self.bundled, self.weights, self.own):
            place.mkdir()
        self.references = References(folder / "models.yaml")
        self.ollama = OllamaStore(folder / "ollama")
        self.library = Library(
            (self.bundled, self.weights),
            more=lambda: (self.own,),
            imported=self.references.paths,
            stores=(LmStudio(folder / "home"), Ollama((self.ollama.root,))),
        )

    def frees(self, name: str) -> tuple[int, tuple[Path, ...]]:
        freed = frees(self.library.find(name), self.library.list(), self.references)
        return freed.bytes, freed.files

    def delete(self, name: str, *, agreed: bool = False) -> int:
        file = next(file for file in self.library.list() if file.name == name)
        before = self.frees(name) if not file.error else None
        done = delete(file, self.library.list(), self.weights, self.references, agreed=agreed)
        assert before in (None, (done.bytes, done.files))
        assert not any(path.exists() for path in done.files)
        return done.bytes

    def refusal(self, name: str, *, agreed: bool = False) -> str:
        with pytest.raises(EngineError) as caught:
            self.delete(name, agreed=agreed)
        return caught.value.code

    def names(self) -> list[str]:
        return [file.name for file in self.library.list()]


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def size(*paths: Path) -> int:
    return sum(path.stat().st_size for path in paths)


def test_a_model_goes_with_all_parts_and_the_folders_this_empties(house: House) -> None:
    source = gguf_file.whole(house.folder / "w.bin")
    parts = split(source, house.weights / "maker" / "Big-GGUF", 3, name="Big")
    gguf_file.whole(house.weights / "plain.gguf")
    assert house.frees("Big") == (size(*parts), tuple(parts))
    assert house.delete("Big") > 0
    assert house.names() == ["plain"]
    assert [path.name for path in house.weights.iterdir()] == ["plain.gguf"]
    house.delete("plain")
    assert house.weights.is_dir()


def test_a_projector_stays_as_long_as_another_model_sees_through_it(house: House) -> None:
    folder = house.weights / "Eye"
    folder.mkdir()
    small, large = (gguf_file.whole(folder / f"Eye-{name}.gguf") for name in ("Q4_0", "Q8_0"))
    eye = projector_file.projector(folder / "mmproj-f16.gguf")
    assert house.frees("Eye-Q4_0") == (size(small), (small,))
    house.delete("Eye-Q4_0")
    assert house.frees("Eye-Q8_0") == (size(large, eye), (large, eye))
    house.delete("Eye-Q8_0")
    assert not folder.exists()


def test_a_file_with_another_name_elsewhere_frees_nothing(house: House) -> None:
    path = gguf_file.whole(house.weights / "twin.gguf")
    os.link(path, house.folder / "other name")
    assert house.frees("twin") == (0, (path,))
    parts = split(path, house.weights / "set", 2, name="set")
    os.link(parts[0], house.folder / "another name")
    assert house.frees("set")[0] == size(parts[1])
    house.delete("twin")
    assert (house.folder / "other name").exists()


def test_two_names_of_one_file_that_both_go_free_it_once(house: House) -> None:
    parts = split(gguf_file.whole(house.folder / "w.bin"), house.weights, 2, name="set")
    parts[1].unlink()
    os.link(parts[0], parts[1])
    file = ModelFile("set", parts[0], 0, parts=tuple(parts))
    assert frees(file, []).bytes == size(parts[0])


def test_a_link_frees_nothing_and_what_it_leads_to_stays(house: House) -> None:
    real = gguf_file.whole(house.folder / "real.gguf")
    (house.weights / "linked.gguf").symlink_to(real)
    assert house.frees("linked") == (0, (house.weights / "linked.gguf",))
    house.delete("linked")
    assert real.exists()


def test_a_file_with_holes_frees_what_it_takes(house: House) -> None:
    path = gguf_file.whole(house.weights / "holes.gguf")
    os.truncate(path, 512 << 20)
    assert house.frees("holes")[0] < 1 << 20


def test_broken_and_half_models_can_be_deleted(house: House) -> None:
    (house.weights / "broken.gguf").write_bytes(b"GGUF")
    parts = split(gguf_file.whole(house.folder / "w.bin"), house.weights / "half", 3, name="half")
    parts[0].unlink()
    assert house.names() == ["broken", "half"]
    for name in house.names():
        assert house.delete(name) > 0
    assert list(house.weights.iterdir()) == []


def test_the_bundled_one_and_those_of_ollama_are_never_deleted(house: House) -> None:
    gguf_file.whole(house.bundled / "small.gguf")
    told = house.ollama.blob(gguf_file.whole(house.folder / "o.bin"))
    house.ollama.manifest("registry.ollama.ai/library/tiny/1b", layer("model", told))
    for agreed in (False, True):
        assert house.refusal("small", agreed=agreed) == "model_bundled_kept"
        assert house.refusal("tiny:1b", agreed=agreed) == "model_held_by_ollama"
    with pytest.raises(EngineError):
        house.frees("tiny:1b")
    assert house.names() == ["small", "tiny:1b"]


def test_what_is_another_programs_or_the_users_goes_only_when_they_agree(house: House) -> None:
    theirs = house.folder / "home" / ".lmstudio" / "models" / "maker" / "Name"
    theirs.mkdir(parents=True)
    studio = gguf_file.whole(theirs / "studio.gguf")
    mine = gguf_file.whole(house.own / "mine.gguf")
    assert house.frees("studio") == (size(studio), (studio,))
    assert house.refusal("studio") == "model_held_by_lmstudio"
    assert house.refusal("mine") == "model_in_own_folder"
    house.delete("studio", agreed=True)
    house.delete("mine", agreed=True)
    assert (studio.exists(), mine.exists()) == (False, False)
    assert theirs.exists()


def test_a_model_in_place_is_only_forgotten(house: House) -> None:
    parts = split(gguf_file.whole(house.folder / "w.bin"), house.folder / "elsewhere", 2, name="there")
    house.references.add(parts[1])
    assert house.frees("there") == (0, ())
    assert house.delete("there") == 0
    assert house.names() == []
    assert all(part.exists() for part in parts)


def test_what_cannot_be_deleted_says_why(house: House) -> None:
    file = ModelFile("odd", house.weights, 0, parts=(house.weights / "folder",))
    (house.weights / "folder").mkdir()
    assert frees(file, []).files == ()
    path = gguf_file.whole(house.weights / "plain.gguf")
    listed = house.library.list()
    path.unlink()
    assert delete(listed[0], listed, house.weights).bytes == 0


def test_what_lies_here_by_a_linked_folder_alone_is_the_users(house: House) -> None:
    elsewhere = house.folder / "disk" / "maker"
    elsewhere.mkdir(parents=True)
    file = gguf_file.whole(elsewhere / "theirs.gguf")
    (house.weights / "maker").symlink_to(elsewhere)
    assert house.refusal("theirs") == "model_in_own_folder"
    assert file.exists()
    house.delete("theirs", agreed=True)
    assert not file.exists()
