"""Small controls used in several places of the window, each with a name for screen readers."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QAction, QActionGroup, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from desktop.icons import icon
from desktop.theme import Theme, mix


def label(text: str, role: str = "", *, wrap: bool = False, selectable: bool = False) -> QLabel:
    """A plain-text label in one of the style sheet's roles."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wrap)
    if role:
        made.setProperty("role", role)
    if role == "badge":
        made.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    if selectable:
        made.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
    return made


def plain_tip(text: str) -> str:
    """A tooltip that shows exactly `text`: by itself one takes what looks like HTML for that."""
    return f"<qt>{escape(text)}</qt>"


def button(text: str, clicked: Callable[[], object], role: str = "") -> QPushButton:
    """A push button that runs `clicked`."""
    made = QPushButton(text)
    made.setAutoDefault(False)
    if role:
        made.setProperty("role", role)
    made.clicked.connect(lambda _checked=False: clicked())
    return made


def icon_button(name: str, tip: str, clicked: Callable[[], object] | None = None) -> QToolButton:
    """A button that shows only the icon `name`; `tip` is its tooltip and its spoken name."""
    made = QToolButton()
    made.setProperty("icon_name", name)
    made.setToolTip(tip)
    made.setAccessibleName(tip)
    made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    if clicked is not None:
        made.clicked.connect(lambda _checked=False: clicked())
    return made


def picker(tip: str, fill: Callable[[QMenu], object]) -> QPushButton:
    """A quiet button with a menu that `fill` writes anew each time it opens."""
    made = button("", lambda: None, "quiet")
    made.setToolTip(tip)
    menu = QMenu(made)
    menu.setToolTipsVisible(True)

    def refill() -> None:
        menu.clear()
        fill(menu)

    menu.aboutToShow.connect(refill)
    made.setMenu(menu)
    return made


def choose(menu: QMenu, group: QActionGroup, text: str, chosen: bool, run: Callable[[], object]) -> QAction:
    """One of several exclusive lines of a menu."""
    action = menu.addAction(text)
    action.setCheckable(True)
    action.setChecked(chosen)
    group.addAction(action)
    action.triggered.connect(lambda _checked=False: run())
    return action


def set_icons(root: QWidget, theme: Theme) -> None:
    """Draw every icon below `root` in the theme's colours and at its text's size."""
    for made in (*root.findChildren(QToolButton), *root.findChildren(QPushButton)):
        name = made.property("icon_name")
        if name:
            side = round((made.property("icon_side") or 20) * theme.scale)
            made.setIconSize(QSize(side, side))
            ink = theme.on_accent if made.property("role") == "primary" else theme.muted
            made.setIcon(icon(str(name), ink.name(), theme.muted.name(), side))


def restyle(widget: QWidget) -> None:
    """Apply the style sheet again after a property it selects by has changed."""
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def line() -> QFrame:
    """A thin horizontal rule."""
    made = QFrame()
    made.setObjectName("rule")
    made.setFixedHeight(1)
    made.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    return made


class ElidedLabel(QLabel):
    """One line that ends in … where it does not fit; the whole text is its tooltip and spoken name."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setMinimumWidth(40)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setText(text)

    def setText(self, text: str) -> None:
        super().setText(text)
        self.setToolTip(text)
        self.setAccessibleName(text)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        shown = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
        painter.setPen(self.palette().windowText().color())
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)


class Switch(QCheckBox):
    """A check box drawn as a sliding switch."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(44, 26)

    def hitButton(self, position: QPoint) -> bool:
        return self.rect().contains(position)

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        theme = self._theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        track = QRectF(3, 3, 38, 20)
        painter.setPen(theme.accent if self.hasFocus() else theme.border)
        painter.setBrush(theme.accent if self.isChecked() else mix(theme.surface, theme.muted, 0.35))
        painter.drawRoundedRect(track, 10, 10)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(track.adjusted(-2, -2, 2, 2), 12, 12)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.on_accent if self.isChecked() else theme.raised)
        painter.drawEllipse(QRectF(24 if self.isChecked() else 6, 6, 14, 14))
