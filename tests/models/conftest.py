"""Fixtures of the engine's tests: the bundled model."""

from __future__ import annotations

from pathlib import Path

import pytest

import resources
from tests.conftest import missing


@pytest.fixture(scope="session")
def weights() -> Path:
    """The bundled model file."""
    found = sorted(resources.weights_dir().glob("*.gguf"))
    if not found:
        missing("the bundled model")
    return found[0]
