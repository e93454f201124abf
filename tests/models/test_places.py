"""Model files are found below folders with their projectors; links, rings and depths do no harm."""

from __future__ import annotations

import os
from pathlib import Path

from models.places import Place, Walk, distinct, projector_among, unquantised


def touch(folder: Path, *names: str) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).touch()
    return [folder / name for name in names]


def names(walk: Walk, root: Path) -> list[str]:
    return [place.name for place in walk.places(root, "orion")]


def beside(model: Path) -> Path | None:
    return projector_among(model, model.parent.iterdir())


def test_the_projector_beside_a_model_is_found(tmp_path: Path) -> None:
    (model,) = touch(tmp_path, "Qwen2-VL-2B-Instruct-Q4_K_M.gguf")
    assert beside(model) is None
    (eye,) = touch(tmp_path, "mmproj-model-f16.gguf")
    assert beside(model) == eye
    touch(tmp_path, "Qwen2-VL-2B-Instruct-Q8_0.gguf")
    assert beside(model) == eye
    touch(tmp_path, "other.gguf")
    assert beside(model) is None
    (named,) = touch(tmp_path, "mmproj-Qwen2-VL-2B-Instruct-f32.gguf")
    assert beside(model) == named


def test_the_projector_of_a_split_model_is_found(tmp_path: Path) -> None:
    first, _, eye = touch(
        tmp_path, "Big-VL-Q4_0-00001-of-00002.gguf", "Big-VL-Q4_0-00002-of-00002.gguf", "mmproj-f16.gguf"
    )
    assert beside(first) == eye
    (place,) = Walk().places(tmp_path, "orion")
    assert (place.name, len(place.files), place.projector) == ("Big-VL-Q4_0", 2, eye)


def test_quantisations_are_cut_off_names() -> None:
    for name in ("Name-Q4_K_M", "Name.Q4_1", "Name-IQ2_XS", "Name-BF16", "Name-f16", "Name-MXFP4", "Name"):
        assert unquantised(Path(f"{name}.gguf")) == "Name"
    assert unquantised(Path("Qwen2.5-VL-7B-Q8_0-00001-of-00002.gguf")) == "Qwen2.5-VL-7B"


def test_folders_are_gone_through_once_however_they_are_linked(tmp_path: Path) -> None:
    root, other = tmp_path / "root", tmp_path / "other"
    touch(root / "a", "one.gguf")
    touch(other, "two.GGUF")
    (root / "ring").symlink_to(root)
    (root / "far").symlink_to(other)
    (root / "again").symlink_to(other)
    (root / "lost").symlink_to(tmp_path / "nowhere")
    (root / "dangling.gguf").symlink_to(tmp_path / "nowhere")
    (root / "self.gguf").symlink_to(root / "self.gguf")
    (root / "self").symlink_to(root / "self")
    assert names(Walk(), root) == ["one", "two"]


def test_the_depth_is_bounded(tmp_path: Path) -> None:
    deep = tmp_path / "/".join("abcdefgh")
    touch(deep, "eight.gguf")
    touch(deep / "i", "nine.gguf")
    assert names(Walk(), tmp_path) == ["eight"]


def test_a_folder_that_settled_is_not_read_again_until_it_changes(tmp_path: Path) -> None:
    (path,) = touch(tmp_path, "one.gguf")
    walk = Walk()
    assert names(walk, tmp_path) == ["one"]
    touch(tmp_path, "two.gguf")
    assert names(walk, tmp_path) == ["one", "two"]
    os.utime(tmp_path, (1, 1))
    assert names(walk, tmp_path) == ["one", "two"]
    path.unlink()
    os.utime(tmp_path, (1, 1))  # as if nothing had changed
    assert names(walk, tmp_path) == ["one", "two"]
    os.utime(tmp_path, (2, 2))
    assert names(walk, tmp_path) == ["two"]


def test_a_folder_that_is_not_there_holds_nothing_and_may_come(tmp_path: Path) -> None:
    walk = Walk()
    assert names(walk, tmp_path / "later") == []
    touch(tmp_path / "later", "one.gguf")
    assert names(walk, tmp_path / "later") == ["one"]


def test_names_become_distinct_and_keep_their_others(tmp_path: Path) -> None:
    paths = touch(tmp_path, "a.gguf", "b.gguf", "c.gguf")
    places = [Place("same", (path,), "orion", also=("x/same",) if path != paths[0] else ()) for path in paths]
    assert [(place.name, place.also) for place in distinct(places)] == [
        ("same", ()),
        ("x/same", ("same", "x/same")),
        (str(paths[2]), ("same", "x/same")),
    ]
