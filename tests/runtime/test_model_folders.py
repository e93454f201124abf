"""Model files are found in the program's own folders, in those of the settings, and where they were left."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.references import References
from runtime import model_folders
from runtime.paths import Home, find_home
from tests.runtime.model_stage import bundled, model


@pytest.fixture
def home(fresh_home: Path) -> Home:
    found = find_home(fresh_home)
    found.create()
    return found


def test_every_place_is_looked_into(home: Home, tmp_path: Path) -> None:
    own, named, left = (
        tmp_path / "weights" / "Own.gguf",
        tmp_path / "a" / "Named.gguf",
        tmp_path / "Left.gguf",
    )
    folders: list[str] = []
    library = model_folders.library(home, lambda: folders)
    model(home.weights / "maker" / own.name)
    References(home.models_file).add(model(left))
    model(named)
    assert [file.name for file in library.list()] == [bundled().stem, "Own", "Left"]
    folders.append(str(named.parent))
    assert {file.name: file.origin for file in library.list()} == {
        bundled().stem: "bundled",
        "Own": "orion",
        "Left": "imported",
        "Named": "imported",
    }


def test_a_broken_list_is_said(home: Home) -> None:
    assert model_folders.notices(home) == []
    home.models_file.write_text("models: 5\n", "utf-8")
    ((code, fields),) = model_folders.notices(home)
    assert (code, fields["path"]) == ("references_unreadable", str(home.models_file))
    home.models_file.write_text("version: 99\nmodels: []\n", "utf-8")
    assert [code for code, _fields in model_folders.notices(home)] == ["format_newer"]
