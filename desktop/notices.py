"""Words of the window itself: a banner that stays until it is closed, and a toast that goes by itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QApplication, QBoxLayout, QFrame, QHBoxLayout, QPushButton, QWidget
from shiboken6 import isValid

from desktop.parts import button, icon_button, label
from desktop.theme import spacing
from resources.sentences import sentence
from resources.translation import _, ngettext

TOAST_MS = 6000
WAYS = 3


class Banner(QFrame):
    """What is wrong with this installation. Sentences are shown one at a time, in the order they came."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self._sentences: list[str] = []
        self._closed: set[str] = set()
        self.text = label("", wrap=True, selectable=True)
        self.more = label("", "small")
        close = icon_button("close", _("Close this notice"), self.close_first)
        row = QHBoxLayout(self)
        row.setContentsMargins(spacing(4), spacing(2), spacing(2), spacing(2))
        row.addWidget(self.text, 1)
        row.addWidget(self.more)
        row.addWidget(close)
        self.hide()

    def show_notice(self, code: str, fields: dict[str, str | int | float]) -> None:
        """Add a notice; one that is shown or was closed before stays as it is."""
        words = sentence(code, **fields)
        if words not in self._sentences and words not in self._closed:
            self._sentences.append(words)
            self._draw()

    def close_first(self) -> None:
        """Close the notice in front; the next one takes its place."""
        if self._sentences:
            self._closed.add(self._sentences.pop(0))
            self._draw()

    def _draw(self) -> None:
        self.setVisible(bool(self._sentences))
        if self._sentences:
            self.text.setText(self._sentences[0])
            announce(self, self._sentences[0])
            left = len(self._sentences) - 1
            self.more.setText(ngettext("1 more", "{n} more", left).format(n=left) if left else "")


class Toast(QFrame):
    """One sentence near the top of its parent, with up to WAYS things to do about it.

    It stays while the keyboard is on it, and gives the keyboard back to where it was.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("toast")
        self._runs: list[Callable[[], object]] = []
        self.text = label("", wrap=True)
        self.buttons: list[QPushButton] = [button("", partial(self._on_action, n)) for n in range(WAYS)]
        for made in self.buttons:  # a click must not take the keyboard from what is being written
            made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._before: QWidget | None = None
        self._timer = QTimer(self)
        self._timer.setObjectName("toast")
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_time)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(spacing(4), spacing(2), spacing(3), spacing(2))
        self._row.setSpacing(spacing(3))
        self._row.addWidget(self.text, 1)
        self._ways = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._ways.setSpacing(spacing(3))
        self._ways.addStretch(1)
        for made in self.buttons:
            self._ways.addWidget(made)
        self._row.addLayout(self._ways)
        parent.installEventFilter(self)
        self.hide()

    def say(self, text: str, action: str = "", run: Callable[[], object] | None = None) -> None:
        """Show `text` for six seconds (twice that with an action called `action` that calls `run`)."""
        self.offer(text, *([(action, run)] if run else []))

    def offer(self, text: str, *ways: tuple[str, Callable[[], object]]) -> None:
        """Show `text` with up to WAYS `ways` out, (name, what to call), longer the more there are."""
        self.text.setText(text)
        self._runs = [run for _, run in ways]
        for place, made in enumerate(self.buttons):
            made.setText(ways[place][0] if place < len(ways) else "")
            made.setVisible(place < len(ways))
        self._timer.start(TOAST_MS * (1 + len(ways)))
        self.show()
        self.raise_()
        self._place()
        announce(self, text)

    def take_back(self, text: str) -> None:
        """Hide `text`, which is not so any more; anything else that is shown stays."""
        if self.text.text() == text and not self._has_keyboard():
            self._timer.stop()
            self.hide()

    def take_keyboard(self) -> None:
        """Put the keyboard on the first way out."""
        self._before = QApplication.focusWidget()
        self.buttons[0].setFocus(Qt.FocusReason.ShortcutFocusReason)

    @property
    def offers(self) -> bool:
        """Whether it is seen and something can be done about what it says."""
        return self.isVisible() and not self.buttons[0].isHidden()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)

    def _on_action(self, place: int) -> None:
        self._timer.stop()
        self._leave()
        if place < len(self._runs):
            self._runs[place]()

    def _on_time(self) -> None:
        if self._has_keyboard():
            self._timer.start(TOAST_MS)
        else:
            self.hide()

    def _leave(self) -> None:
        """Go; Qt would give the keyboard to whatever comes next."""
        if self._has_keyboard() and self._before is not None and isValid(self._before):
            self._before.setFocus(Qt.FocusReason.OtherFocusReason)
        self.hide()

    def _has_keyboard(self) -> bool:
        return any(made.hasFocus() for made in self.buttons)

    def _place(self) -> None:
        parent = self.parentWidget()
        if parent is None:
            return
        most = min(620, parent.width() - spacing(8))
        natural = self.text.fontMetrics().horizontalAdvance(self.text.text()) + spacing(12)
        shown = [made for made in self.buttons if not made.isHidden()]
        ways = sum(made.sizeHint().width() + spacing(3) for made in shown)
        across, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        # Where words and buttons do not fit into a line the words need all of it.
        self._row.setDirection(down if natural + ways > most and shown else across)
        self._ways.setDirection(down if ways + spacing(7) > most else across)
        wide = min(most, natural + ways)
        self.resize(wide, max(self._row.heightForWidth(wide), self.buttons[0].sizeHint().height()))
        self.move((parent.width() - self.width()) // 2, spacing(17))


def announce(widget: QWidget, text: str) -> None:
    """Have a screen reader say `text`."""
    event = QAccessibleAnnouncementEvent(widget, text)
    QAccessible.updateAccessibility(event)
