"""Code is coloured over the text, in slices, and never changed."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QObject
from PySide6.QtGui import QTextDocument
from pytestqt.qtbot import QtBot

from desktop.chat.highlight import Highlighter, lexer


def finish(highlighter: Highlighter) -> None:
    while highlighter.busy:
        highlighter.work()


def test_every_line_gets_colours(qtbot: QtBot) -> None:
    owner = QObject()
    highlighter = Highlighter(owner)
    made = QTextDocument("def f():\n    return 1")
    with qtbot.waitSignal(highlighter.coloured):
        highlighter.add(made, made.toPlainText(), "python", False)
    assert made.firstBlock().layout().formats()
    assert made.lastBlock().layout().formats()
    assert made.toPlainText() == "def f():\n    return 1"


def test_the_last_line_of_a_diff_is_coloured(qtbot: QtBot) -> None:
    owner = QObject()
    highlighter = Highlighter(owner)
    made = QTextDocument("-a\n+b")
    highlighter.add(made, "-a\n+b", "diff", True)
    finish(highlighter)
    assert made.lastBlock().layout().formats()[0].length == 2


@pytest.mark.parametrize("language", ["", "nosuchlanguage", "text", "../../etc", "\x00"])
def test_unknown_labels_have_no_lexer(language: str) -> None:
    assert lexer(language) is None


def test_a_document_that_is_gone_is_let_go(qtbot: QtBot) -> None:
    owner = QObject()
    highlighter = Highlighter(owner)
    highlighter.add(QTextDocument("x = 1"), "x = 1", "python", False)
    finish(highlighter)
    assert not highlighter.busy
