"""The services page shows where keys come from without showing one, and what sending somewhere means."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from desktop.pages.services import ServiceCard, ServicesPage
from desktop.theme import LIGHT
from runtime.errors import OrionError
from tests.desktop.doubles import RecordingBridge

KEY = "planted-0123456789-abcdef"
ADDRESS = "https://api.far.example/v1"


def service(**changes: Any) -> dict[str, Any]:
    """A service as the desk tells it."""
    made: dict[str, Any] = {
        "provider": "openai",
        "title": "OpenAI",
        "address": ADDRESS,
        "host": "api.far.example",
        "local": False,
        "allowed": False,
        "needs_key": True,
        "variable": "OPENAI_API_KEY",
        "profiles": ["orion"],
        "key": {"where": "none", "hint": ""},
        "fault": None,
    }
    return made | changes


@pytest.fixture
def bridge() -> RecordingBridge:
    made = RecordingBridge()
    made.answers["services"] = [service()]
    return made


@pytest.fixture
def page(qtbot: QtBot, bridge: RecordingBridge) -> ServicesPage:
    made = ServicesPage(bridge, LIGHT)
    qtbot.addWidget(made)
    made.show()
    bridge.settle()
    return made


def card(page: ServicesPage) -> ServiceCard:
    return page.cards["openai", ADDRESS]


def test_a_service_without_key_and_permission_says_both(page: ServicesPage) -> None:
    shown = card(page)
    assert shown.title.text() == "OpenAI"
    assert shown.badge.text() == "not allowed"
    assert "OPENAI_API_KEY" in shown.key.text()
    assert "sent to api.far.example" in shown.sent.text()
    assert "Until then nothing is" in shown.sent.text()
    assert not shown.remove.isVisible()
    assert not shown.keep.isEnabled()


def test_a_key_is_masked_kept_and_gone_from_the_field(page: ServicesPage, bridge: RecordingBridge) -> None:
    shown = card(page)
    bridge.answers["keep_key"] = [service(key={"where": "keyring", "hint": "cdef"})]
    assert shown.field.echoMode() == QLineEdit.EchoMode.Password
    QTest.keyClicks(shown.field, KEY)
    QTest.keyClick(shown.field, Qt.Key.Key_Return)
    assert shown.field.text() == ""
    bridge.settle()
    assert bridge.last("keep_key") == ("openai", ADDRESS, KEY)
    assert shown.key.text() == "Key in the keyring of this system, ending in cdef"
    assert shown.remove.isVisible()
    bridge.answers["remove_key"] = [service()]
    shown.remove.click()
    bridge.settle()
    assert bridge.last("remove_key") == ("openai", ADDRESS)
    assert not shown.remove.isVisible()


def test_a_key_that_cannot_be_kept_is_explained_and_not_shown(
    page: ServicesPage, bridge: RecordingBridge
) -> None:
    shown = card(page)
    bridge.answers["keep_key"] = OrionError(
        "keyring_unusable", reason="none is running", variable="OPENAI_API_KEY"
    )
    shown.field.setText(KEY)
    shown.keep.click()
    bridge.settle()
    assert "OPENAI_API_KEY in the environment" in shown.result.text()
    assert shown.field.text() == ""


def test_a_host_is_allowed_and_taken_back(page: ServicesPage, bridge: RecordingBridge) -> None:
    shown = card(page)
    bridge.answers["allow_service"] = [service(allowed=True)]
    bridge.answers["revoke_service"] = [service()]
    assert shown.allow.accessibleName() == "Allow sending to api.far.example"
    shown.allow.click()
    bridge.settle()
    assert bridge.last("allow_service") == ("openai", ADDRESS)
    assert (shown.badge.text(), shown.allow.text()) == ("allowed", "Take back")
    shown.allow.click()
    bridge.settle()
    assert bridge.last("revoke_service") == (ADDRESS,)
    assert shown.badge.text() == "not allowed"


def test_a_test_says_what_was_reached_and_what_came(page: ServicesPage, bridge: RecordingBridge) -> None:
    shown = card(page)
    names = [f"model-{number}" for number in range(6)]
    bridge.answers["try_service"] = {"host": "api.far.example", "seconds": 0.4, "models": names}
    shown.test.click()
    shown.test.click()
    assert bridge.names().count("try_service") == 1
    bridge.settle()
    assert shown.result.text().startswith("api.far.example answered in 0.4 s and offers 6 models: model-0,")
    bridge.answers["try_service"] = OrionError("key_rejected", provider="openai", problem="no such key")
    shown.test.click()
    bridge.settle()
    assert "did not accept the key" in shown.result.text()
    assert bridge.names().count("try_service") == 2


def test_a_service_on_this_machine_needs_no_permission(page: ServicesPage, bridge: RecordingBridge) -> None:
    bridge.answers["services"] = [service(local=True, allowed=True, needs_key=False, host="127.0.0.1")]
    page.refresh()
    bridge.settle()
    shown = card(page)
    assert shown.badge.text() == "on this machine"
    assert not shown.allow.isVisible()
    assert "nothing leaves it" in shown.sent.text()


def test_what_is_being_typed_survives_a_refresh(page: ServicesPage, bridge: RecordingBridge) -> None:
    card(page).field.setText(KEY)
    page.refresh()
    bridge.settle()
    assert card(page).field.text() == KEY


def test_a_keyring_that_does_not_answer_is_said_on_the_card(
    page: ServicesPage, bridge: RecordingBridge
) -> None:
    fields = {"reason": "it is locked", "variable": "OPENAI_API_KEY"}
    bridge.answers["services"] = [service(fault={"code": "keyring_unusable", "fields": fields})]
    page.refresh()
    bridge.settle()
    assert "it is locked" in card(page).key.text()


def test_every_control_has_a_name_for_a_screen_reader(page: ServicesPage) -> None:
    shown = card(page)
    for control in (shown.field, shown.keep, shown.remove, shown.allow, shown.test):
        assert "OpenAI" in control.accessibleName() or "api.far.example" in control.accessibleName()
