"""The bundled recogniser, loaded once for all files here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import resources
from tests.conftest import missing
from voice.stt.recogniser import Recogniser


@pytest.fixture(scope="session")
def recogniser() -> Iterator[Recogniser]:
    """The bundled model, loaded once; tests must not close it."""
    if not (resources.recogniser_dir() / "model.bin").is_file():
        missing("the bundled recogniser")
    found = Recogniser(resources.recogniser_dir(), threads=2)
    found.load()
    yield found
    found.close()
