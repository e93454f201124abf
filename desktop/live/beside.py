"""The chat and the live pane next to each other, or one in the place of the other where it is narrow."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

CHAT_LEAST, PANE_LEAST = 360, 420
SHARE = 0.55
"""What the pane gets of the width when it is first opened."""


class Beside(QSplitter):
    """Holds the chat over its foot, and a pane that comes later. Where both do not fit, the pane stands in
    the place of the chat, over the same foot: what the agent asks stays in sight, outside the pane."""

    def __init__(self, chats: QWidget, foot: QWidget, share: float = 0.0) -> None:
        """`share` is what the pane had of the width the last time, 0 where it never was open."""
        super().__init__(Qt.Orientation.Horizontal)
        self._chats = chats
        self._pane: QWidget | None = None
        self._scale = 1.0
        self._narrow = False
        self._share = share if 0.1 < share < 0.9 else SHARE
        self._column = QWidget()
        self._inside = QVBoxLayout(self._column)
        self._inside.setContentsMargins(0, 0, 0, 0)
        self._inside.setSpacing(0)
        self._inside.addWidget(chats, 1)
        self._inside.addWidget(foot)
        self.setChildrenCollapsible(False)
        self.setHandleWidth(1)
        self.addWidget(self._column)
        self.splitterMoved.connect(self._on_moved)

    @property
    def pane(self) -> QWidget | None:
        """The pane, once there is one."""
        return self._pane

    @property
    def open(self) -> bool:
        """Whether the pane is shown."""
        return self._pane is not None and not self._pane.isHidden()

    @property
    def narrow(self) -> bool:
        """Whether only one of both fits."""
        return self._narrow

    @property
    def share(self) -> float:
        """What the pane has of the width where both fit."""
        return self._share

    def set_pane(self, pane: QWidget) -> None:
        """Take a pane in, hidden; once."""
        self._pane = pane
        pane.hide()
        self.addWidget(pane)
        self._arrange()

    def show_pane(self, shown: bool) -> None:
        """Show the pane, or only the chat."""
        if self._pane is not None and shown == self._pane.isHidden():
            self._pane.setVisible(shown)
            self._arrange()

    def set_scale(self, scale: float) -> None:
        """How large the type is; larger type needs more room for both."""
        self._scale = scale
        self._arrange()

    def _arrange(self) -> None:
        pane, factor = self._pane, min(1.7, max(1.0, self._scale))
        if pane is None:
            return
        self._narrow = self.width() < round((CHAT_LEAST + PANE_LEAST) * factor)
        instead = self._narrow and self.open
        inside = self._inside.indexOf(pane) >= 0
        if instead != inside:
            self._move(pane, inside=instead)
        self._chats.setVisible(not instead)
        self._column.setMinimumWidth(0 if self._narrow else round(CHAT_LEAST * factor))
        pane.setMinimumWidth(0 if self._narrow else round(PANE_LEAST * factor))
        if self.open and not self._narrow:
            wide = round(self.width() * self._share)
            self.setSizes([self.width() - wide, wide])

    def _move(self, pane: QWidget, *, inside: bool) -> None:
        """Let the pane stand in the chat's place, or beside it; the keyboard stays where it is in it."""
        focused, shown = self.window().focusWidget(), self.open
        if inside:
            self._inside.insertWidget(0, pane, 1)
        else:
            self._inside.removeWidget(pane)
            self.addWidget(pane)
        pane.setVisible(shown)
        if focused is not None and pane.isAncestorOf(focused):
            focused.setFocus()

    def _on_moved(self, _place: int, _handle: int) -> None:
        sizes = self.sizes()
        total: int = sum(sizes, start=0)
        if len(sizes) == 2 and total:
            self._share = sizes[1] / total

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
