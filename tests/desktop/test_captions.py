"""The line of what is being said."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from desktop.captions import Captions
from desktop.theme import DARK, LIGHT


@pytest.fixture
def captions(qtbot: QtBot) -> Captions:
    made = Captions(LIGHT)
    qtbot.addWidget(made)
    made.resize(500, 60)
    return made


def test_it_is_there_while_something_is_said(captions: Captions) -> None:
    assert captions.isHidden()
    captions.begin("Rain falls from clouds", 1.0)
    assert captions.isVisible()
    assert captions.text.accessibleName() == "Rain falls from clouds"
    captions.end()
    assert captions.isHidden()
    captions.begin("  ", 1.0)
    assert captions.isHidden()


def test_words_are_heard_one_after_the_other(qtbot: QtBot, captions: Captions) -> None:
    captions.begin("Rain falls <from> clouds & mist", 0.2)
    assert captions.heard == "Rain"
    assert LIGHT.muted.name() in captions.text.text()
    assert "&lt;from&gt;" in captions.text.text()
    qtbot.waitUntil(lambda: captions.heard == "Rain falls <from> clouds & mist")


def test_the_next_clause_takes_its_place_and_the_line_does_not_shrink(captions: Captions) -> None:
    captions.begin("A long clause " * 12, 5.0)
    high = captions.text.minimumHeight()
    captions.begin("Short.", 5.0)
    assert captions.heard == "Short."
    assert captions.text.minimumHeight() == high
    captions.set_theme(DARK)
    captions.end()
    assert captions.text.minimumHeight() == 0


def test_the_button_asks_for_silence(qtbot: QtBot, captions: Captions) -> None:
    captions.begin("Rain", 1.0)
    with qtbot.waitSignal(captions.stop_requested):
        captions.stop.click()
    captions.end()
