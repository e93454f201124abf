"""The list of actions pairs beginnings with ends, says how each went, and stays small."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocumentFragment
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop.live import action_log
from desktop.live.action_log import ActionLog, ActionModel
from desktop.theme import LIGHT
from tests.desktop.live.sandbox_double import action

SPOKEN = Qt.ItemDataRole.AccessibleTextRole


def test_an_action_is_one_line() -> None:
    model = ActionModel()
    model.see(action(1, summary="Click\n“Save”"))
    model.see(action(2, summary="Type “hello”"))
    assert model.index(0).data(SPOKEN).startswith("Click “Save”, being done, ")
    model.see(action(1, "ended", verdict="no_change", seconds=0.25))
    assert model.rowCount() == 2
    assert model.index(0).data() == "Click “Save”"
    assert model.index(0).data(SPOKEN).startswith("Click “Save”, no change, 0.2 seconds, ")
    assert "being done" in model.index(1).data(SPOKEN)


def test_the_tip_shows_what_a_page_calls_itself_and_obeys_none_of_it() -> None:
    model = ActionModel()
    model.see(action(1, summary='click 3, link "<img src=/x><h1>Approved"'))
    tip = model.index(0).data(Qt.ItemDataRole.ToolTipRole)
    assert QTextDocumentFragment.fromHtml(tip).toPlainText() == model.index(0).data()


@pytest.mark.parametrize("verdict", ["", "confirmed", "no_change", "unclear", "failed", "new"])
def test_every_verdict_is_painted(qtbot: QtBot, verdict: str) -> None:
    log = ActionLog(LIGHT)
    qtbot.addWidget(log)
    log.show()
    log.see(action(1, "ended", verdict=verdict))
    log.grab()
    assert ("not done" in log.lines.index(0).data(SPOKEN)) == (verdict == "failed")


def test_an_end_without_a_beginning_is_a_line_too() -> None:
    model = ActionModel()
    model.see(action(7, "ended", verdict="confirmed", summary=""))
    assert model.index(0).data() == "left_click"
    assert "confirmed" in model.index(0).data(SPOKEN)


def test_the_oldest_go() -> None:
    model = ActionModel()
    for number in range(action_log.MOST + 1):
        model.see(action(number, summary=f"Action {number}"))
    assert model.rowCount() == action_log.MOST - action_log.DROPPED + 1
    assert model.index(0).data() == f"Action {action_log.DROPPED}"
    model.see(action(3, "ended"))
    assert model.rowCount() == action_log.MOST - action_log.DROPPED + 2


def test_it_follows_the_newest_unless_the_user_looks_back(qtbot: QtBot) -> None:
    log = ActionLog(LIGHT)
    qtbot.addWidget(log)
    log.resize(400, 120)
    log.show()
    for number in range(60):
        log.see(action(number))
    bar = log.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0 and bar.value() == bar.maximum())
    bar.setValue(0)
    log.see(action(99))
    assert bar.value() == 0
    log.setFocus()
    QTest.keyClick(log, Qt.Key.Key_Down)
    QTest.keyClick(log, Qt.Key.Key_End)
    assert log.currentIndex().row() == 60


def test_thousands_are_painted_as_fast_as_ten(qtbot: QtBot) -> None:
    log = ActionLog(LIGHT)
    qtbot.addWidget(log)
    log.resize(400, 120)
    painted: list[int] = []

    class Counting(action_log.ActionDelegate):
        def paint(self, painter: object, option: object, index: object) -> None:
            painted.append(1)
            super().paint(painter, option, index)  # type: ignore[arg-type]

    log.setItemDelegate(Counting(LIGHT, log))
    for number in range(5000):
        log.see(action(number))
    painted.clear()
    log.grab()
    assert len(painted) < 20
