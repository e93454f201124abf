"""A shown chat and a way to feed it live events."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from desktop.chat.view import ChatView
from desktop.theme import LIGHT
from runtime import events as ev
from tests.desktop.chat.sample import Send


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[ChatView]:
    """A shown chat of 800 × 600. What it copied is let go: off the screen Qt frees it after Python ended."""
    made = ChatView(theme=LIGHT)
    qtbot.addWidget(made)
    made.resize(800, 600)
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    yield made
    QGuiApplication.clipboard().clear()


@pytest.fixture
def send(view: ChatView) -> Send:
    """Feeds bodies of events to the view and draws them at once."""
    count = 0

    def feed(*bodies: ev.Body) -> None:
        nonlocal count
        for body in bodies:
            count += 1
            view.on_event(ev.Event(count, "s", "t", 100.0 + count, body))
        view.canvas.flush()

    return feed
