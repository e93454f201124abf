"""The list of sessions says in words what it shows."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from desktop.session_list import SessionDelegate, SessionModel, relative_time
from desktop.theme import LIGHT
from tests.desktop.doubles import listed


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "now"),
        (59, "now"),
        (60, "1 min"),
        (3599, "59 min"),
        (7200, "2 h"),
        (86400, "1 day"),
        (6 * 86400, "6 days"),
    ],
)
def test_times_are_relative(seconds: float, words: str) -> None:
    assert relative_time(1_000_000, 1_000_000 + seconds) == words


def test_an_old_time_is_a_date() -> None:
    assert "70" in relative_time(0, 30 * 86400)


def test_a_row_is_spoken_with_its_marks(qtbot: QtBot) -> None:
    del qtbot
    model = SessionModel()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.set_items([listed("s1", "Budget"), listed("s2", "", interrupted=True)])
    model.set_mark("s1", "waiting")
    role = int(Qt.ItemDataRole.AccessibleTextRole)
    assert model.data(model.index(0), role).startswith("Budget, ")
    assert model.data(model.index(0), role).endswith("waits for your decision")
    assert model.data(model.index(1)) == "New chat"
    assert model.data(model.index(1), role).endswith("interrupted")


def test_an_edit_renames_and_an_empty_one_does_not(qtbot: QtBot) -> None:
    model = SessionModel()
    model.set_items([listed("s1", "Old")])
    with qtbot.waitSignal(model.renamed) as renamed:
        assert model.setData(model.index(0), "  New  ")
    assert renamed.args == ["s1", "New"]
    assert not model.setData(model.index(0), "   ")
    assert model.data(model.index(0)) == "New"


def test_a_row_is_painted(qtbot: QtBot) -> None:
    del qtbot
    model = SessionModel()
    model.set_items([listed("s1", "T" * 500, preview="line\nbreak " * 200)])
    delegate, option = SessionDelegate(LIGHT), QStyleOptionViewItem()
    option.rect.setRect(0, 0, 240, 60)
    picture = QImage(240, 60, QImage.Format.Format_RGB32)
    picture.fill(LIGHT.surface)
    painter = QPainter(picture)
    delegate.paint(painter, option, model.index(0))
    painter.end()
    colours = {picture.pixel(x, y) for x in range(240) for y in range(60)}
    assert len(colours) > 10
