"""How full the model's window is: a thin bar in the status line, and a panel with the shares behind it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QEnterEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QGridLayout, QLabel, QVBoxLayout, QWidget

from desktop.notices import announce
from desktop.parts import label, restyle
from desktop.theme import Theme, mix, spacing
from resources.translation import _, ngettext

NEARLY = 0.85
"""From this share on the bar warns."""

BAR = 64
HOVER_MS = 350
PARTS = ("system", "directives", "memory", "documents", "tools", "history", "message", "answer", "free")
ALWAYS = ("system", "history", "message", "answer", "free")

Stats = dict[str, int]


class ContextBar(QAbstractButton):
    """Feed it the figures of each model call. `asked` fires when somebody wants the shares: the pointer
    rests here, or it was pressed; `left` when a glance is over."""

    asked = Signal()
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.used = 0
        self.window_size = 0
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._rest = QTimer(self)
        self._rest.setObjectName("context bar")
        self._rest.setSingleShot(True)
        self._rest.setInterval(HOVER_MS)
        self._rest.timeout.connect(self.asked)
        self.clicked.connect(self._rest.stop)
        self.reset()

    @property
    def share(self) -> float:
        """0–1; 0 while nothing is known."""
        return min(1.0, self.used / self.window_size) if self.window_size else 0.0

    def reset(self) -> None:
        """Another session came to the front: nothing is known of it yet."""
        self.set_used(0, 0)

    def set_used(self, used: int, window: int) -> None:
        """Show `used` of `window` tokens; a window of 0 is one whose size nobody told."""
        self.used, self.window_size = used, window
        if window:
            words = _("Context: {used} of {window} tokens in use, {share} %")
            words = words.format(used=f"{used:,}", window=f"{window:,}", share=round(100 * self.share))
        else:
            words = _("Context: how much the model can read at once, and what takes up how much")
        self.setAccessibleName(words)
        self.updateGeometry()
        self.update()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.updateGeometry()
        self.update()

    def words(self) -> str:
        """What stands beside the bar."""
        if not self.window_size:
            return _("Context")
        return _("{share} % of {window} tokens").format(
            share=round(100 * self.share), window=f"{self.window_size:,}"
        )

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(
            BAR + spacing(4) + metrics.horizontalAdvance(self.words()) + spacing(2),
            metrics.height() + spacing(1.5),
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        theme = self._theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.hasFocus():
            painter.setPen(theme.accent)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.setPen(Qt.PenStyle.NoPen)
        track = QRectF(spacing(1), self.height() / 2 - 2, BAR, 4)
        painter.setBrush(mix(theme.background, theme.text, 0.16))
        painter.drawRoundedRect(track, 2, 2)
        if self.share:
            painter.setBrush(theme.warning if self.share >= NEARLY else theme.accent)
            painter.drawRoundedRect(QRectF(track.x(), track.y(), max(4.0, BAR * self.share), 4), 2, 2)
        painter.setPen(theme.text if self.underMouse() else theme.muted)
        beside = self.rect().adjusted(BAR + spacing(3), 0, 0, 0)
        painter.drawText(beside, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self.words())

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._rest.start()
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._rest.stop()
        self.left.emit()
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)


class ContextPanel(QFrame):
    """The shares of the window, over the bar; inside `ground`, above its other parts. A glance goes with the
    pointer; what was opened by a press stays until Esc, a second press, or work elsewhere."""

    def __init__(self, theme: Theme, ground: QWidget, bar: ContextBar) -> None:
        super().__init__(ground)
        self.setObjectName("context")
        self._theme = theme
        self._bar = bar
        self.pinned = False
        self._before: QWidget | None = None
        self.title = label(_("What the model reads"), "section")
        self.total = label("", "small", wrap=True)
        self.strip = _Strip(theme)
        self.note = label("", "small", wrap=True)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(spacing(3))
        self._grid.setVerticalSpacing(spacing(1))
        self._grid.setColumnStretch(1, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(spacing(4), spacing(3), spacing(4), spacing(3))
        column.setSpacing(spacing(2))
        for part in (self.title, self.total, self.strip):
            column.addWidget(part)
        column.addLayout(self._grid)
        column.addWidget(self.note)
        ground.installEventFilter(self)
        bar.installEventFilter(self)
        self.hide()

    def open_waiting(self, pinned: bool) -> None:
        """Open before the figures are there; pinned, the keyboard goes to the bar until it is closed."""
        self.pinned = pinned or (self.pinned and self.isVisible())
        focused = self.window().focusWidget()
        if pinned and focused is not self._bar:
            self._before = focused
            self._bar.setFocus()
        if self.isHidden():
            self._clear()
            self.total.setText(_("Counting…"))
            self.strip.set_shares([])
            self._place()
            self.show()
            self.raise_()

    def close_pinned(self) -> None:
        """Close, and give the keyboard back to what had it."""
        self.hide()
        before, self._before = self._before, None
        if before is not None and self._bar.hasFocus():
            before.setFocus()

    def end_glance(self) -> None:
        """The pointer has gone; what was pressed open stays."""
        if not self.pinned:
            self.hide()

    def show_stats(self, stats: Stats) -> None:
        """Draw the shares as the runtime counted them, in tokens."""
        window, free = stats["window"], stats["free"]
        shown = [(name, stats.get(name, 0)) for name in PARTS if name in ALWAYS or stats.get(name)]
        if not window:
            shown = [(name, tokens) for name, tokens in shown if name != "free"]
        taken = sum(tokens for name, tokens in shown if name not in ("answer", "free"))
        if window:
            total = _("{used} of {window} tokens are in use; {free} are free.")
            self.total.setText(total.format(used=f"{taken:,}", window=f"{window:,}", free=f"{free:,}"))
        else:
            self.total.setText(
                _("{used} tokens. The model does not say how many it can read.").format(used=f"{taken:,}")
            )
        self._bar.set_used(taken - stats["message"], window)
        self._fill(shown, window or taken or 1)
        self._show_note(stats.get("compactions", 0))
        self._place()
        announce(self, self.spoken(shown))

    def show_trouble(self, text: str) -> None:
        """Say why there are no figures."""
        self._clear()
        self.strip.set_shares([])
        self.total.setText(text)
        self._place()

    def spoken(self, shown: list[tuple[str, int]]) -> str:
        """The figures as a screen reader says them; also the panel's accessible name."""
        parts = ", ".join(f"{_NAMES[name]()} {tokens:,}" for name, tokens in shown)
        words = f"{self.total.text()} {parts}"
        self.setAccessibleName(words)
        return words

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.strip.set_theme(theme)
        self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if self.isHidden():
            return False
        if watched is self._bar and event.type() == QEvent.Type.FocusOut:
            self.hide()
        elif watched is not self._bar and event.type() == QEvent.Type.Resize:
            self._place()
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            closing = event.key() == Qt.Key.Key_Escape
            if closing:
                self.close_pinned()
            return closing
        return False

    # --- inside ---------------------------------------------------------------------------------------

    def _clear(self) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            if (made := item.widget()) is not None:
                made.hide()
                made.deleteLater()

    def _fill(self, shown: list[tuple[str, int]], whole: int) -> None:
        self._clear()
        colours = shades(self._theme)
        self.strip.set_shares([(tokens / whole, colours[name]) for name, tokens in shown if name != "free"])
        for row, (name, tokens) in enumerate(shown):
            dot = QLabel()
            dot.setFixedSize(10, 10)
            dot.setStyleSheet(f"background: {colours[name].name()}; border-radius: 5px;")
            for column, made in enumerate((dot, label(_NAMES[name]()), label(f"{tokens:,}", "muted"))):
                side = Qt.AlignmentFlag.AlignRight if column == 2 else Qt.AlignmentFlag.AlignLeft
                self._grid.addWidget(made, row, column, side | Qt.AlignmentFlag.AlignVCenter)
                made.show()  # the layout leaves out what is not shown yet

    def _show_note(self, times: int) -> None:
        words = ngettext(
            "Older messages were summed up once to make room. The chat itself is whole.",
            "Older messages were summed up {n} times to make room. The chat itself is whole.",
            times,
        )
        self.note.setText(words.format(n=times) if times else "")
        self.note.setVisible(bool(times))

    def _place(self) -> None:
        ground = self.parentWidget()
        if ground is None:
            return
        restyle(self)
        wide = min(round(300 * self._theme.scale), ground.width() - spacing(4))
        self.setFixedWidth(wide)
        layout = self.layout()
        assert layout is not None
        layout.activate()
        high = min(max(layout.totalHeightForWidth(wide), layout.totalMinimumSize().height()), ground.height())
        self.resize(wide, high)
        corner = self._bar.mapTo(ground, QPoint(self._bar.width(), 0))
        left = max(spacing(2), min(corner.x() - wide, ground.width() - wide - spacing(2)))
        self.move(left, max(0, corner.y() - high - spacing(1.5)))


class _Strip(QWidget):
    """The shares side by side."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._shares: list[tuple[float, QColor]] = []
        self.setFixedHeight(8)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def set_shares(self, shares: list[tuple[float, QColor]]) -> None:
        self._shares = shares
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        del event
        painter = QPainter(self)
        painter.fillRect(self.rect(), shades(self._theme)["free"])
        left = 0.0
        for share, colour in self._shares:
            wide = share * self.width()
            painter.fillRect(QRectF(left, 0, max(wide - 1, 1.0) if share else 0, self.height()), colour)
            left += wide


def shades(theme: Theme) -> dict[str, QColor]:
    """A colour for each part of the window, from the theme's own."""
    return {
        "system": theme.muted,
        "directives": mix(theme.muted, theme.warning, 0.5),
        "memory": mix(theme.success, theme.warning, 0.5),
        "documents": mix(theme.muted, theme.success, 0.6),
        "tools": theme.warning,
        "history": theme.accent,
        "message": theme.success,
        "answer": mix(theme.background, theme.accent, 0.35),
        "free": mix(theme.background, theme.text, 0.14),
    }


_NAMES = {
    "system": lambda: _("Instructions"),
    "directives": lambda: _("Directives"),
    "memory": lambda: _("Memory"),
    "documents": lambda: _("Documents"),
    "tools": lambda: _("Tools"),
    "history": lambda: _("This conversation"),
    "message": lambda: _("What you are writing"),
    "answer": lambda: _("Kept for the answer"),
    "free": lambda: _("Free"),
}
