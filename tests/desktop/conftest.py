"""Fixtures of the window's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.desktop.stage import Stage


@pytest.fixture
def stage(qtbot: QtBot, tmp_path: Path) -> Iterator[Stage]:
    """A window that is shown, with one chat in front."""
    made = Stage(tmp_path)
    qtbot.addWidget(made.window)
    made.window.show()
    yield made
    made.drafts.flush()
