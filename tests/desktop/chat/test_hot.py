"""The row under the pointer gets real buttons; menus and painted buttons do the same things."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop.chat.hot import ActionButton, Reader
from desktop.chat.menu import menu
from desktop.chat.view import ChatView
from runtime import events as ev
from tests.desktop.chat.sample import Send, answer, tool, user


def hover(view: ChatView, point: QPoint) -> None:
    none, place = Qt.MouseButton.NoButton, QPointF(point)
    where = view.canvas.viewport().mapToGlobal(place)
    event = QMouseEvent(QEvent.Type.MouseMove, place, where, none, none, Qt.KeyboardModifier.NoModifier)
    QGuiApplication.sendEvent(view.canvas.viewport(), event)


def test_pointing_at_a_row_shows_its_buttons(qtbot: QtBot, view: ChatView) -> None:
    view.show_rows([user("one"), answer("two")])
    hover(view, view.canvas.rect_of(1).center())
    buttons = [one for one in view.canvas.hot.widgets(1) if isinstance(one, ActionButton)]
    assert [one.text() for one in buttons] == ["Copy", "Try again", "Read aloud", "Branch"]
    with qtbot.waitSignal(view.retry_requested):
        QTest.mouseClick(buttons[1], Qt.MouseButton.LeftButton)
    QGuiApplication.sendEvent(view.canvas.viewport(), QEvent(QEvent.Type.Leave))
    assert view.canvas.hot.widgets(1) == []


def test_buttons_follow_the_row_when_it_scrolls(view: ChatView) -> None:
    view.show_rows([user(f"row {n}", n) for n in range(50)])
    view.canvas.focus_row(45)
    button = next(one for one in view.canvas.hot.widgets(45) if isinstance(one, ActionButton))
    before = button.y() - view.canvas.top_of(45)
    view.canvas.verticalScrollBar().setValue(view.canvas.verticalScrollBar().value() - 30)
    assert button.y() - view.canvas.top_of(45) == before


def test_a_tap_on_a_painted_button_acts(qtbot: QtBot, view: ChatView) -> None:
    view.show_rows([tool(details={"files": ["a.md"], "change": "c1"}), answer("end")])
    view.canvas.focus_row(1)
    action = next(one for one in view.canvas.layout_of(0).actions if one.name == "undo")
    point = view.canvas.rect_of(0).topLeft() + action.rect.center()
    with qtbot.waitSignal(view.undo_requested):
        QTest.mousePress(view.canvas.viewport(), Qt.MouseButton.LeftButton, pos=point)


def test_the_menu_offers_what_the_row_offers(qtbot: QtBot, view: ChatView) -> None:
    view.show_rows([user("one"), answer("two")])
    view.canvas.select_all()
    made = menu(view.canvas, view.canvas.rect_of(0).center(), "https://a.example")
    labels = [action.text() for action in made.actions() if action.text()]
    assert labels == [
        "Open link",
        "Copy link address",
        "Copy selection",
        "Copy message",
        "Edit",
        "Branch",
        "Select all",
    ]
    with qtbot.waitSignal(view.link_activated):
        made.actions()[0].trigger()
    with qtbot.waitSignal(view.fork_requested) as asked:
        next(one for one in made.actions() if one.text() == "Branch").trigger()
    assert asked.args == ["u1"]


def test_a_reader_follows_a_row_that_grows(view: ChatView, send: Send) -> None:
    send(ev.UserSaid("u", "hi", "w"), ev.ResponseChunk("first"))
    view.canvas.clearFocus()
    view.canvas.setFocus(Qt.FocusReason.TabFocusReason)
    view.canvas.focus_row(1)
    for word in (" second\n\n", "third", " fourth\n\nfifth\n\n", "sixth"):
        send(ev.ResponseChunk(word))
    send(ev.ResponseComplete("a", "short", True, "stop"))
    readers = [one for one in view.canvas.hot.widgets(1) if isinstance(one, Reader)]
    assert [one.toPlainText() for one in readers] == ["short"]
