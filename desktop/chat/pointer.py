"""The mouse over the transcript: selection across rows, links, tooltips and which row is in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QHelpEvent, QMouseEvent, QTextCursor
from PySide6.QtWidgets import QToolTip

from desktop.chat.markdown import allowed
from desktop.chat.menu import menu
from desktop.chat.plain import visible
from desktop.chat.selection import Spot

if TYPE_CHECKING:
    from desktop.chat.canvas import Canvas
    from desktop.chat.pieces import Piece

_AUTOSCROLL = 30


class Pointer(QObject):
    """Translates mouse events of one canvas; owned by it."""

    def __init__(self, canvas: Canvas) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self._point = QPoint()
        self._pressed = False
        self._clicks = 0
        self._last = QPoint()
        self._since = QTimer(self)
        self._since.setSingleShot(True)
        self._scrolling = QTimer(self)
        self._scrolling.setInterval(_AUTOSCROLL)
        self._scrolling.timeout.connect(self._autoscroll)

    def spot(self, point: QPoint) -> Spot:
        """The place in the transcript nearest to a point of the viewport."""
        index = self._canvas.row_at(point.y())
        if index < 0:
            return Spot(0, 0, 0)
        layout, inner = self._canvas.layout_of(index), self._canvas.map_row(index, point)
        if not layout.pieces:
            return Spot(index, 0, 0)
        number = max((n for n, piece in enumerate(layout.pieces) if piece.y <= inner.y()), default=0)
        piece = layout.pieces[number]
        if inner.y() > piece.y + piece.height:
            return Spot(index, number, piece.ready().characterCount() - 1)
        return Spot(index, number, piece.position(inner.x(), inner.y()))

    def piece(self, point: QPoint) -> tuple[Piece, QPoint] | None:
        """The text under a point of the viewport and the point in its row."""
        index = self._canvas.row_at(point.y())
        if index < 0:
            return None
        inner = self._canvas.map_row(index, point)
        for piece in self._canvas.layout_of(index).pieces:
            inside = piece.y <= inner.y() < piece.y + piece.height
            if inside and piece.x <= inner.x() <= piece.x + piece.width:
                return piece, inner
        return None

    def link(self, point: QPoint) -> str:
        """The address under a point, or an empty string."""
        found = self.piece(point)
        target = found[0].link(found[1].x(), found[1].y()) if found else ""
        return target if allowed(target) else ""

    def press(self, event: QMouseEvent) -> None:
        """Start a selection; with Shift, extend the one that is."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        self._point, self._pressed = event.position().toPoint(), True
        if self._acts(self._point):
            self._pressed = False
            return
        near = self._clicks == 2 and (self._point - self._last).manhattanLength() < 6
        spot, selection = self.spot(self._point), self._canvas.selection
        if near and self._since.isActive():
            self._select(spot, QTextCursor.SelectionType.BlockUnderCursor)
            self._clicks = 3
            return
        self._clicks = 1
        selection.head = spot
        if not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            selection.anchor = spot
        self._canvas.focus_row(spot.row, ring=False, scroll=False)
        self._canvas.viewport().update()

    def _acts(self, point: QPoint) -> bool:
        """Do the painted action under a point, where no widget stands for it yet (touch)."""
        index = self._canvas.row_at(point.y())
        if index < 0 or index in self._canvas.hot:
            return False
        inner = self._canvas.map_row(index, point)
        for action in self._canvas.layout_of(index).actions:
            if not action.hidden and action.rect.contains(inner):
                self._canvas.acted.emit(index, action.name, action.data)
                return True
        return False

    def double(self, event: QMouseEvent) -> None:
        """Select the word under the pointer."""
        self._last = event.position().toPoint()
        self._clicks, self._pressed = 2, False
        self._since.start(QGuiApplication.styleHints().mouseDoubleClickInterval())
        self._select(self.spot(self._last), QTextCursor.SelectionType.WordUnderCursor)

    def _select(self, spot: Spot, what: QTextCursor.SelectionType) -> None:
        pieces = self._canvas.layout_of(spot.row).pieces if self._canvas.rows else []
        if not pieces:
            return
        cursor = QTextCursor(pieces[spot.piece].ready())
        cursor.setPosition(spot.position)
        if what == QTextCursor.SelectionType.BlockUnderCursor:
            cursor.movePosition(QTextCursor.MoveOperation.StartOfBlock)
            cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        else:
            cursor.select(what)
        selection = self._canvas.selection
        selection.anchor = Spot(spot.row, spot.piece, cursor.selectionStart())
        selection.head = Spot(spot.row, spot.piece, cursor.selectionEnd())
        self._canvas.viewport().update()

    def move(self, event: QMouseEvent) -> None:
        """Extend the selection while the button is down; otherwise note what is pointed at."""
        self._point = event.position().toPoint()
        if not event.buttons() & Qt.MouseButton.LeftButton:
            self._canvas.set_pointed(self._canvas.row_at(self._point.y()))
            self._shape()
            return
        if self._pressed:
            self._canvas.selection.head = self.spot(self._point)
            self._canvas.viewport().update()
            inside = self._canvas.viewport().rect().adjusted(0, 8, 0, -8).contains(self._point)
            if inside:
                self._scrolling.stop()
            elif not self._scrolling.isActive():
                self._scrolling.start()

    def release(self, event: QMouseEvent) -> None:
        """End the selection; a click that selected nothing follows a link."""
        self._scrolling.stop()
        self._pressed = False
        selection = self._canvas.selection
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if selection.empty:
            if target := self.link(event.position().toPoint()):
                self._canvas.link_activated.emit(target)
        elif QGuiApplication.clipboard().supportsSelection():
            clipboard = QGuiApplication.clipboard()
            clipboard.setText(visible(self._canvas.selected_text()), clipboard.Mode.Selection)

    def special(self, event: QEvent) -> bool:
        """Handle what is neither press nor move: tooltips, leaving, the context menu."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            self._tip(event)
            return True
        if isinstance(event, QContextMenuEvent):
            menu(self._canvas, event.pos(), self.link(event.pos())).popup(event.globalPos())
            return True
        if event.type() == QEvent.Type.Leave:
            self._canvas.set_pointed(-1)
        return False

    def _tip(self, event: QHelpEvent) -> None:
        target = self.link(event.pos())
        if target:
            QToolTip.showText(event.globalPos(), target, self._canvas.viewport())
        else:
            QToolTip.hideText()

    def _shape(self) -> None:
        shape = Qt.CursorShape.ArrowCursor
        if self.link(self._point):
            shape = Qt.CursorShape.PointingHandCursor
        elif self.piece(self._point):
            shape = Qt.CursorShape.IBeamCursor
        self._canvas.viewport().setCursor(shape)

    def _autoscroll(self) -> None:
        height = self._canvas.viewport().height()
        over = self._point.y() - 8 if self._point.y() < 8 else max(0, self._point.y() - height + 8)
        bar = self._canvas.verticalScrollBar()
        bar.setValue(bar.value() + max(-60, min(60, over)))
        self._canvas.selection.head = self.spot(self._point)
        self._canvas.viewport().update()
