"""The keys of the transcript: moving over rows and acting on the one in focus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

if TYPE_CHECKING:
    from desktop.chat.canvas import Canvas

_ACTIONS = {
    Qt.Key.Key_C: ("copy",),
    Qt.Key.Key_E: ("edit",),
    Qt.Key.Key_B: ("fork",),
    Qt.Key.Key_R: ("retry",),
    Qt.Key.Key_U: ("undo",),
    Qt.Key.Key_Return: ("toggle", "continue", "retry"),
    Qt.Key.Key_Enter: ("toggle", "continue", "retry"),
    Qt.Key.Key_Space: ("toggle",),
}


def press(canvas: Canvas, event: QKeyEvent) -> bool:
    """Act on a key; false when it means nothing here."""
    if event.matches(QKeySequence.StandardKey.SelectAll):
        canvas.select_all()
        return True
    if event.matches(QKeySequence.StandardKey.Copy):
        canvas.acted.emit(canvas.focused, "copy_selection", "")
        return True
    if event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier):
        return False
    return _move(canvas, event.key()) or _act(canvas, event.key())


def _move(canvas: Canvas, key: int) -> bool:
    count, bar = len(canvas.rows), canvas.verticalScrollBar()
    if not count:
        return False
    here = canvas.focused
    match key:
        case Qt.Key.Key_Down | Qt.Key.Key_Up:
            down = key == Qt.Key.Key_Down
            if here < 0:
                canvas.focus_row(canvas.seen()[-1])
            elif _scrolls_inside(canvas, here, down=down):
                bar.setValue(bar.value() + (1 if down else -1) * bar.singleStep() * 3)
            else:
                canvas.focus_row(max(0, min(count - 1, here + (1 if down else -1))))
        case Qt.Key.Key_Home:
            canvas.focus_row(0)
            bar.setValue(0)
        case Qt.Key.Key_End:
            canvas.focus_row(count - 1)
            canvas.to_end()
        case Qt.Key.Key_PageDown | Qt.Key.Key_PageUp:
            bar.setValue(bar.value() + (1 if key == Qt.Key.Key_PageDown else -1) * bar.pageStep())
            canvas.focus_row(canvas.row_at(canvas.viewport().height() // 2), scroll=False)
        case Qt.Key.Key_Escape if not canvas.selection.empty:
            canvas.selection.clear()
            canvas.viewport().update()
        case _:
            return False
    return True


def _scrolls_inside(canvas: Canvas, index: int, *, down: bool) -> bool:
    """Whether a row reaches so far out of sight that the key should scroll rather than leave it."""
    box, margin = canvas.rect_of(index), canvas.style_.space(8)
    if box.bottom() < 0 or box.top() > canvas.viewport().height():
        return False
    return box.bottom() > canvas.viewport().height() + margin if down else box.top() < -margin


def _act(canvas: Canvas, key: int) -> bool:
    index = canvas.focused
    if not 0 <= index < len(canvas.rows):
        return False
    for name in _ACTIONS.get(Qt.Key(key), ()):
        for action in canvas.layout_of(index).actions:
            if action.name == name:
                canvas.acted.emit(index, action.name, action.data)
                return True
    return False
