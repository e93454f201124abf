"""Sound for the tests of the voice room: a private server whose loudspeaker and microphone are wires."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import missing
from tests.sound_stage import SoundStage, absent


@pytest.fixture
def sound(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[SoundStage]:
    """A fresh sound server for one test; the environment leads this process and its children to it."""
    yield from stage(tmp_path_factory.mktemp("sound"), monkeypatch)


def stage(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SoundStage]:
    """Make a stage in `folder`, with the environment set, and take both away again."""
    if lacking := absent():
        missing(f"a sound server ({', '.join(lacking)})")
    with SoundStage(folder) as made:
        for name, value in made.environment.items():
            monkeypatch.setenv(name, value)
        yield made
