"""Names from the hub: which are the files of one model, what form they have, and which may be used."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import EngineError
from models.hub_files import File, below, is_model, projectors, quantisation, variants


@pytest.mark.parametrize(
    ("stem", "form"),
    [
        ("Qwen3-4B-Q4_K_M", "Q4_K_M"),
        ("qwen2.5-coder-0.5b-instruct-q8_0", "Q8_0"),
        ("Model.IQ3_XXS", "IQ3_XXS"),
        ("gpt-oss-20b-mxfp4", "MXFP4"),
        ("gemma-3-4b-it-BF16", "BF16"),
        ("Model-UD-Q2_K_XL", "Q2_K_XL"),
        ("Q-learning-7B", ""),
        ("Model", ""),
    ],
)
def test_the_form_of_the_weights_is_read_from_the_name(stem: str, form: str) -> None:
    assert quantisation(stem) == form


def test_files_are_grouped_by_model_the_smallest_first() -> None:
    files = [
        File("big/B-Q8_0-00002-of-00002.gguf", 40),
        File("big/B-Q8_0-00001-of-00002.gguf", 50),
        File("A-Q4_0.gguf", 10),
        File("lost-Q4_0-00001-of-00002.gguf", 1),
        File("mmproj-A-f16.gguf", 5),
        File("imatrix.dat", 5),
    ]
    found = variants(files)
    assert [(variant.size, [file.name for file in variant.files]) for variant in found] == [
        (10, ["A-Q4_0.gguf"]),
        (90, ["big/B-Q8_0-00001-of-00002.gguf", "big/B-Q8_0-00002-of-00002.gguf"]),
    ]
    assert [file.name for file in projectors(files)] == ["mmproj-A-f16.gguf"]
    assert not is_model("mmproj-A-f16.gguf")


@pytest.mark.parametrize(
    "name", ["a.gguf", "Q4/Model-Q4_K_M.gguf", "Größe.gguf", "a b/c (1).gguf", "console.gguf"]
)
def test_ordinary_names_are_taken_as_they_are(name: str) -> None:
    assert below(name).as_posix() == name


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "a/..", "/a", "a/", "/.ssh/x", "a\x00b", "a\nb", "COM1.gguf", "aux", "lpt9.txt"),
        *("a.", "a ", "C:\\x", "C:x", "\\\\host\\x", "a\u202egguf.exe", "x" * 201, "a:b", "\ud800"),
        "/".join(["y" * 100] * 5),
    ],
)
def test_names_that_could_lead_elsewhere_are_refused(name: str) -> None:
    with pytest.raises(EngineError) as refused:
        below(name)
    assert refused.value.code == "download_name_refused"
    assert str(refused.value.fields["name"]).isascii()


@given(st.text(max_size=60))
def test_whatever_is_let_through_stays_below(name: str) -> None:
    root = Path("/some/folder")
    try:
        path = root.joinpath(*below(name).parts)
    except EngineError:
        return
    assert path.resolve().is_relative_to(root)
    assert ".." not in path.parts
