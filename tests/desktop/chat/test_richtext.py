"""Markdown becomes a styled document, and nothing in it reaches outside."""

from __future__ import annotations

import base64

import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QColor, QImage, QImageWriter, QTextBlock, QTextCharFormat, QTextDocument
from pytestqt.qtbot import QtBot

from desktop.chat.richtext import document, plain_document
from desktop.chat.style import QUOTE, Style
from desktop.theme import LIGHT


@pytest.fixture
def style(qtbot: QtBot) -> Style:
    del qtbot
    return Style(LIGHT)


def blocks(made: QTextDocument) -> list[QTextBlock]:
    found, block = [], made.begin()
    while block.isValid():
        found.append(block)
        block = block.next()
    return found


def looks(block: QTextBlock) -> dict[str, QTextCharFormat]:
    """The formats of a block's runs of text, by text."""
    return {
        block.text()[run.start : run.start + run.length]: QTextCharFormat(run.format)
        for run in block.textFormats()
    }


def links(made: QTextDocument) -> list[str]:
    runs = [look for block in blocks(made) for look in looks(block).values()]
    return [look.anchorHref() for look in runs if look.isAnchor()]


def test_headings_emphasis_and_code_are_styled(style: Style) -> None:
    made = document(style, "## Head\n\n**bold** *slanted* ~~gone~~ `code`")
    assert blocks(made)[0].blockFormat().headingLevel() == 2
    found = looks(blocks(made)[1])
    assert found["bold"].fontWeight() > 500
    assert found["slanted"].fontItalic()
    assert found["gone"].fontStrikeOut()
    assert found["code"].fontFixedPitch()


def test_lists_nest_and_tasks_have_marks(style: Style) -> None:
    made = document(style, "3. a\n   - b\n4. c\n\n- [x] done\n- [ ] open")
    found = {block.text(): block for block in blocks(made)}
    assert found["a"].textList().format().start() == 3
    assert found["b"].textList().format().indent() == 2
    assert found["c"].textList().itemNumber(found["c"]) == 1
    marks = [found[name].blockFormat().marker().name for name in ("done", "open")]
    assert marks == ["Checked", "Unchecked"]


def test_tables_have_cells_and_alignment(style: Style) -> None:
    made = document(style, "| a | b |\n|---|--:|\n| 1 | 2 |")
    texts = [block.text() for block in blocks(made) if block.text()]
    assert texts == ["a", "b", "1", "2"]
    last = next(block for block in blocks(made) if block.text() == "2")
    assert last.blockFormat().alignment() & Qt.AlignmentFlag.AlignRight


def test_quotes_know_their_depth(style: Style) -> None:
    made = document(style, "> a\n>\n> > b")
    assert [block.blockFormat().property(QUOTE) for block in blocks(made)] == [1, 2]


@pytest.mark.parametrize(
    "source",
    [
        "[x](javascript:alert(1))",
        "[x](file:///etc/passwd)",
        "[x](data:text/html;base64,AAAA)",
        "[x](../secret)",
    ],
)
def test_forbidden_links_are_only_text(style: Style, source: str) -> None:
    made = document(style, source)
    assert links(made) == []
    assert "x" in made.toPlainText()


def test_allowed_and_bare_links_lead_somewhere(style: Style) -> None:
    made = document(style, "[a](https://a.example) and https://b.example/x. <c@d.example>")
    assert links(made) == ["https://a.example", "https://b.example/x", "mailto:c@d.example"]


@pytest.mark.parametrize(
    "source", ["![cat](file:///cat.png)", "![cat](https://a.example/cat.png)", "![cat](cat.png)"]
)
def test_pictures_are_never_fetched(style: Style, source: str) -> None:
    made = document(style, source)
    assert made.toPlainText() == "[cat]"


def test_embedded_pictures_are_shown(style: Style) -> None:
    image = QImage(2000, 1000, QImage.Format.Format_RGB32)
    image.fill(QColor("red"))
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert QImageWriter(buffer, QByteArray(b"png")).write(image)
    data = base64.b64encode(bytes(buffer.data().data())).decode()
    made = document(style, f"![red](data:image/png;base64,{data})")
    look = next(iter(looks(blocks(made)[0]).values())).toImageFormat()
    assert look.isValid()
    assert look.width() <= style.space(130)
    assert look.width() == 2 * look.height()


def test_a_broken_picture_is_its_name(style: Style) -> None:
    assert document(style, "![red](data:image/png;base64,AAAA)").toPlainText() == "[red]"


def test_right_to_left_paragraphs_run_right_to_left(style: Style) -> None:
    made = document(style, "hello\n\nשלום עולם")
    directions = [block.textDirection() for block in blocks(made)]
    assert directions == [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft]


def test_positions_in_plain_documents_are_positions_in_the_text(style: Style) -> None:
    text = "a\x00\nb\ud800😀\r\nc"
    made = plain_document(style, text, style.text())
    assert made.characterCount() - 1 == len(text) + 1
    assert made.toPlainText()[1] == "␀"
