"""The chat as one widget: transcript, find bar, jump button, and what stands there when there is nothing."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QMimeData, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QPushButton, QStackedLayout, QVBoxLayout, QWidget

from desktop.chat import accessible, wording
from desktop.chat.canvas import Canvas
from desktop.chat.editor import Editor
from desktop.chat.find import FindBar, Finder
from desktop.chat.plain import without_surrogates
from desktop.chat.rows import ThinkingRow, ToolRow, UserRow
from desktop.chat.welcome import Kind, Welcome
from desktop.theme import LIGHT, Theme
from resources.translation import _
from runtime.events import Event, UserSaid

EXACT_TEXT = "application/x-orion-text"
"""Clipboard format with the copied text in UTF-16, for what plain text cannot carry (lone surrogates)."""


class ChatView(QWidget):
    """Shows one conversation. All slots run on the main thread; signals say what the user wants done."""

    undo_requested = Signal(str)
    retry_requested = Signal()
    edit_requested = Signal(str, object)
    fork_requested = Signal(str)
    continue_requested = Signal()
    link_activated = Signal(object)
    copy_done = Signal()
    read_requested = Signal(object)
    prompt_chosen = Signal(object)
    models_requested = Signal()

    def __init__(self, parent: QWidget | None = None, theme: Theme = LIGHT) -> None:
        super().__init__(parent)
        accessible.install()
        self._theme, self._scale = theme, 1.0
        self.canvas = Canvas(theme, self)
        self.canvas.setAccessibleName(_("Conversation"))
        self.welcome = Welcome(theme, self)
        self._find_room = QWidget(self)  # keeps what is found from lying under the find bar
        self._find_room.hide()
        self._stack = QStackedLayout()
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._find_room)
        column.addLayout(self._stack, 1)
        self._stack.addWidget(self.canvas)
        self._stack.addWidget(self.welcome)
        self._finder = Finder(self.canvas)
        self.find_bar = FindBar(self)
        self.find_bar.hide()
        self.jump = QPushButton(_("↓  Latest"), self)
        self.jump.setAccessibleName(_("Jump to the latest message"))
        self.jump.setCursor(Qt.CursorShape.PointingHandCursor)
        self.jump.hide()
        self._editor: Editor | None = None
        self._connect()
        self._dress()
        self.show_placeholder("empty", "")

    def _connect(self) -> None:
        self.canvas.acted.connect(self._on_acted)
        self.canvas.link_activated.connect(self.link_activated)
        self.canvas.bottom_left.connect(self._on_bottom_left)
        self.welcome.prompt_chosen.connect(self.prompt_chosen)
        self.welcome.models_requested.connect(self.models_requested)
        self.jump.clicked.connect(self._on_jump)
        self.find_bar.searched.connect(self._on_searched)
        self.find_bar.closed.connect(self.close_find)

    @property
    def theme(self) -> Theme:
        """What it is drawn in."""
        return self._theme

    # --- slots

    def show_rows(self, rows: list[dict[str, Any]]) -> None:
        """Show a stored conversation from its end; no rows shows the welcome."""
        self._close_editor()
        if rows:  # first its place, then its rows, so that they are laid out once
            self._stack.setCurrentWidget(self.canvas)
            self._column.activate()
        self.canvas.show_rows(rows)
        if not self.canvas.rows:
            self.show_placeholder("empty", self.welcome.words.text() if self.welcome.kind == "empty" else "")

    def on_event(self, event: Event) -> None:
        """Draw one live event."""
        self.canvas.on_event(event)
        if isinstance(event.body, UserSaid):
            self.canvas.to_end()
        if self.canvas.rows and self._stack.currentWidget() is not self.canvas:
            self._stack.setCurrentWidget(self.canvas)

    def clear(self) -> None:
        """Show an empty conversation."""
        self.show_rows([])

    def set_theme(self, theme: Theme) -> None:
        """Draw in another theme."""
        self._theme = theme
        self._dress()

    def set_text_scale(self, factor: float) -> None:
        """Draw text `factor` times as large as the theme says."""
        self._scale = factor
        self._dress()

    def show_placeholder(self, kind: Kind, text: str) -> None:
        """Show a state instead of the transcript; `text` says where the model runs or what is the matter."""
        self.welcome.show_state(kind, text)
        self._stack.setCurrentWidget(self.welcome)
        self.jump.hide()

    def find_text(self, text: str, forward: bool = True) -> bool:
        """Select and show the next (or previous) occurrence of `text`; whether there is one."""
        return self._finder.find(text, forward=forward)

    def open_find(self) -> None:
        """Open the find bar and put the keyboard into it."""
        self._find_room.show()
        self.find_bar.show()
        self.find_bar.raise_()
        self._place()
        self.find_bar.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.find_bar.field.selectAll()

    def close_find(self) -> None:
        """Close the find bar; the match stays selected."""
        self._find_room.hide()
        self.find_bar.hide()
        self.canvas.setFocus(Qt.FocusReason.OtherFocusReason)

    def copy_selection(self) -> None:
        """Copy what is selected, or the row in focus when nothing is."""
        text = self.canvas.selected_text()
        if not text and 0 <= self.canvas.focused < len(self.canvas.rows):
            text = wording.whole_text(self.canvas.rows[self.canvas.focused])
        self._copy(text)

    # --- what the user does

    def _on_acted(self, index: int, name: str, data: str) -> None:
        row = self.canvas.rows[index] if 0 <= index < len(self.canvas.rows) else None
        match name:
            case "copy_selection":
                self.copy_selection()
            case "copy" if row:
                self._copy(wording.whole_text(row))
            case "read" if row:
                self.read_requested.emit(wording.whole_text(row))
            case "code":
                self._copy(self.canvas.layout_of(index).code(int(data)))
            case "toggle" if isinstance(row, ToolRow | ThinkingRow | UserRow):
                row.open = not row.open
                self.canvas.touch(row)
            case "undo":
                self.undo_requested.emit(data)
            case "retry":
                self.retry_requested.emit()
            case "continue":
                self.continue_requested.emit()
            case "fork" if row:
                self.fork_requested.emit(row.id)
            case "edit" if isinstance(row, UserRow):
                self._edit(index, row)

    def _copy(self, text: str) -> None:
        if not text:
            return
        data = QMimeData()
        data.setText(without_surrogates(text))
        data.setData(EXACT_TEXT, text.encode("utf-16-le", "surrogatepass"))
        QGuiApplication.clipboard().setMimeData(data)
        self.copy_done.emit()

    def _edit(self, index: int, row: UserRow) -> None:
        self._close_editor()
        self._editor = editor = Editor(row.text, self.canvas.style_, self.canvas.viewport())
        editor.sent.connect(lambda text: self.edit_requested.emit(row.id, text))
        editor.closed.connect(self._close_editor)
        self.canvas.reveal(index)
        box = self.canvas.rect_of(index)
        space = self.canvas.style_.space
        height = min(max(box.height() + space(10), space(36)), self.canvas.viewport().height() - space(8))
        top = max(space(2), min(box.top(), self.canvas.viewport().height() - height - space(2)))
        editor.setGeometry(QRect(box.left(), top, box.width(), height))
        editor.show()
        editor.raise_()

    def _close_editor(self) -> None:
        if self._editor is not None:
            editor, self._editor = self._editor, None
            editor.hide()
            editor.deleteLater()
            self.canvas.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_bottom_left(self, left: bool) -> None:
        show = left and self._stack.currentWidget() is self.canvas
        if show != self.jump.isVisibleTo(self):
            self.jump.setVisible(show)
            self._place()
            self.jump.raise_()

    def _on_jump(self) -> None:
        self.canvas.to_end()
        self.canvas.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_searched(self, text: str, forward: bool, stay: bool) -> None:
        found = self._finder.find(text, forward=forward, stay=stay)
        if not found:
            self.canvas.selection.clear()
            self.canvas.viewport().update()
        self.find_bar.tell(self._finder.count(text), found=found)

    # --- looks

    def _dress(self) -> None:
        theme = self._theme.scaled(self._scale)
        self._close_editor()
        self.canvas.restyle(theme)
        self.welcome.restyle(theme)
        self.find_bar.restyle(theme)
        space = self.canvas.style_.space
        self.jump.setStyleSheet(
            f"QPushButton {{ color: {theme.text.name()}; background: {theme.raised.name()};"
            f" border: 1px solid {theme.border.name()}; border-radius: {space(3.5)}px;"
            f" padding: 0 {space(4)}px; min-height: {space(7.5)}px;"
            f" font-size: {theme.body_size * 0.95:.2f}pt; }}"
            f"QPushButton:hover, QPushButton:focus {{ border-color: {theme.accent.name()}; }}"
        )
        self._place()

    def _place(self) -> None:
        self.jump.adjustSize()
        space = self.canvas.style_.space
        self.jump.move((self.width() - self.jump.width()) // 2, self.height() - self.jump.height() - space(4))
        wide = min(self.width() - space(8), space(95))
        self.find_bar.setFixedWidth(max(120, wide))
        self.find_bar.adjustSize()
        self._find_room.setFixedHeight(self.find_bar.height() + space(5))
        self.find_bar.move(QPoint(self.width() - self.find_bar.width() - space(5), space(3)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._close_editor()
        self._place()
