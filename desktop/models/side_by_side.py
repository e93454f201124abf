"""Two widgets beside each other, or one above the other where there is no room for both."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QWidget

from desktop.theme import spacing


class SideBySide(QWidget):
    """`left` takes what `right` leaves; both are stacked where `left` would have less than `room` pixels at
    normal text size. Call `set_scale` with the text's scale."""

    def __init__(self, left: QWidget, right: QWidget, room: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.left, self.right = left, right
        self._room, self._scale = room, 1.0
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(spacing(2))
        self._row.addWidget(left, 1)
        self._row.addWidget(right, 0)
        self._flows = right.sizePolicy().hasHeightForWidth()
        self.installEventFilter(self)
        right.installEventFilter(self)
        self.arrange()

    @property
    def stacked(self) -> bool:
        """Whether one is above the other."""
        return self._row.direction() == QBoxLayout.Direction.TopToBottom

    def set_scale(self, scale: float) -> None:
        """How many times its normal size the text has."""
        self._scale = scale
        self.arrange()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self.arrange()
        return super().eventFilter(watched, event)

    def arrange(self) -> None:
        """Choose between side by side and stacked."""
        needed = self.right.sizeHint().width() + round(self._room * self._scale)
        narrow = self.width() < needed and not self.right.isHidden()
        if self._flows:
            policy = self.right.sizePolicy()
            fixed, free = QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred
            policy.setHorizontalPolicy(free if narrow else fixed)
            policy.setVerticalPolicy(QSizePolicy.Policy.Minimum if narrow else fixed)
            policy.setHeightForWidth(narrow)
            if policy != self.right.sizePolicy():
                self.right.setSizePolicy(policy)
        direction = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        if self._row.direction() != direction:
            self._row.setDirection(direction)
            side = Qt.AlignmentFlag.AlignLeft if narrow and not self._flows else Qt.AlignmentFlag(0)
            self._row.setAlignment(self.right, side)
