"""A table to read: as high as its rows, without a cell that could be changed."""

from __future__ import annotations

from collections.abc import Container, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem


class ReadingTable(QTableWidget):
    """`right` are the columns of numbers; the first column takes the room that is left, and where that is
    little the table scrolls sideways. Tab leaves it, the arrows move inside."""

    def __init__(self, name: str, headers: Sequence[str], right: Container[int] = ()) -> None:
        super().__init__(0, len(headers))
        self._right = right
        self.setAccessibleName(name)
        self.setHorizontalHeaderLabels(list(headers))
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.verticalHeader().hide()
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        for column in range(len(headers)):
            if (head := self.horizontalHeaderItem(column)) is not None:
                head.setTextAlignment(self._side(column))

    def set_rows(self, rows: Sequence[Sequence[str]]) -> None:
        """Show these rows instead."""
        self.setRowCount(len(rows))
        for y, texts in enumerate(rows):
            for x, text in enumerate(texts):
                cell = QTableWidgetItem(text)
                cell.setToolTip(text)
                cell.setTextAlignment(self._side(x))
                self.setItem(y, x, cell)
        self.fit()

    def fit(self) -> None:
        """Be as high as the rows are now, for example after the type became larger."""
        self.resizeRowsToContents()
        rows = sum(self.rowHeight(y) for y in range(self.rowCount()))
        bar = self.horizontalScrollBar().sizeHint().height()
        self.setFixedHeight(self.horizontalHeader().sizeHint().height() + rows + bar + 4)
        self._share()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share()

    def _share(self) -> None:
        """Give the first column what the others leave, but no less than its longest text or 24 letters."""
        taken = sum(self.horizontalHeader().sectionSize(x) for x in range(1, self.columnCount()))
        least = min(self.sizeHintForColumn(0), 24 * self.fontMetrics().averageCharWidth())
        self.setColumnWidth(0, max(least, self.viewport().width() - taken))

    def _side(self, column: int) -> Qt.AlignmentFlag:
        side = Qt.AlignmentFlag.AlignRight if column in self._right else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter
