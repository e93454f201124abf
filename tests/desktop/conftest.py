"""Fixtures of the window's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from desktop.pages.models import ModelsPage
from desktop.theme import LIGHT
from tests.desktop.doubles import RecordingBridge
from tests.desktop.models.shelf_double import Shelf
from tests.desktop.stage import Stage


@pytest.fixture
def stage(qtbot: QtBot, tmp_path: Path) -> Iterator[Stage]:
    """A window that is shown, with one chat in front."""
    made = Stage(tmp_path)
    qtbot.addWidget(made.window)
    made.window.show()
    yield made
    made.drafts.flush()


@pytest.fixture
def shelf() -> Shelf:
    """A model shelf behind a bridge that records."""
    return Shelf(RecordingBridge())


@pytest.fixture
def models_page(qtbot: QtBot, shelf: Shelf) -> ModelsPage:
    """The models page, shown and answered once."""
    made = ModelsPage(shelf.bridge, LIGHT)
    qtbot.addWidget(made)
    made.resize(900, 800)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    shelf.settle()
    return made
