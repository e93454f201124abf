"""A table to read fits its rows and never hides its first column."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTableWidgetItem
from pytestqt.qtbot import QtBot

from desktop.table import ReadingTable

ROWS = [["anthropic/claude-with-a-rather-long-name-2026-11-21", "$1.00"], ["local/small", "free"]]


@pytest.fixture
def table(qtbot: QtBot) -> ReadingTable:
    made = ReadingTable("By model", ["Model", "Cost"], right=(1,))
    qtbot.addWidget(made)
    made.set_rows(ROWS)
    made.show()
    return made


def cell(table: ReadingTable, y: int, x: int) -> QTableWidgetItem:
    found = table.item(y, x)
    assert found is not None
    return found


def test_rows_are_shown_whole_and_cannot_be_changed(table: ReadingTable) -> None:
    assert table.accessibleName() == "By model"
    assert [cell(table, y, x).text() for y in range(2) for x in range(2)] == [*ROWS[0], *ROWS[1]]
    assert cell(table, 0, 0).toolTip() == ROWS[0][0]
    assert not table.editTriggers()
    assert cell(table, 0, 1).textAlignment() & int(Qt.AlignmentFlag.AlignRight)
    assert table.height() >= sum(table.rowHeight(y) for y in range(2))


@pytest.mark.parametrize("width", [700, 160])
def test_the_first_column_takes_what_is_left_and_stays_readable(table: ReadingTable, width: int) -> None:
    table.resize(width, table.height())
    letters = table.columnWidth(0) / table.fontMetrics().averageCharWidth()
    assert letters >= 24
    if width == 700:
        assert table.columnWidth(0) + table.columnWidth(1) == table.viewport().width()


def test_fewer_rows_make_it_smaller(table: ReadingTable) -> None:
    before = table.height()
    table.set_rows(ROWS[:1])
    assert table.rowCount() == 1
    assert table.height() < before
