"""What a screen reader is told: a list of rows, who said what, and answers as they come."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface

from desktop.chat.view import ChatView
from runtime import events as ev
from tests.desktop.chat.sample import Send, answer, tool, user

Text = QAccessible.Text


def tree(view: ChatView) -> QAccessibleInterface:
    return QAccessible.queryAccessibleInterface(view.canvas)


def test_every_row_is_an_item_with_speaker_and_text(view: ChatView) -> None:
    view.show_rows(
        [user("hi"), answer("**yes**"), tool(status="failed", failure="error", text="No such file.")]
    )
    listed = tree(view)
    assert listed.role() == QAccessible.Role.List
    assert listed.childCount() == 3
    items = [listed.child(n) for n in range(3)]
    assert [item.role() for item in items] == [QAccessible.Role.ListItem] * 3
    assert [item.text(Text.Name) for item in items] == ["You", "Orion", "Tool Write file: Failed"]
    assert items[1].text(Text.Value) == "yes"
    assert "No such file." in items[2].text(Text.Description)
    assert listed.indexOfChild(items[2]) == 2
    assert items[0].parent().role() == QAccessible.Role.List


def test_rows_far_away_are_in_the_tree(view: ChatView) -> None:
    view.show_rows([user(f"row {n}", n) for n in range(5000)])
    item = tree(view).child(10)
    assert item.text(Text.Value) == "row 10"
    assert item.state().offscreen
    assert len(view.canvas.documents) < 60


def test_the_focused_row_has_its_text_and_buttons_inside(view: ChatView) -> None:
    view.show_rows([user("hi")])
    view.canvas.clearFocus()
    view.canvas.setFocus(Qt.FocusReason.TabFocusReason)
    item = tree(view).child(0)
    assert item.state().focused
    inside = [item.child(n) for n in range(item.childCount())]
    names = [one.text(Text.Name) for one in inside]
    assert names == ["You", "Copy", "Edit", "Branch"]
    assert inside[1].role() == QAccessible.Role.Button


def test_interfaces_of_replaced_rows_are_let_go(view: ChatView) -> None:
    for turn in range(5):
        view.show_rows([user(f"turn {turn}"), answer("x")])
        assert tree(view).child(0).text(Text.Value) == f"turn {turn}"
    assert tree(view).child(7) is None


def test_answers_are_announced_sentence_by_sentence(view: ChatView, send: Send) -> None:
    said: list[str] = []
    view.canvas.announced.connect(said.append)
    send(ev.UserSaid("u", "hi", "w"), ev.ResponseChunk("One **fine** sen"))
    assert said == []
    send(ev.ResponseChunk("tence. And another"))
    assert said == ["One fine sentence."]
    send(ev.ResponseComplete("a", "One **fine** sentence. And another", True, "stop"))
    assert said == ["One fine sentence.", "And another"]


def test_tools_and_errors_are_announced_once(view: ChatView, send: Send) -> None:
    said: list[str] = []
    view.canvas.announced.connect(said.append)
    send(ev.ToolStart("t", "read_file", {}, "low"))
    send(ev.ToolChunk("t", "x"))
    send(ev.ToolComplete("t", "read_file", "x", {}, 0.1))
    assert said == ["Tool Read file: Running", "Tool Read file: Done"]
