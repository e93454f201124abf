"""The context menu of the transcript: the same actions as the keys and buttons, by name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from resources.translation import _

if TYPE_CHECKING:
    from desktop.chat.canvas import Canvas


def menu(canvas: Canvas, point: QPoint, link: str) -> QMenu:
    """The menu for a point of the viewport; it deletes itself when it closes."""
    made = QMenu(canvas)
    made.aboutToHide.connect(made.deleteLater)
    index = canvas.row_at(point.y())
    if link:
        made.addAction(_("Open link"), lambda: canvas.follow(link))
        made.addAction(_("Copy link address"), lambda: QGuiApplication.clipboard().setText(link))
        made.addSeparator()
    if not canvas.selection.empty:
        made.addAction(_("Copy selection"), lambda: canvas.acted.emit(index, "copy_selection", ""))
    for action in canvas.layout_of(index).actions if index >= 0 else []:
        if action.name not in ("code", "toggle"):
            label = _("Copy message") if action.name == "copy" else action.label
            made.addAction(label, partial(canvas.acted.emit, index, action.name, action.data))
    made.addSeparator()
    made.addAction(_("Select all"), canvas.select_all)
    return made
