"""The text field of the composer: grows with its text, sends on Enter, takes files and long pastes apart."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QBuffer, QCoreApplication, QEvent, QIODevice, QMimeData, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QImage,
    QInputMethodEvent,
    QKeyEvent,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from desktop.attachments import LONG_PASTE
from resources.translation import _

MOST_LINES = 9


class Editor(QPlainTextEdit):
    """Plain text of any size. `text_pasted` carries a paste too long to edit in place."""

    submitted = Signal()
    escaped = Signal()
    files_dropped = Signal(object)
    text_pasted = Signal(object)
    image_pasted = Signal(object)
    focus_changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(_("Message"))
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(4)
        self.document().documentLayout().documentSizeChanged.connect(lambda _size: self.fit())
        self.fit()

    def words(self) -> str:
        """The text as it was given; toPlainText would turn hard spaces and line separators into others."""
        return self.document().toRawText().replace("\u2029", "\n")

    def show_heard(self, text: str, stable: int, ink: QColor) -> None:
        """Show words that are still being spoken after what is written, without making them part of it, as
        an input method does; what lies beyond `stable` characters is in `ink`. "" takes them away."""
        if not text and not self.textCursor().block().layout().preeditAreaText():
            return
        if text:
            if not self.textCursor().atEnd():
                self.moveCursor(QTextCursor.MoveOperation.End)
            text, stable = self._apart(text, stable)
        dim = QTextCharFormat()
        dim.setForeground(ink)
        begin, end = _units(text[:stable]), _units(text)
        kinds = QInputMethodEvent.AttributeType
        looks = [QInputMethodEvent.Attribute(kinds.Cursor, end, 1, None)]
        if end > begin:
            looks.append(QInputMethodEvent.Attribute(kinds.TextFormat, begin, end - begin, dim))
        QCoreApplication.sendEvent(self, QInputMethodEvent(text, looks))
        self.fit()
        self.ensureCursorVisible()

    def add_words(self, text: str) -> None:
        """Write what was said after what is written, as one step of undo."""
        self.moveCursor(QTextCursor.MoveOperation.End)
        cursor = self.textCursor()
        cursor.beginEditBlock()
        cursor.insertText(self._apart(text, 0)[0])
        cursor.endEditBlock()
        self.ensureCursorVisible()

    def _apart(self, text: str, stable: int) -> tuple[str, int]:
        """`text` with a space before it where the last written word needs one."""
        written = self.words()
        needed = bool(written) and not written[-1].isspace()
        return (" " + text, stable + 1) if needed else (text, stable)

    def fit(self) -> None:
        """Be as tall as the text, up to nine lines."""
        lines = max(1, min(MOST_LINES, int(self.document().size().height())))
        margin = 2 * int(self.document().documentMargin())
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + margin + 6)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        if enter and plain:
            self.submitted.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.escaped.emit()
        elif enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
        elif enter:
            self.textCursor().insertBlock()
            self.ensureCursorVisible()
        else:
            super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasUrls() or source.hasImage() or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        files = [Path(url.toLocalFile()) for url in source.urls() if url.isLocalFile()]
        if files:
            self.files_dropped.emit(files)
        elif source.hasImage() and not source.hasText():
            self.image_pasted.emit(_png(source.imageData()))
        elif source.hasText() and len(source.text()) > LONG_PASTE:
            self.text_pasted.emit(source.text())
        elif source.hasText():
            self.textCursor().insertText(source.text())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.fit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit(False)


def _units(text: str) -> int:
    """How long `text` is as Qt counts, in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _png(image: QImage) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]  # a device is accepted, the types know a path
    return bytes(buffer.data().data())
