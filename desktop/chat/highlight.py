"""Colours code in small steps, so that no block however long holds up the window."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QColor, QTextCharFormat, QTextDocument, QTextLayout
from shiboken6 import isValid

from desktop.chat.plain import visible

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_SLICE = 0.004
_MOST = 200_000
_LIGHT = {
    "Comment": "#6a737d", "Keyword": "#8a2f8f", "Name.Function": "#1f5fa8", "Name.Class": "#1f5fa8",
    "Name.Builtin": "#0f6872", "Name.Decorator": "#855600", "Name.Tag": "#1f5fa8",
    "Name.Attribute": "#855600",
    "Literal.String": "#2c6b2f", "Literal.Number": "#9a4a00", "Operator.Word": "#8a2f8f",
    "Generic.Deleted": "#b3261e", "Generic.Inserted": "#1d6a3b", "Generic.Heading": "#5c636a",
    "Generic.Subheading": "#1f5fa8", "Error": "#1f2326",
}  # fmt: skip
_DARK = {
    "Comment": "#8b949e", "Keyword": "#d69adf", "Name.Function": "#86b8f2", "Name.Class": "#86b8f2",
    "Name.Builtin": "#5cc0ca", "Name.Decorator": "#e6b65a", "Name.Tag": "#86b8f2",
    "Name.Attribute": "#e6b65a",
    "Literal.String": "#8fd19a", "Literal.Number": "#f0ab7a", "Operator.Word": "#d69adf",
    "Generic.Deleted": "#f38b82", "Generic.Inserted": "#74ca92", "Generic.Heading": "#a0a8b0",
    "Generic.Subheading": "#86b8f2", "Error": "#e6e9eb",
}  # fmt: skip


@lru_cache(maxsize=64)
def lexer(language: str) -> Lexer | None:
    """The lexer for a fence's label; None when the language is unknown or plain text."""
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    if not language or language.lower() in ("text", "plain", "txt", "output"):
        return None
    try:
        return get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


@cache
def _palette(dark: bool) -> dict[str, QTextCharFormat]:
    made = {}
    for name, value in (_DARK if dark else _LIGHT).items():
        made[name] = QTextCharFormat()
        made[name].setForeground(QColor(value))
    return made


def _format(kind: str, dark: bool) -> QTextCharFormat | None:
    palette = _palette(dark)
    while kind:
        if kind in palette:
            return palette[kind]
        kind = kind.rpartition(".")[0]
    return None


class Highlighter(QObject):
    """Works through documents a few milliseconds at a time; `coloured` names a document whose look changed.

    Colours are laid over the text: the document's own formats stay as they are.
    """

    coloured = Signal(object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._jobs: list[tuple[QTextDocument, Iterator[None]]] = []
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self.work)

    def add(self, document: QTextDocument, text: str, language: str, dark: bool) -> None:
        """Colour `document`, which shows exactly `text`."""
        found = lexer(language) if len(text) <= _MOST else None
        if found is not None:
            self._jobs = [job for job in self._jobs if job[0] is not document]
            self._jobs.append((document, _paint(document, visible(text), found, dark)))
            self._timer.start()

    @property
    def busy(self) -> bool:
        """Whether some document still waits for colours."""
        return bool(self._jobs)

    def work(self) -> None:
        """Do the next few milliseconds of colouring."""
        deadline = time.perf_counter() + _SLICE
        while self._jobs and time.perf_counter() < deadline:
            document, steps = self._jobs[0]
            if not isValid(document) or next(steps, True):
                self._jobs.pop(0)
                self.coloured.emit(document)
        if not self._jobs:
            self._timer.stop()


def _paint(document: QTextDocument, text: str, found: Lexer, dark: bool) -> Iterator[None]:
    """Lay colours over the blocks of `document`, yielding after each block."""
    block = document.firstBlock()
    ranges: list[QTextLayout.FormatRange] = []
    column = 0
    for kind, value in found.get_tokens(text + "\n"):
        look = _format(str(kind)[6:], dark)
        for part in value.splitlines(keepends=True):
            size = len(part) if part.isascii() else len(part.encode("utf-16-le")) // 2
            if look is not None and part.strip():
                span = QTextLayout.FormatRange()
                span.start, span.length, span.format = column, size, look
                ranges.append(span)
            column += size
            if part.endswith("\n"):
                _lay(document, block, ranges)
                block, ranges, column = block.next(), [], 0
                yield
                if not block.isValid():
                    return
    _lay(document, block, ranges)


def _lay(document: QTextDocument, block: object, ranges: list[QTextLayout.FormatRange]) -> None:
    from PySide6.QtGui import QTextBlock

    if isinstance(block, QTextBlock) and block.isValid() and ranges:
        block.layout().setFormats(ranges)
        document.markContentsDirty(block.position(), block.length())
