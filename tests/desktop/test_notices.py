"""Banner and toast say what they are told, once."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from desktop.notices import Banner, Toast


def test_notices_queue_up_and_stay_closed(qtbot: QtBot) -> None:
    banner = Banner()
    qtbot.addWidget(banner)
    banner.show_notice("home_unwritable", {"path": "home", "reason": "read-only"})
    banner.show_notice("model_missing", {"path": "weights"})
    banner.show_notice("home_unwritable", {"path": "home", "reason": "read-only"})
    assert not banner.isHidden()
    assert "cannot be written" in banner.text.text()
    assert banner.more.text() == "1 more"
    banner.close_first()
    assert "no model file" in banner.text.text()
    assert banner.more.text() == ""
    banner.close_first()
    assert banner.isHidden()
    banner.show_notice("model_missing", {"path": "weights"})
    assert banner.isHidden()


def test_a_toast_offers_one_thing_to_do(qtbot: QtBot) -> None:
    ground = QWidget()
    ground.resize(600, 400)
    qtbot.addWidget(ground)
    ground.show()
    done: list[str] = []
    toast = Toast(ground)
    toast.say("“Budget” was deleted", "Undo", lambda: done.append("undone"))
    assert toast.isVisible()
    assert ground.rect().contains(toast.geometry())
    toast.buttons[0].click()
    assert done == ["undone"]
    assert toast.isHidden()
    toast.say("Copied")
    assert toast.buttons[0].isHidden()
    toast.say("A long sentence. " * 20)
    assert ground.rect().contains(toast.geometry())
    assert toast.height() > toast.text.fontMetrics().height() * 3
    ground.hide()


def test_the_keyboard_comes_to_a_toast_and_goes_back(qtbot: QtBot) -> None:
    ground = QWidget()
    ground.resize(600, 400)
    qtbot.addWidget(ground)
    written = QLineEdit(ground)
    with qtbot.waitExposed(ground):
        ground.show()
    ground.activateWindow()
    written.setFocus()
    toast = Toast(ground)
    offered = [toast.offers]
    toast.say("Nothing may be sent there", "Allow", lambda: None)
    offered.append(toast.offers)
    assert offered == [False, True]
    toast.take_keyboard()
    qtbot.waitUntil(toast.buttons[0].hasFocus)
    QTest.keyClick(toast.buttons[0], Qt.Key.Key_Space)
    assert toast.isHidden()
    assert written.hasFocus()
    ground.hide()
