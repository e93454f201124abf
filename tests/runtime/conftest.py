"""Fixtures of the runtime's tests: places that refuse to be written."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


def _mounted(place: Path, options: str) -> Iterator[Path]:
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        if os.environ.get("CI"):
            pytest.fail("a small file system cannot be mounted; run the tests as root")
        pytest.skip("mounting a small file system needs root")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB."""
    yield from _mounted(tmp_path / "small", "size=1m")


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A file system that root cannot write either."""
    yield from _mounted(tmp_path / "read-only", "size=1m,ro")
