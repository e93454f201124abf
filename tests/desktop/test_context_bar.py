"""The bar says how full the window is, and the panel what fills it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from desktop.context_bar import NEARLY, ContextBar, ContextPanel, shades
from desktop.theme import DARK, LIGHT, Theme, contrast

STATS = {"window": 8192, "system": 92, "directives": 0, "memory": 0, "documents": 0, "tools": 300}
STATS |= {"history": 1600, "message": 8, "answer": 1024, "free": 5168, "compactions": 0}


@pytest.fixture
def ground(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    made.resize(800, 600)
    return made


@pytest.fixture
def bar(ground: QWidget) -> ContextBar:
    made = ContextBar(LIGHT, ground)
    made.setGeometry(560, 560, 220, 24)
    return made


@pytest.fixture
def panel(ground: QWidget, bar: ContextBar) -> ContextPanel:
    made = ContextPanel(LIGHT, ground, bar)
    ground.show()
    return made


def said(panel: ContextPanel) -> list[str]:
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]


def test_the_bar_says_its_numbers(bar: ContextBar) -> None:
    assert bar.share == 0.0
    assert bar.words() == "Context"
    bar.set_used(4096, 8192)
    assert bar.words() == "50 % of 8,192 tokens"
    assert bar.accessibleName() == "Context: 4,096 of 8,192 tokens in use, 50 %"
    bar.set_used(9000, 8192)
    assert bar.share == 1.0 >= NEARLY
    bar.reset()
    assert bar.words() == "Context"


def test_a_pointer_that_rests_and_a_press_ask(qtbot: QtBot, ground: QWidget, bar: ContextBar) -> None:
    ground.show()
    with qtbot.waitSignal(bar.asked):
        QTest.mouseMove(bar)
        bar._rest.start()
    with qtbot.waitSignal(bar.clicked):
        QTest.keyClick(bar, Qt.Key.Key_Return)


def test_the_panel_shows_every_share(ground: QWidget, panel: ContextPanel, bar: ContextBar) -> None:
    panel.open_waiting(pinned=True)
    assert "Counting…" in said(panel)
    panel.show_stats(STATS)
    words = said(panel)
    assert "2,000 of 8,192 tokens are in use; 5,168 are free." in words
    for name, tokens in (("Tools", "300"), ("This conversation", "1,600"), ("Kept for the answer", "1,024")):
        assert words[words.index(name) + 1] == tokens
    assert "Directives" not in words
    assert "This conversation 1,600" in panel.accessibleName()
    assert (bar.used, bar.window_size) == (1992, 8192)
    assert panel.geometry().bottom() < bar.geometry().top()
    assert ground.rect().contains(panel.geometry())


def test_compactions_are_named(panel: ContextPanel) -> None:
    panel.open_waiting(pinned=True)
    panel.show_stats(STATS | {"compactions": 2})
    assert any("2 times" in words for words in said(panel))
    panel.show_stats(STATS)
    assert panel.note.isHidden()


def test_a_model_that_does_not_say_its_window(panel: ContextPanel) -> None:
    panel.open_waiting(pinned=True)
    panel.show_stats(STATS | {"window": 0, "free": 0})
    assert any("does not say" in words for words in said(panel))
    assert "Free" not in said(panel)


def test_trouble_is_a_sentence(panel: ContextPanel) -> None:
    panel.open_waiting(pinned=True)
    panel.show_stats(STATS)
    panel.show_trouble("No model.")
    assert said(panel) == ["What the model reads", "No model."]


def test_a_glance_ends_with_the_pointer_and_a_press_with_escape(
    qtbot: QtBot, ground: QWidget, panel: ContextPanel, bar: ContextBar
) -> None:
    field = QLineEdit(ground)
    field.show()
    ground.activateWindow()
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    panel.open_waiting(pinned=False)
    panel.end_glance()
    assert panel.isHidden()
    panel.open_waiting(pinned=True)
    panel.end_glance()
    assert panel.isVisible()
    assert bar.hasFocus()
    QTest.keyClick(bar, Qt.Key.Key_Escape)
    assert panel.isHidden()
    assert field.hasFocus()


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_every_share_stands_out_from_what_is_free(theme: Theme) -> None:
    free = shades(theme)["free"]
    assert all(contrast(ink, free) > 1.15 for name, ink in shades(theme).items() if name != "free")
