"""Standing permissions are visible and can be taken back."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from desktop.pages.permissions import PermissionsPage
from desktop.theme import LIGHT
from tests.desktop.doubles import RecordingBridge

RULE = {"id": "r1", "tool": "write_file", "kind": "path", "value": "notes", "until": 0.0, "session": "s1"}


def test_rules_are_listed_and_taken_back(qtbot: QtBot) -> None:
    bridge = RecordingBridge()
    timed = RULE | {"id": "r2", "text": "web_fetch to example.org", "until": 1.0, "session": ""}
    bridge.answers["rules"] = [RULE | {"text": "write_file in the folder notes"}, timed]
    bridge.answers["revoke"] = []
    page = PermissionsPage(bridge, LIGHT)
    qtbot.addWidget(page)
    bridge.settle()
    texts = [found.text() for found in page.findChildren(QLabel)]
    assert "write_file in the folder notes" in texts
    assert "in one chat" in texts
    assert any(text.startswith("in every chat, until ") for text in texts)
    back = page.findChildren(QPushButton)[0]
    assert back.accessibleName() == "Take back: write_file in the folder notes"
    back.click()
    bridge.settle()
    assert bridge.last("revoke") == ("r1",)
    assert any("asks each time" in found.text() for found in page.findChildren(QLabel))
