"""Builds the document of one chunk of Markdown from its tokens, in the transcript's own typography."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import (
    QBrush,
    QFont,
    QImage,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextImageFormat,
    QTextLength,
    QTextList,
    QTextListFormat,
    QTextTable,
    QTextTableFormat,
)

from desktop.chat import markdown
from desktop.chat.plain import visible
from desktop.chat.style import QUOTE, Style

if TYPE_CHECKING:
    from markdown_it.token import Token

_BARE_LINK = re.compile(r"https?://[^\s<>\"'`]+[^\s<>\"'`.,;:!?)\]}*_]")
_TASK = re.compile(r"^\[([ xX])\]\s+")
_MAX_IMAGE = 6_000_000
_MAX_COLUMNS = 40


def document(style: Style, source: str, definitions: str = "") -> QTextDocument:
    """A new document showing the Markdown `source`; the caller owns it. Nothing is fetched from anywhere."""
    made = empty_document(style)
    _Writer(made, style).write(markdown.tokens(visible(source), definitions))
    return made


def plain_document(style: Style, text: str, look: QTextCharFormat, line: int = 125) -> QTextDocument:
    """A new document showing `text` as it is; positions in it are UTF-16 positions in `text`."""
    made = empty_document(style)
    cursor = QTextCursor(made)
    cursor.setBlockFormat(style.paragraph(line=line))
    cursor.insertText(visible(text), look)
    return made


def empty_document(style: Style) -> QTextDocument:
    """A document with the transcript's defaults and no undo history."""
    made = QTextDocument()
    made.setUndoRedoEnabled(False)
    made.setDocumentMargin(0)
    made.setDefaultFont(style.body)
    made.setIndentWidth(style.space(6))
    return made


class _Writer:
    """Writes tokens at the end of one document."""

    def __init__(self, made: QTextDocument, style: Style) -> None:
        self.document = made
        self.style = style
        self.cursor = QTextCursor(made)
        self.fresh = True
        self.lists: list[QTextList | QTextListFormat] = []
        self.item = False
        self.tight = False
        self.quotes = 0

    def write(self, tokens: list[Token]) -> None:
        at = 0
        while at < len(tokens):
            token = tokens[at]
            match token.type:
                case "heading_open":
                    level = int(token.tag[1])
                    block = self.style.paragraph(before=5 if level < 4 else 3, after=1, line=115)
                    block.setHeadingLevel(level)
                    self._inline(tokens[at + 1], self._block(block), self.style.heading(level))
                case "paragraph_open":
                    self.tight = token.hidden
                    first = bool(self.lists) and isinstance(self.lists[-1], QTextListFormat)
                    apart = (
                        2
                        if first and len(self.lists) == 1
                        else 0.75
                        if self.tight
                        else 2
                        if self.lists
                        else 3
                    )
                    block = self.style.paragraph(before=apart)
                    self._inline(tokens[at + 1], self._block(block), self._ink())
                case "fence" | "code_block":
                    self._code(token)
                case "bullet_list_open" | "ordered_list_open":
                    self._open_list(token)
                case "bullet_list_close" | "ordered_list_close":
                    self.lists.pop()
                case "list_item_open":
                    self.item = True
                case "blockquote_open":
                    self.quotes += 1
                case "blockquote_close":
                    self.quotes -= 1
                case "hr":
                    self._rule()
                case "table_open":
                    end = next(n for n in range(at, len(tokens)) if tokens[n].type == "table_close")
                    self._table(tokens[at:end])
                    at = end
            at += 1

    def _ink(self) -> QTextCharFormat:
        return self.style.text(self.style.theme.muted if self.quotes else None)

    def _block(self, block: QTextBlockFormat) -> QTextBlockFormat:
        """Start a block of this format where the writer stands."""
        if self.quotes:
            block.setLeftMargin(self.style.space(4) * self.quotes)
            block.setProperty(QUOTE, self.quotes)
        if self.fresh:
            block.setTopMargin(0)
            self.cursor.setBlockFormat(block)
        else:
            self.cursor.insertBlock(block, QTextCharFormat())
        self.fresh = False
        if self.lists and self.item:
            made = self.lists[-1]
            if isinstance(made, QTextListFormat):
                self.lists[-1] = self.cursor.createList(made)
            else:
                made.add(self.cursor.block())
        elif self.lists:
            block.setIndent(len(self.lists))
            self.cursor.setBlockFormat(block)
        self.item = False
        return block

    def _open_list(self, token: Token) -> None:
        look = QTextListFormat()
        depth = len(self.lists)
        styles = QTextListFormat.Style
        if token.type == "ordered_list_open":
            look.setStyle(styles.ListDecimal)
            start = int(token.attrs.get("start", 1))
            look.setStart(start if 0 <= start < 1_000_000 else 1)
        else:
            look.setStyle((styles.ListDisc, styles.ListCircle, styles.ListSquare)[depth % 3])
        look.setIndent(depth + 1)
        self.lists.append(look)

    def _code(self, token: Token) -> None:
        lines = token.content.rstrip("\n").split("\n")
        ground = QBrush(self.style.theme.code_background)
        for line in lines:
            block = self.style.paragraph(line=115)
            block.setNonBreakableLines(False)
            self._block(block)
            block = self.cursor.blockFormat()
            block.setBackground(ground)
            self.cursor.setBlockFormat(block)
            self.cursor.insertText(line, self.style.code())

    def _rule(self) -> None:
        block = self.style.paragraph(before=2, after=2, line=60)
        block.setProperty(
            QTextFormat.Property.BlockTrailingHorizontalRulerWidth,
            QTextLength(QTextLength.Type.PercentageLength, 100),
        )
        block.setProperty(QTextFormat.Property.BackgroundBrush, QBrush(self.style.theme.border))
        self._block(block)

    def _table(self, tokens: list[Token]) -> None:
        rows: list[list[Token]] = []
        inline: list[tuple[Token, Token]] = []
        for at, token in enumerate(tokens):
            if token.type == "tr_open":
                rows.append([])
            elif token.type in ("th_open", "td_open"):
                rows[-1].append(token)
                inline.append((token, tokens[at + 1]))
        columns = min(_MAX_COLUMNS, max((len(row) for row in rows), default=0))
        if not columns:
            return
        if self.fresh:
            self._block(self.style.paragraph(line=100))
        table = self.cursor.insertTable(len(rows), columns, self._table_format())
        cells = iter(inline)
        for y, row in enumerate(rows):
            for x in range(len(row)):
                opened, content = next(cells)
                if x < columns:
                    self._cell(table, y, x, opened, content)
        self.cursor.movePosition(QTextCursor.MoveOperation.End)

    def _table_format(self) -> QTextTableFormat:
        look = QTextTableFormat()
        look.setBorderCollapse(True)
        look.setBorder(1)
        look.setBorderBrush(QBrush(self.style.theme.border))
        look.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        look.setCellPadding(self.style.space(1.5))
        look.setCellSpacing(0)
        look.setTopMargin(self.style.space(3))
        look.setHeaderRowCount(1)
        return look

    def _cell(self, table: QTextTable, y: int, x: int, opened: Token, content: Token) -> None:
        cell = table.cellAt(y, x)
        head = opened.type == "th_open"
        if head:
            ground = cell.format()
            ground.setBackground(QBrush(self.style.theme.surface))
            cell.setFormat(ground)
        block = self.style.paragraph(line=115)
        align = str(opened.attrs.get("style", ""))
        if "center" in align:
            block.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        elif "right" in align:
            block.setAlignment(Qt.AlignmentFlag.AlignRight)
        outer, self.cursor = self.cursor, cell.firstCursorPosition()
        self.cursor.setBlockFormat(block)
        look = self.style.text()
        if head:
            look.setFontWeight(QFont.Weight.DemiBold)
        self._inline(content, block, look)
        self.cursor = outer

    def _inline(self, holder: Token, block: QTextBlockFormat, base: QTextCharFormat) -> None:
        children = holder.children or []
        stack = [base]
        first = True
        for token in children:
            match token.type:
                case "text":
                    text = token.content
                    if first and self.lists and (task := _TASK.match(text)):
                        text = text[task.end() :]
                        self._mark_task(done=task[1] != " ")
                    self._text(text, stack[-1])
                case "softbreak" | "hardbreak":
                    self.cursor.insertText("\u2028", stack[-1])
                case "code_inline":
                    self.cursor.insertText(token.content, self.style.inline_code(stack[-1]))
                case "math":
                    look = QTextCharFormat(stack[-1])
                    look.setFontItalic(True)
                    self.cursor.insertText(markdown.readable_math(token.content), look)
                case "image":
                    self._image(token, stack[-1])
                case "em_open" | "strong_open" | "s_open" | "link_open":
                    stack.append(self._nested(token, stack[-1]))
                case "em_close" | "strong_close" | "s_close" | "link_close":
                    stack.pop()
            first = False

    def _nested(self, token: Token, base: QTextCharFormat) -> QTextCharFormat:
        if token.type == "link_open":
            target = str(token.attrs.get("href", ""))
            return self.style.link(base, target) if markdown.allowed(target) else QTextCharFormat(base)
        look = QTextCharFormat(base)
        if token.type == "em_open":
            look.setFontItalic(True)
        elif token.type == "strong_open":
            look.setFontWeight(QFont.Weight.Bold)
        else:
            look.setFontStrikeOut(True)
        return look

    def _text(self, text: str, look: QTextCharFormat) -> None:
        at = 0
        if not look.isAnchor():
            for link in _BARE_LINK.finditer(text):
                self.cursor.insertText(text[at : link.start()], look)
                self.cursor.insertText(link[0], self.style.link(look, link[0]))
                at = link.end()
        self.cursor.insertText(text[at:], look)

    def _mark_task(self, *, done: bool) -> None:
        block = self.cursor.blockFormat()
        marks = QTextBlockFormat.MarkerType
        block.setMarker(marks.Checked if done else marks.Unchecked)
        self.cursor.setBlockFormat(block)

    def _image(self, token: Token, look: QTextCharFormat) -> None:
        source = str(token.attrs.get("src", ""))
        image = _embedded(source)
        if image is None:
            label = token.content or source[:80]
            target = self.style.link(look, source) if markdown.allowed(source) else look
            self.cursor.insertText(f"[{label}]", target)
            return
        name = f"data:{self.document.characterCount()}"
        self.document.addResource(QTextDocument.ResourceType.ImageResource.value, QUrl(name), image)
        shown = QTextImageFormat()
        shown.setName(name)
        shown.setToolTip(token.content)
        width = min(image.width(), self.style.space(130))
        shown.setWidth(width)
        shown.setHeight(max(1, round(image.height() * width / image.width())))
        self.cursor.insertImage(shown)


def _embedded(source: str) -> QImage | None:
    """The picture of a data: address, or None for anything else."""
    head, comma, body = source.partition(",")
    if not (comma and head.startswith("data:image/") and head.endswith(";base64") and len(body) < _MAX_IMAGE):
        return None
    try:
        raw = base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        return None
    image = QImage.fromData(raw)
    return None if image.isNull() or image.width() * image.height() > 40_000_000 else image
