"""A layout that puts its widgets in a line and goes on in the next one where they do not fit."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QSizePolicy, QWidget

_NARROW = 160
"""Pixels below which a line of widgets is not squeezed; wider ones than there is room for are cut."""


class Flow(QLayout):
    """Widgets of their own sizes from left to right (from right to left where that is how one reads)."""

    def __init__(self, parent: QWidget, gap: int) -> None:
        super().__init__(parent)
        self._gap = gap
        self._items: list[QLayoutItem] = []
        self._heights: dict[int, int] = {}
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        if width not in self._heights:
            self._heights[width] = self._place(QRect(0, 0, width, 0), move=False)
        return self._heights[width]

    def invalidate(self) -> None:
        self._heights.clear()
        super().invalidate()

    def sizeHint(self) -> QSize:
        sizes = [item.sizeHint() for item in self._shown()]
        wide = sum(size.width() for size in sizes) + self._gap * max(0, len(sizes) - 1)
        return QSize(wide, max((size.height() for size in sizes), default=0))

    def minimumSize(self) -> QSize:
        sizes = [item.minimumSize() for item in self._shown()]
        return QSize(
            min(_NARROW, max((size.width() for size in sizes), default=0)),
            max((size.height() for size in sizes), default=0),
        )

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, move=True)

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _place(self, rect: QRect, *, move: bool) -> int:
        """Put everything into `rect` or only count; the height that takes."""
        x, y, high = 0, 0, 0
        for item in self._shown():
            size = item.sizeHint()
            if x and x + size.width() > rect.width():
                x, y, high = 0, y + high + self._gap, 0
            if move:
                wide = min(size.width(), rect.width())
                left = rect.right() + 1 - x - wide if self._mirrored() else rect.x() + x
                item.setGeometry(QRect(left, rect.y() + y, wide, size.height()))
            x += size.width() + self._gap
            high = max(high, size.height())
        return y + high

    def _mirrored(self) -> bool:
        owner = self.parentWidget()
        return owner is not None and owner.isRightToLeft()


class FlowRow(QWidget):
    """A widget whose children flow; add to `flow`."""

    def __init__(self, gap: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.flow = Flow(self, gap)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def clear(self) -> None:
        """Take all children away."""
        while (item := self.flow.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
