"""One field from which every action, chat and page is reached."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from desktop.notices import announce
from desktop.parts import label
from desktop.theme import spacing
from resources.translation import _

MOST = 60
_SPOKEN = int(Qt.ItemDataRole.AccessibleTextRole)
_HINT = int(Qt.ItemDataRole.UserRole)


@dataclass(frozen=True, slots=True)
class Choice:
    """A line of the palette: its words, a hint (keys or kind), and what it does."""

    title: str
    hint: str
    run: Callable[[], object]


def matches(query: str, title: str) -> int:
    """How well `query` fits `title`: word starts beat parts of words beat scattered letters; 0 is not."""
    wanted, text = query.casefold().split(), title.casefold()
    if not wanted:
        return 1
    if all(word in text for word in wanted):
        starts = sum(1 for word in wanted if f" {text}".find(f" {word}") >= 0)
        return 100 + 10 * starts
    letters = iter(text)
    return 10 if all(letter in letters for letter in "".join(wanted)) else 0


class CommandPalette(QDialog):
    """Opens over its parent and closes when something was chosen."""

    def __init__(self, choices: list[Choice], parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Dialog | Qt.WindowType.FramelessWindowHint)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(_("Command palette"))
        self._choices = choices
        self._found: list[Choice] = []
        self.field = QLineEdit()
        self.field.setPlaceholderText(_("What would you like to do?"))
        self.field.setAccessibleName(_("Search actions, chats and pages"))
        self.list = QListView()
        self.list.setAccessibleName(_("Found"))
        self.list.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setUniformItemSizes(True)
        self.nothing = label(_("Nothing is called that. Try another word."), "muted", wrap=True)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._model = QStandardItemModel(self)
        self.list.setModel(self._model)
        self.list.setItemDelegate(_Line(self.list))
        frame = QFrame()
        frame.setObjectName("palette")
        inner = QVBoxLayout(frame)
        inner.setContentsMargins(spacing(3), spacing(3), spacing(3), spacing(3))
        inner.addWidget(self.field)
        inner.addWidget(self.list, 1)
        inner.addWidget(self.nothing, 1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(frame)
        self.field.textChanged.connect(self._fill)
        self.field.installEventFilter(self)
        self.list.clicked.connect(lambda index: self._run(index.row()))
        self._fill("")
        if parent is not None:
            self.resize(min(620, parent.width() - spacing(10)), min(440, parent.height() - spacing(20)))
            corner = parent.mapToGlobal(parent.rect().topLeft())
            self.move(corner.x() + (parent.width() - self.width()) // 2, corner.y() + spacing(15))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            row = self.list.currentIndex().row()
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
                step = 1 if event.key() == Qt.Key.Key_Down else -1
                self._select(min(max(row + step, 0), self._model.rowCount() - 1))
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._run(row)
                return True
        return super().eventFilter(watched, event)

    def _fill(self, query: str) -> None:
        ranked = [(matches(query, choice.title), choice) for choice in self._choices]
        ranked.sort(key=lambda pair: -pair[0])
        self._found = [choice for rank, choice in ranked if rank][:MOST]
        self._model.clear()
        for choice in self._found:
            item = QStandardItem(choice.title)
            item.setData(choice.hint, _HINT)
            item.setData(", ".join(part for part in (choice.title, choice.hint) if part), _SPOKEN)
            self._model.appendRow(item)
        self.list.setVisible(bool(self._found))
        self.nothing.setVisible(not self._found)
        if self._found:
            self._select(0)
        else:
            announce(self, self.nothing.text())

    def _select(self, row: int) -> None:
        self.list.setCurrentIndex(self._model.index(row, 0))

    def _run(self, row: int) -> None:
        if 0 <= row < len(self._found) and self.isVisible():
            run = self._found[row].run
            self.accept()
            run()


class _Line(QStyledItemDelegate):
    """Paints the words on the left and the keys, muted, on the right."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        del index
        return QSize(100, option.fontMetrics.height() + spacing(4))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(option.palette.highlight())
            painter.drawRoundedRect(option.rect.adjusted(2, 1, -2, -1), 8, 8)
        inner = option.rect.adjusted(spacing(3), 0, -spacing(3), 0)
        hint = str(index.data(_HINT))
        painter.setPen(option.palette.placeholderText().color())
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, hint)
        inner.setRight(inner.right() - painter.fontMetrics().horizontalAdvance(hint) - spacing(3))
        painter.setPen(option.palette.text().color())
        whole, right = str(index.data()), Qt.TextElideMode.ElideRight
        words = painter.fontMetrics().elidedText(whole, right, inner.width())
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)
        painter.restore()
