"""The about page states facts that can be copied."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from desktop.pages.about import AboutPage, program_version
from tests.desktop.doubles import RecordingBridge


def test_it_names_version_and_licence(qtbot: QtBot) -> None:
    bridge = RecordingBridge()
    page = AboutPage(bridge)
    qtbot.addWidget(page)
    labels = page.findChildren(QLabel)
    texts = " ".join(label.text() for label in labels)
    assert program_version() in texts
    assert "MIT licence" in texts
    assert "Python" in texts
    written = [label for label in labels if label.text() and label is not page.copied]
    assert all(
        label.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse for label in written
    )
    bridge.answers["diagnostics"] = "== Orion Desktop"
    page.copy.click()
    bridge.settle()
    assert QGuiApplication.clipboard().text() == "== Orion Desktop"
    assert page.copied.text().startswith("Copied")
