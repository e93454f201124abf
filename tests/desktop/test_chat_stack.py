"""Each session draws into its own view, and idle views are let go."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from desktop.chat_stack import KEPT, ChatStack
from desktop.theme import LIGHT
from runtime.events import ResponseChunk, StateChange, UserSaid
from tests.desktop.doubles import card, event

ROW = {"kind": "user", "id": "r1", "text": "hello", "time": 0.0, "source": "window"}


def test_views_are_kept_per_session_and_bounded(qtbot: QtBot) -> None:
    stack = ChatStack(LIGHT)
    qtbot.addWidget(stack)
    dropped: list[str] = []
    stack.dropped.connect(dropped.append)
    for number in range(KEPT + 2):
        stack.show_session(card(f"s{number}", rows=[ROW]))
    assert dropped == ["s0", "s1"]
    assert stack.count() == KEPT


def test_a_session_in_the_background_goes_on_drawing(qtbot: QtBot) -> None:
    stack = ChatStack(LIGHT)
    qtbot.addWidget(stack)
    stack.show_session(card("s1", rows=[]))
    first = stack.view
    stack.show_session(card("s2", rows=[]))
    for body in (
        UserSaid("r1", "hello", "window"),
        StateChange("IDLE", "THINKING"),
        ResponseChunk("Hi there"),
    ):
        stack.on_event(event(body, "s1"))
    assert stack.view is not first
    stack.show_session(card("s1"))
    assert stack.view is first
    assert first is not None
    assert len(first.canvas.rows) >= 2


def test_a_placeholder_stands_before_the_first_session(qtbot: QtBot) -> None:
    stack = ChatStack(LIGHT)
    qtbot.addWidget(stack)
    stack.show_placeholder("loading", "Starting…")
    assert stack.count() == 1
    stack.show_session(card("s1", rows=[ROW]))
    assert stack.count() == 1
