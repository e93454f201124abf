"""Read-only text of fixed width, with the lines of a diff in their colours."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat
from PySide6.QtWidgets import QPlainTextEdit

from desktop.theme import Theme, mix

ROOM = 30
"""Pixels of padding and border around the lines of such a field."""


class CodeView(QPlainTextEdit):
    """Read-only text of fixed width that is as tall as it needs, up to a third of a small window."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setProperty("role", "code")
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByKeyboard | Qt.TextInteractionFlag.TextSelectableByMouse
        )
        self.setTabChangesFocus(True)
        self._colours = _DiffColours(theme, self)

    def fit(self, height: int) -> None:
        """Be as high as the text, at least three lines of it and at most `height`."""
        line = self.fontMetrics().lineSpacing()
        self.setFixedHeight(min(max(3, height // line), self.blockCount()) * line + ROOM)

    def set_theme(self, theme: Theme) -> None:
        self._colours.set_theme(theme)


class _DiffColours(QSyntaxHighlighter):
    """Added lines green, removed lines red, headers muted."""

    def __init__(self, theme: Theme, view: QPlainTextEdit) -> None:
        super().__init__(view.document())
        self._theme = theme

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        theme = self._theme
        if text.startswith(("+++", "---", "@@")):
            self.setFormat(0, len(text), _ink(theme.muted))
        elif text.startswith("+"):
            self.setFormat(0, len(text), _ink(theme.success, mix(theme.code_background, theme.success, 0.1)))
        elif text.startswith("-"):
            self.setFormat(0, len(text), _ink(theme.danger, mix(theme.code_background, theme.danger, 0.1)))


def _ink(colour: QColor, ground: QColor | None = None) -> QTextCharFormat:
    made = QTextCharFormat()
    made.setForeground(colour)
    if ground is not None:
        made.setBackground(ground)
    return made
