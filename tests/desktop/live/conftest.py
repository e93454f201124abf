"""Fixtures of the live pane's tests."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication


@pytest.fixture(autouse=True)
def _application(qapp: QApplication) -> None:
    """Letters can be drawn only where there is an application."""
    del qapp
