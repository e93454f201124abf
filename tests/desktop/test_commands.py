"""No two commands share a key, and each can be read and reached."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from desktop.actions import ShortcutList, in_the_text, install, shown_keys
from desktop.appearance import Appearance
from desktop.commands import choices, commands
from desktop.conductor import Conductor
from desktop.conversations import Conversations
from desktop.drafts import Drafts
from desktop.icons import program_icon
from desktop.pages import pages
from desktop.theme import LIGHT
from desktop.tray import Tray
from desktop.window import MainWindow
from desktop.window_state import WindowState
from tests.desktop.doubles import RecordingBridge, card, listed


def test_commands_and_their_keys(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> None:
    bridge, state = RecordingBridge(), WindowState()
    window = MainWindow(LIGHT, pages(), state)
    qtbot.addWidget(window)
    talks = Conversations(bridge)
    conductor = Conductor(window, talks, Drafts(tmp_path), Tray(program_icon(), window))
    looks = Appearance(qapp, bridge, state)
    found = commands(window, conductor, talks, looks)
    keys = [QKeySequence(key).toString() for command in found for key in command.keys]
    assert all(keys)
    assert len(keys) == len(set(keys))
    assert len({command.title for command in found}) == len(found)
    install(window, found)
    assert len(window.actions()) == len(found)

    listing = ShortcutList(found, window)
    texts = {label.text() for label in listing.findChildren(QLabel)}
    assert {command.title for command in found if command.keys} <= texts
    assert {what for _keys, what in in_the_text()} <= texts
    assert shown_keys(found[0]) == "Ctrl+N"

    bridge.answers["open"] = lambda session, *rest: card(session, rows=[])
    window.sidebar.set_sessions([listed("s1", "One"), listed("s2", "Two")])
    offered = choices(found, window, talks)
    assert [choice.title for choice in offered[-2:]] == ["One", "Two"]
    offered[-1].run()
    assert bridge.last("open")[0] == "s2"

    by_title = {command.title: command for command in found}
    by_title["Next chat"].run()
    bridge.settle()
    by_title["Larger text"].run()
    assert bridge.last("save_settings") == ({"appearance.text_scale": 1.1},)
    by_title["Dark theme"].run()
    assert bridge.last("save_settings") == ({"appearance.theme": "dark"},)
    assert (state.theme, state.text_scale) == ("dark", 1.1)
    by_title["Normal text size"].run()
    by_title["Light theme"].run()
    assert state.text_scale == 1.0
    qapp.setStyleSheet("")
