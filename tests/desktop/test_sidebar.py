"""The sidebar says what the user wants."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop.sidebar import Sidebar
from desktop.theme import LIGHT
from tests.desktop.doubles import listed


def make(qtbot: QtBot) -> Sidebar:
    sidebar = Sidebar(LIGHT, [("settings", "settings", "Settings")])
    qtbot.addWidget(sidebar)
    sidebar.resize(268, 600)
    sidebar.set_sessions([listed("s1", "One"), listed("s2", "Two")])
    sidebar.show()
    return sidebar


def test_enter_opens_the_chat_under_the_cursor(qtbot: QtBot) -> None:
    sidebar = make(qtbot)
    sidebar.set_current("s1")
    sidebar.list.setCurrentIndex(sidebar.model.index(1))
    with qtbot.waitSignal(sidebar.open_requested) as opened:
        sidebar.list.activated.emit(sidebar.list.currentIndex())
    assert opened.args == ["s2"]


def test_a_click_on_the_open_chat_does_nothing(qtbot: QtBot) -> None:
    sidebar = make(qtbot)
    sidebar.set_current("s1")
    with qtbot.assertNotEmitted(sidebar.open_requested):
        sidebar.list.clicked.emit(sidebar.model.index(0))


def test_delete_names_the_chat(qtbot: QtBot) -> None:
    sidebar = make(qtbot)
    sidebar.set_current("s2")
    sidebar.activateWindow()
    sidebar.list.setFocus()
    qtbot.waitUntil(sidebar.list.hasFocus)
    with qtbot.waitSignal(sidebar.delete_requested) as deleted:
        QTest.keyClick(sidebar.list, Qt.Key.Key_Delete)
    assert deleted.args == ["s2", "Two"]


def test_the_menu_offers_all_that_can_be_done(qtbot: QtBot) -> None:
    sidebar = make(qtbot)
    menu = sidebar.menu_for(sidebar.model.index(0))
    texts = [action.text().split("\t")[0] for action in menu.actions() if action.text()]
    assert texts == ["Open", "Rename…", "Export as Markdown…", "Export as JSON…", "Delete"]
    with qtbot.waitSignal(sidebar.export_requested) as exported:
        menu.actions()[2].trigger()
    assert exported.args == ["s1", "markdown"]
    menu.deleteLater()


def test_searching_waits_until_the_typing_pauses(qtbot: QtBot) -> None:
    sidebar = make(qtbot)
    with qtbot.waitSignal(sidebar.search_changed) as searched:
        QTest.keyClicks(sidebar.search, "bud")
    assert searched.args == ["bud"]


def test_an_empty_list_says_why(qtbot: QtBot) -> None:
    sidebar = make(qtbot)
    sidebar.set_sessions([])
    assert sidebar.empty.isVisible()
    assert "Your chats" in sidebar.empty.text()
    with qtbot.waitSignal(sidebar.search_changed):
        sidebar.search.setText("nothing")
    sidebar.set_sessions([])
    assert "No chat holds" in sidebar.empty.text()


def test_the_open_chat_stays_selected_when_the_list_changes(qtbot: QtBot) -> None:
    sidebar = make(qtbot)
    sidebar.set_current("s2")
    sidebar.set_sessions([listed("s2", "Two"), listed("s1", "One")])
    assert sidebar.list.currentIndex().row() == 0


def test_buttons_have_names(qtbot: QtBot) -> None:
    sidebar = make(qtbot)
    with qtbot.waitSignal(sidebar.new_requested) as made:
        sidebar.private_button.click()
    assert made.args == [True]
    assert "private" in sidebar.private_button.accessibleName()
