"""Bars can be seen, pointed at, walked along, and heard."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QEnterEvent
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop.bars import BarChart, Value
from desktop.theme import DARK, LIGHT, Theme

VALUES = [Value(float(n), f"{n} Nov", f"{n} November: ${n}.00") for n in (1, 0, 4, 2)]


@pytest.fixture
def chart(qtbot: QtBot) -> BarChart:
    made = BarChart(LIGHT)
    qtbot.addWidget(made)
    made.resize(400, 200)
    made.show_values(VALUES, "$4.00")
    made.show()
    qtbot.waitExposed(made)
    return made


def column(chart: BarChart, number: int) -> list[QColor]:
    """The colours of a bar's middle, from the top down."""
    picture = chart.grab().toImage()
    bar = chart.bars[number]
    ratio = picture.devicePixelRatio()
    middle = round((bar.x() + bar.width() / 2) * ratio)
    return [
        picture.pixelColor(middle, round(y * ratio)) for y in range(bar.y() + 4, bar.geometry().bottom() - 1)
    ]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_a_bar_is_as_high_as_its_amount(chart: BarChart, theme: Theme) -> None:
    chart.set_theme(theme)
    for bar in chart.bars:
        bar.clearFocus()
    high = [sum(colour == theme.accent for colour in column(chart, n)) for n in range(4)]
    assert high[1] == 0
    assert high[2] > 1.8 * high[3] > 1.8 * 1.7 * high[0] > 0


def test_each_bar_says_what_it_is(chart: BarChart) -> None:
    assert [bar.accessibleName() for bar in chart.bars] == [value.words for value in VALUES]
    assert [bar.toolTip() for bar in chart.bars] == [value.words for value in VALUES]


def test_arrows_walk_and_tab_stops_once(chart: BarChart) -> None:
    heard: list[str] = []
    chart.pointed.connect(heard.append)
    stops = [bar for bar in chart.bars if bar.focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert stops == [chart.bars[-1]]
    for number, key, reached in (
        (3, Qt.Key.Key_Left, 2),
        (2, Qt.Key.Key_Home, 0),
        (0, Qt.Key.Key_Left, 0),
        (0, Qt.Key.Key_Right, 1),
        (1, Qt.Key.Key_End, 3),
    ):
        chart.bars[number].setFocus()
        QTest.keyClick(chart.bars[number], key)
        stops = [bar for bar in chart.bars if bar.focusPolicy() & Qt.FocusPolicy.TabFocus]
        assert stops == [chart.bars[reached]]
        assert chart.bars[reached].hasFocus()
    assert heard[-1] == VALUES[3].words


def test_pointing_says_it_too(chart: BarChart) -> None:
    heard: list[str] = []
    chart.pointed.connect(heard.append)
    middle = QPointF(2, 2)
    chart.bars[2].enterEvent(QEnterEvent(middle, middle, middle))
    chart.bars[2].leaveEvent(None)
    assert heard == [VALUES[2].words, ""]


@pytest.mark.parametrize(("count", "width"), [(1, 300), (7, 500), (30, 700), (31, 300), (92, 400)])
def test_labels_keep_clear_of_one_another(qtbot: QtBot, count: int, width: int) -> None:
    made = BarChart(LIGHT)
    qtbot.addWidget(made)
    made.resize(width, 200)
    made.show_values([Value(1.0, f"{n} November", "") for n in range(count)], "$1.00")
    placed = sorted(made.labels())
    assert placed
    ends = [left + made.fontMetrics().horizontalAdvance(text) for left, text in placed]
    assert all(end < left for end, (left, _text) in zip(ends, placed[1:], strict=False))
    assert placed[0][0] >= 0
    assert ends[-1] <= max(width, made.width())


def test_nothing_to_show_is_an_empty_ground(qtbot: QtBot) -> None:
    made = BarChart(DARK)
    qtbot.addWidget(made)
    made.show_values(VALUES, "$4.00")
    made.show_values([], "")
    made.show()
    assert made.bars == []
    assert made.labels() == []
    assert made.childAt(QPoint(20, 60)) is None
