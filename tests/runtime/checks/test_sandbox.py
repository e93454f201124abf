"""The check of the agent's own computer names what is missing and never fails the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.checks.sandbox import sandbox
from runtime.paths import find_home


def test_a_missing_engine_is_no_failure_and_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    check = sandbox(find_home())
    assert check.status == "warn"
    assert str(tmp_path) in check.what
    assert check.mend.startswith("Only needed for")


def test_broken_settings_are_named(fresh_home: Path) -> None:
    fresh_home.mkdir(parents=True)
    (fresh_home / "settings.yaml").write_text("sandbox: [\n", encoding="utf-8")
    check = sandbox(find_home())
    assert check.status == "warn"
    assert "settings.yaml" in check.what
