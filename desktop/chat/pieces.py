"""One document inside a row: estimated until seen, built and measured when seen, forgotten when unused."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Literal

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QPainter,
    QPalette,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)

from desktop.chat.highlight import Highlighter
from desktop.chat.plain import cut, units, visible
from desktop.chat.richtext import document, plain_document
from desktop.chat.style import QUOTE, Style

Kind = Literal["prose", "plain", "code", "diff"]
Tone = Literal["text", "muted", "danger"]


@dataclass(frozen=True, slots=True)
class Spec:
    """What a piece shows: `prose` is Markdown, `boxed` code has a frame; `follows`, `glued` as in Chunk."""

    kind: Kind
    text: str
    language: str = ""
    tone: Tone = "text"
    follows: bool = False
    glued: bool = False
    definitions: str = ""
    boxed: bool = True


class Documents:
    """The documents in use, the oldest dropped beyond `most`; pieces that a widget shows are kept."""

    def __init__(self, highlighter: Highlighter, most: int = 240) -> None:
        self.highlighter = highlighter
        self.most = most
        self._used: OrderedDict[int, Piece] = OrderedDict()

    def __len__(self) -> int:
        return len(self._used)

    def touch(self, piece: Piece) -> None:
        """Note that `piece` was just used."""
        self._used[id(piece)] = piece
        self._used.move_to_end(id(piece))
        if len(self._used) > self.most:
            for key, old in list(self._used.items())[: len(self._used) - self.most]:
                if not old.pinned and old is not piece:
                    old.document = None
                    del self._used[key]

    def forget(self, piece: Piece) -> None:
        """Drop the document of a piece that is no longer shown."""
        self._used.pop(id(piece), None)
        piece.document = None

    def clear(self) -> None:
        """Drop every document."""
        for piece in self._used.values():
            piece.document = None
        self._used.clear()


class Piece:
    """A spec with its place in the row (`x`, `y`, `width`, `height`, pixels) and, once seen, its document."""

    def __init__(self, spec: Spec, style: Style, documents: Documents) -> None:
        self.spec, self.style, self.documents = spec, style, documents
        self.x = self.y = self.width = self.height = 0
        self.measured = False
        self.pinned = False
        self.fit = False
        self.used = 0
        self.document: QTextDocument | None = None
        self.quotes: list[tuple[QRectF, int]] = []

    # --- size

    @property
    def box(self) -> bool:
        """Whether a code box is drawn around it."""
        return self.spec.kind in ("code", "diff") and self.spec.boxed

    @property
    def inset(self) -> tuple[int, int, int]:
        """Space left and right, above and below the text inside the piece."""
        if not self.box:
            return 0, 0, 0
        space = self.style.space
        return space(3.5), space(1) if self.spec.follows else space(8), space(3)

    def place(self, x: int, width: int) -> None:
        """Give it a column; a new width makes the height an estimate again."""
        self.x = x
        if width != self.width:
            self.width, self.measured = width, False
            self.height, self.used = self.estimate(width), width

    def estimate(self, width: int) -> int:
        """A guess of the height without building anything."""
        side, above, below = self.inset
        code = self.spec.kind in ("code", "diff")
        line = self.style.code_line if code else self.style.line
        per_line = max(8, (width - 2 * side) / self.style.letter)
        lines = max(self.spec.text.count("\n") + 1, len(self.spec.text) / per_line)
        return round(above + below + lines * line)

    def measure(self) -> int:
        """Build the document if needed and return by how much the height changed."""
        shown = self.ready()
        if self.measured:
            return 0
        side, above, below = self.inset
        shown.setTextWidth(max(16, self.width - 2 * side))
        if self.fit and shown.idealWidth() < self.width:
            self.used = math.ceil(shown.idealWidth()) + 1
            shown.setTextWidth(self.used)
        height = round(shown.size().height() + above + below + 0.5)
        change, self.height, self.measured = height - self.height, height, True
        self.quotes = _quotes(shown) if self.spec.kind == "prose" else []
        return change

    # --- the document

    def ready(self) -> QTextDocument:
        """The document, built if it is not there."""
        if self.document is None:
            self.document = self._build()
            side, _above, _below = self.inset
            if self.measured:
                self.document.setTextWidth(max(16, self.used - 2 * side))
        self.documents.touch(self)
        return self.document

    def update(self, spec: Spec) -> None:
        """Show `spec` instead; text that only grew is appended."""
        old, self.spec = self.spec, spec
        if old == spec:
            return
        self.measured = False
        grew = spec.kind != "prose" and old.kind == spec.kind and spec.text.startswith(old.text)
        if self.document is not None and grew and old.tone == spec.tone:
            cursor = QTextCursor(self.document)
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(visible(spec.text[len(old.text) :]), self._look())
            if spec.kind != "plain":
                self._colour(self.document)
        elif self.document is not None:
            self.documents.forget(self)

    def _build(self) -> QTextDocument:
        spec = self.spec
        if spec.kind == "prose":
            style = self.style.quiet if spec.tone == "muted" else self.style
            return document(style, spec.text, spec.definitions)
        made = plain_document(self.style, spec.text, self._look(), 125 if spec.kind == "plain" else 120)
        if spec.kind != "plain":
            self._colour(made)
        return made

    def _colour(self, made: QTextDocument) -> None:
        language = "diff" if self.spec.kind == "diff" else self.spec.language
        self.documents.highlighter.add(made, self.spec.text, language, self.style.theme.dark)

    def _look(self) -> QTextCharFormat:
        theme = self.style.theme
        colour = {"text": theme.text, "muted": theme.muted, "danger": theme.danger}[self.spec.tone]
        return self.style.text(colour) if self.spec.kind == "plain" else self.style.code(colour)

    # --- text

    def plain(self, start: int = 0, end: int | None = None) -> str:
        """The text between two document positions: the source where that is shown, else what is seen."""
        if self.spec.kind != "prose":
            return cut(self.spec.text, start, units(self.spec.text) if end is None else end)
        shown = self.ready()
        cursor = QTextCursor(shown)
        last = shown.characterCount() - 1
        cursor.setPosition(min(start, last))
        cursor.setPosition(last if end is None else min(end, last), QTextCursor.MoveMode.KeepAnchor)
        text = cursor.selectedText().replace("\ufdd0", "\n").replace("\ufdd1", "")
        return text.replace("\u2029", "\n").replace("\u2028", "\n").replace("\xa0", " ").strip("\ufdd1")

    def position(self, x: float, y: float) -> int:
        """The document position nearest to a point in row coordinates."""
        shown, (dx, dy) = self.ready(), self._origin()
        layout = shown.documentLayout()
        found = layout.hitTest(QPointF(x - dx, max(0.0, y - dy)), Qt.HitTestAccuracy.FuzzyHit)
        return max(0, found)

    def link(self, x: float, y: float) -> str:
        """The address of the link at a point in row coordinates, or an empty string."""
        if self.document is None:
            return ""
        dx, dy = self._origin()
        return self.document.documentLayout().anchorAt(QPointF(x - dx, y - dy))

    def caret(self, position: int) -> QRectF:
        """The rectangle of the caret at a document position, in row coordinates."""
        shown, (dx, dy) = self.ready(), self._origin()
        block = shown.findBlock(position)
        where = shown.documentLayout().blockBoundingRect(block).topLeft()
        line = block.layout().lineForTextPosition(position - block.position())
        if not line.isValid():
            return QRectF(dx + where.x(), dy + where.y(), 1, self.style.line)
        left: Any = line.cursorToX(position - block.position())
        x = float(left[0] if isinstance(left, tuple) else left)
        return QRectF(dx + where.x() + x, dy + where.y() + line.y(), 1, line.height())

    def text_rect(self) -> QRect:
        """Where the text lies, without the box around it, in row coordinates."""
        _side, above, below = self.inset
        dx, dy = self._origin()
        return QRect(dx, dy, self.used - 2 * self.inset[0], max(1, self.height - above - below))

    def _origin(self) -> tuple[int, int]:
        side, above, _below = self.inset
        return self.x + side, self.y + above

    # --- drawing

    def paint(self, painter: QPainter, clip: QRectF, selected: tuple[int, int] | None) -> None:
        """Draw it in row coordinates; `selected` are document positions."""
        if self.box:
            self._paint_box(painter)
        if self.pinned:
            return
        shown, (dx, dy) = self.ready(), self._origin()
        painter.save()
        painter.translate(dx, dy)
        for bar, level in self.quotes:
            for step in range(level):
                left = step * self.style.space(4)
                ground = QRectF(left, bar.top(), max(2, self.style.space(0.75)), bar.height())
                painter.fillRect(ground, self.style.theme.border)
        context = QAbstractTextDocumentLayout.PaintContext()
        context.clip = clip.translated(-dx, -dy)
        context.palette.setColor(QPalette.ColorRole.Text, self.style.theme.text)
        if selected and selected[0] < selected[1]:
            context.selections = [self._selection(shown, *selected)]
        shown.documentLayout().draw(painter, context)
        painter.restore()

    def _selection(self, shown: QTextDocument, start: int, end: int) -> QAbstractTextDocumentLayout.Selection:
        made = QAbstractTextDocumentLayout.Selection()
        last = shown.characterCount() - 1
        cursor = QTextCursor(shown)
        cursor.setPosition(min(start, last))
        cursor.setPosition(min(end, last), QTextCursor.MoveMode.KeepAnchor)
        look = QTextCharFormat()
        look.setBackground(self.style.theme.selection)
        if self.spec.kind == "prose":
            look.setForeground(self.style.theme.text)
        made.cursor, made.format = cursor, look
        return made

    def _paint_box(self, painter: QPainter) -> None:
        theme, space = self.style.theme, self.style.space
        box = QRectF(self.x, self.y, self.width, self.height).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(theme.border)
        painter.setBrush(theme.code_background)
        painter.drawRoundedRect(box, space(2), space(2))
        if self.spec.follows:
            painter.fillRect(box.adjusted(0, -space(3), 0, -self.height + space(3)), theme.code_background)
            return
        if label := self.spec.language or ("diff" if self.spec.kind == "diff" else ""):
            painter.setFont(self.style.small)
            painter.setPen(QColor(theme.muted))
            head = QRectF(self.x + space(3.5), self.y + space(0.5), self.width * 0.6, space(7))
            painter.drawText(head, Qt.AlignmentFlag.AlignVCenter, visible(label[:40]))


def _quotes(shown: QTextDocument) -> list[tuple[QRectF, int]]:
    """Stretches of quoted blocks with their depth, in document coordinates."""
    found: list[tuple[QRectF, int]] = []
    block: QTextBlock = shown.begin()
    while block.isValid():
        level = int(block.blockFormat().property(QUOTE) or 0)
        if level:
            area = shown.documentLayout().blockBoundingRect(block)
            if found and found[-1][1] == level and area.top() - found[-1][0].bottom() < 40:
                found[-1] = (found[-1][0].united(area), level)
            else:
                found.append((area, level))
        block = block.next()
    return found
