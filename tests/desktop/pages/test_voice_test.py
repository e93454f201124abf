"""Trying the voice on the settings page."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop.pages.voice_test import VoiceTest
from desktop.theme import DARK, LIGHT
from runtime.errors import OrionError
from tests.desktop.doubles import RecordingBridge
from voice import events as ev

LEFT = Qt.MouseButton.LeftButton


class Tried:
    """The row and the bridge behind it."""

    def __init__(self, qtbot: QtBot) -> None:
        self.bridge = RecordingBridge()
        self.row = VoiceTest(self.bridge, LIGHT)
        qtbot.addWidget(self.row)
        with qtbot.waitExposed(self.row):
            self.row.show()
        self.row.grab()

    def say(self, *events: ev.VoiceEvent) -> None:
        for event in events:
            self.bridge.spoke.emit(event)


@pytest.fixture
def tried(qtbot: QtBot) -> Tried:
    return Tried(qtbot)


def test_it_wakes_the_voice_once_it_is_seen(tried: Tried) -> None:
    assert tried.bridge.names() == ["wake"]
    tried.row.grab()
    assert tried.bridge.names() == ["wake"]


def test_devices_are_passed_on(qtbot: QtBot, tried: Tried) -> None:
    with qtbot.waitSignal(tried.row.devices_found) as found:
        tried.say(ev.Devices((("usb", "A headset"),), ()))
    assert found.args is not None
    assert found.args[0].microphones == (("usb", "A headset"),)


def test_a_sentence_is_said(tried: Tried) -> None:
    tried.row.speak.click()
    assert "This is how I sound" in tried.bridge.last("read_aloud")[0]


def test_the_microphone_shows_how_loud_it_is_and_what_was_understood(tried: Tried) -> None:
    row = tried.row
    QTest.mousePress(row.talk, LEFT)
    assert tried.bridge.last("try_microphone") == (True,)
    tried.say(ev.State("hearing"), ev.Level(0.5), ev.Partial("one two", 3))
    assert row.level.value() == 500
    assert row.words.text() == "one two"
    QTest.mouseRelease(row.talk, LEFT)
    assert tried.bridge.last("try_microphone") == (False,)
    tried.say(ev.Final("One, two.", "en", 1.0), ev.State("idle"))
    assert row.words.text() == "One, two."
    assert row.level.value() == 0
    tried.say(ev.Final("Said elsewhere."))
    assert row.words.text() == "One, two."
    row.set_theme(DARK)


def test_trouble_is_said_in_the_row(tried: Tried) -> None:
    QTest.mousePress(tried.row.talk, LEFT)
    tried.bridge.answers["try_microphone"] = OrionError("disk_full", path="x")
    tried.bridge.settle()
    assert "disk is full" in tried.row.words.text()
    QTest.mouseRelease(tried.row.talk, LEFT)
