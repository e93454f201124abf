"""The small editor in which a message that was sent is rewritten."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from desktop.chat.style import Style
from resources.translation import _


class Editor(QWidget):
    """Starts with `text`; `sent` carries the new one, `closed` follows always. Enter sends, Escape closes."""

    sent = Signal(object)
    closed = Signal()

    def __init__(self, text: str, style: Style, parent: QWidget) -> None:
        super().__init__(parent)
        theme, space = style.theme, style.space
        self.setObjectName("edit_message")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setStyleSheet(
            f"#edit_message {{ background: {theme.raised.name()}; border: 2px solid {theme.accent.name()};"
            f" border-radius: {space(3)}px; }}"
            f"QPlainTextEdit {{ background: transparent; border: none; color: {theme.text.name()}; }}"
        )
        self.field = QPlainTextEdit(text)
        self.field.setAccessibleName(_("Edit your message"))
        self.field.setFont(style.body)
        self.field.installEventFilter(self)
        send, cancel = QPushButton(_("Send again")), QPushButton(_("Cancel"))
        send.clicked.connect(self._send)
        cancel.clicked.connect(self.closed)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(send)
        column = QVBoxLayout(self)
        column.setContentsMargins(space(3), space(2), space(3), space(2))
        column.addWidget(self.field, 1)
        column.addLayout(buttons)
        self.field.setFocus()
        self.field.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            if event.key() == Qt.Key.Key_Escape:
                self.closed.emit()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not shift:
                self._send()
                return True
        return super().eventFilter(watched, event)

    def _send(self) -> None:
        text = self.field.document().toRawText().replace("\u2029", "\n")
        if text.strip():
            self.sent.emit(text)
            self.closed.emit()
