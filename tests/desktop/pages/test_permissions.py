"""Standing permissions are visible and can be taken back."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from desktop.pages.permissions import PermissionsPage
from desktop.theme import LIGHT
from runtime.errors import OrionError
from tests.desktop.doubles import RecordingBridge

RULE = {"id": "r1", "tool": "write_file", "kind": "path", "value": "notes", "until": 0.0, "session": "s1"}


def test_rules_are_listed_and_taken_back(qtbot: QtBot) -> None:
    bridge = RecordingBridge()
    bridge.answers["computer_hosts"] = []
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
    back = next(found for found in page.findChildren(QPushButton) if found.text() == "Take back")
    assert back.accessibleName() == "Take back: write_file in the folder notes"
    back.click()
    bridge.settle()
    assert bridge.last("revoke") == ("r1",)
    assert any("asks each time" in found.text() for found in page.findChildren(QLabel))


def test_a_host_for_the_agents_computer_is_added_and_removed_with_the_keyboard(qtbot: QtBot) -> None:
    bridge = RecordingBridge()
    bridge.answers |= {"rules": [], "computer_hosts": [], "add_computer_host": ["docs.python.org"]}
    bridge.answers["remove_computer_host"] = []
    page = PermissionsPage(bridge, LIGHT)
    qtbot.addWidget(page)
    bridge.settle()
    hosts = page.hosts
    assert not hosts.add.isEnabled()
    QTest.keyClicks(hosts.field, "https://docs.python.org/3/")
    QTest.keyClick(hosts.field, Qt.Key.Key_Return)
    bridge.settle()
    assert bridge.last("add_computer_host") == ("https://docs.python.org/3/",)
    assert not hosts.field.text()
    remove = hosts.removes["docs.python.org"]
    assert remove.accessibleName() == "Remove docs.python.org from the hosts of the agent's computer"
    remove.setFocus()
    QTest.keyClick(remove, Qt.Key.Key_Space)
    bridge.settle()
    assert bridge.last("remove_computer_host") == ("docs.python.org",)
    assert any("asks for each host" in found.text() for found in page.findChildren(QLabel))


def test_what_is_no_host_is_said_under_the_field(qtbot: QtBot) -> None:
    bridge = RecordingBridge()
    bridge.answers |= {"rules": [], "computer_hosts": []}
    bridge.answers["add_computer_host"] = OrionError("computer_host_invalid", host="not a host")
    page = PermissionsPage(bridge, LIGHT)
    qtbot.addWidget(page)
    bridge.settle()
    page.hosts.field.setText("not a host")
    page.hosts.add.click()
    bridge.settle()
    assert "not a host" in page.hosts.fault.text()
    assert not page.hosts.fault.isHidden()
    page.hosts.field.setText("x")
    assert page.hosts.fault.isHidden()
