"""Real widgets for the rows in use: buttons for every action, readers for the text under the keyboard."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, Qt, QUrl, Signal
from PySide6.QtGui import QEnterEvent, QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QAbstractButton, QFrame, QTextBrowser, QWidget

from desktop.chat import draw, wording
from desktop.chat.layout import RowLayout
from desktop.chat.pieces import Piece
from desktop.chat.plan import Action
from desktop.chat.style import Style
from resources.translation import _

if TYPE_CHECKING:
    from desktop.chat.canvas import Canvas


class ActionButton(QAbstractButton):
    """The widget of one action, drawn exactly like the painted one it replaces."""

    def __init__(self, action: Action, style: Style, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.action, self.style_ = action, style

    def take(self, action: Action, style: Style, left: int, top: int) -> None:
        """Stand for `action` of a row whose origin is at `left`, `top` in the viewport."""
        self.action, self.style_ = action, style
        self.setText(action.label)
        self.setAccessibleName(action.label)
        if action.expanded is not None:
            self.setAccessibleDescription(_("Expanded") if action.expanded else _("Collapsed"))
        self.setGeometry(action.rect.translated(left, top))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.translate(-self.action.rect.topLeft())
        draw.button(
            painter,
            self.action,
            self.style_,
            over=self.underMouse() or self.hasFocus(),
            down=self.isDown(),
            focus=self.hasFocus(),
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:
        self.update()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self.update()
        super().leaveEvent(event)


class Reader(QTextBrowser):
    """Shows the document of a piece in its place, for caret, keyboard selection and screen reader."""

    left = Signal()

    def __init__(self, piece: Piece, parent: QWidget) -> None:
        super().__init__(parent)
        self.piece = piece
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByKeyboard | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.setStyleSheet("QTextBrowser { background: transparent; border: none; padding: 0; margin: 0; }")
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.Text, piece.style.theme.text)
        palette.setColor(QPalette.ColorRole.Highlight, piece.style.theme.selection)
        palette.setColor(QPalette.ColorRole.HighlightedText, piece.style.theme.text)
        self.setPalette(palette)
        self._shown = piece.ready()
        self.setDocument(self._shown)

    def follow(self) -> None:
        """Show the piece's present document; the one shown is kept alive until then, Qt does not own it."""
        wanted = self.piece.ready()
        if wanted is not self._shown:
            self.setDocument(wanted)
            self._shown = wanted

    def doSetSource(self, name: QUrl | str, kind: object = None) -> None:
        """Never load anything."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()


class HotRow:
    """The widgets of one row in use; made and closed by the canvas."""

    def __init__(self, canvas: Canvas, index: int) -> None:
        self.canvas, self.index = canvas, index
        self.buttons: list[ActionButton] = []
        self.readers: list[Reader] = []

    def sync(self, *, reading: bool) -> None:
        """Bring the widgets in line with the row as it is now."""
        layout = self.canvas.layout_of(self.index)
        place = self.canvas.rect_of(self.index).topLeft()
        view = self.canvas.viewport()
        while len(self.buttons) > len(layout.actions):
            self._close(self.buttons.pop())
        for action in layout.actions[len(self.buttons) :]:
            made = ActionButton(action, self.canvas.style_, view)
            made.clicked.connect(lambda _checked=False, button=made: self._act(button))
            self.buttons.append(made)
        for button, action in zip(self.buttons, layout.actions, strict=True):
            button.take(action, self.canvas.style_, place.x(), place.y())
            button.setVisible(button.geometry().intersects(view.rect()))
        self._sync_readers(layout, place, reading=reading)

    def _sync_readers(self, layout: RowLayout, place: QPoint, *, reading: bool) -> None:
        area = self.canvas.viewport().rect()
        shown = []
        if reading:
            for piece in layout.pieces:
                box = piece.text_rect().translated(place)
                if piece.measured and box.intersects(area):
                    shown.append((piece, box))
        wanted = {id(piece) for piece, _box in shown}
        for reader in [
            one for one in self.readers if id(one.piece) not in wanted or one.piece.document is None
        ]:
            self._drop_reader(reader)
        kept = {id(reader.piece): reader for reader in self.readers}
        ordered: list[Reader] = []
        for piece, box in shown:
            reader = kept.get(id(piece)) or self._read(piece)
            reader.follow()
            reader.setGeometry(box)
            reader.setAccessibleName(wording.speaker(layout.row))
            reader.show()
            ordered.append(reader)
        self.readers = ordered
        chain: list[QWidget] = [self.canvas, *self.readers, *self.buttons]
        for one, other in pairwise(chain):
            QWidget.setTabOrder(one, other)

    def _read(self, piece: Piece) -> Reader:
        reader = Reader(piece, self.canvas.viewport())
        reader.anchorClicked.connect(lambda url: self.canvas.follow(url.toString()))
        reader.left.connect(self.canvas.setFocus)
        piece.pinned = True
        return reader

    def close(self) -> None:
        """Remove all widgets."""
        for reader in list(self.readers):
            self._drop_reader(reader)
        for button in self.buttons:
            self._close(button)
        self.buttons.clear()

    def widgets(self) -> list[QWidget]:
        """The widgets that are seen, in reading order."""
        return [widget for widget in (*self.readers, *self.buttons) if not widget.isHidden()]

    def _drop_reader(self, reader: Reader) -> None:
        reader.piece.pinned = False
        self.readers.remove(reader)
        if reader.hasFocus():
            self.canvas.setFocus()
        self._close(reader)

    def _close(self, widget: QWidget) -> None:
        if widget.hasFocus():
            self.canvas.setFocus()
        widget.hide()
        widget.deleteLater()

    def _act(self, button: ActionButton) -> None:
        self.canvas.acted.emit(self.index, button.action.name, button.action.data)


class HotRows:
    """The rows in use: the one under the keyboard and the one under the pointer, as far as they are seen."""

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas
        self._made: dict[int, HotRow] = {}

    def __contains__(self, index: int) -> bool:
        return index in self._made

    def sync(self, wanted: set[int], *, reading: int) -> None:
        """Have widgets for exactly the rows `wanted`, readers only for the row `reading` (-1 for none)."""
        for index in [index for index in self._made if index not in wanted]:
            self._made.pop(index).close()
        for index in wanted:
            if index not in self._made:
                self._made[index] = HotRow(self._canvas, index)
            self._made[index].sync(reading=index == reading)

    def widgets(self, index: int) -> list[QWidget]:
        """The real widgets of a row, none unless it is in use."""
        return self._made[index].widgets() if index in self._made else []

    def close(self) -> None:
        """Remove all of them."""
        self.sync(set(), reading=-1)
