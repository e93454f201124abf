"""The palette finds what is meant and runs it once."""

from __future__ import annotations

from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from desktop.command_palette import Choice, CommandPalette, matches


@pytest.mark.parametrize(
    ("query", "better", "worse"),
    [("new", "New chat", "Renew"), ("chat new", "New chat", "New page"), ("ncht", "New chat", "Quit")],
)
def test_ranking(query: str, better: str, worse: str) -> None:
    assert matches(query, better) > matches(query, worse)


def test_nothing_typed_lists_everything() -> None:
    assert matches("  ", "anything") == 1


def test_keys_choose_and_enter_runs(qtbot: QtBot) -> None:
    ran: list[str] = []
    ground = QWidget()
    ground.resize(800, 600)
    qtbot.addWidget(ground)
    ground.show()
    choices = [Choice(name, "", partial(ran.append, name)) for name in ("New chat", "Dark theme", "Quit")]
    palette = CommandPalette(choices, ground)
    palette.open()
    QTest.keyClicks(palette.field, "th")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert ran == ["Dark theme"]
    assert not palette.isVisible()


def test_the_arrows_move_and_stop_at_the_ends(qtbot: QtBot) -> None:
    ran: list[int] = []
    palette = CommandPalette([Choice(f"Command {n}", "", partial(ran.append, n)) for n in range(3)])
    qtbot.addWidget(palette)
    palette.open()
    for _press in range(5):
        QTest.keyClick(palette.field, Qt.Key.Key_Down)
    QTest.keyClick(palette.field, Qt.Key.Key_Up)
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert ran == [1]


def test_no_match_runs_nothing(qtbot: QtBot) -> None:
    palette = CommandPalette([Choice("New chat", "Ctrl+N", lambda: None)])
    qtbot.addWidget(palette)
    palette.open()
    palette.field.setText("zzz")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert palette.isVisible()
