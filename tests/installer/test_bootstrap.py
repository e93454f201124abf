"""The set-up builds the engine for the graphics interface that is asked, and remembers it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from installer import bootstrap


@pytest.fixture
def venv(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A .venv that was never set up, in a copy of the project's settings."""
    monkeypatch.delenv("ORION_GPU", raising=False)
    (tmp_path / "pyproject.toml").write_bytes((bootstrap.ROOT / "pyproject.toml").read_bytes())
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    monkeypatch.setattr(bootstrap, "VENV", tmp_path / ".venv")
    (tmp_path / ".venv").mkdir()
    return tmp_path / ".venv"


def test_without_a_wish_the_engine_is_built_for_the_processor(venv: Path) -> None:
    assert bootstrap.gpu() == "cpu"
    assert bootstrap._engine_build() == []


@pytest.mark.parametrize(
    ("name", "flag"), [("cuda", "CUDA"), ("vulkan", "VULKAN"), ("metal", "METAL"), ("ROCm", "HIP")]
)
def test_a_card_adds_its_argument_to_those_of_the_portable_build(
    venv: Path, monkeypatch: pytest.MonkeyPatch, name: str, flag: str
) -> None:
    plain = bootstrap._fingerprint("run")
    monkeypatch.setenv("ORION_GPU", name)
    option, file, *again = bootstrap._engine_build()
    assert option == "--config-file"
    assert again == ["--reinstall-package", "llama-cpp-python"]
    built = tomllib.loads(Path(file).read_text("utf-8"))
    arguments = built["config-settings-package"]["llama-cpp-python"]["cmake.args"]
    assert arguments.endswith(f";-DGGML_{flag}=ON")
    assert arguments.startswith("-DGGML_NATIVE=OFF")
    assert bootstrap._fingerprint("run") != plain


def test_the_choice_is_remembered_and_can_be_taken_back(venv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (venv / "engine-gpu").write_text("vulkan", "utf-8")
    assert bootstrap.gpu() == "vulkan"
    assert "--reinstall-package" not in bootstrap._engine_build()
    monkeypatch.setenv("ORION_GPU", "cpu")
    assert bootstrap._engine_build() == ["--reinstall-package", "llama-cpp-python"]


def test_an_unknown_card_is_refused(venv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORION_GPU", "voodoo")
    with pytest.raises(bootstrap.SetupError, match="cuda, vulkan, metal, rocm"):
        bootstrap.gpu()
