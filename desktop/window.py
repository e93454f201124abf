"""The main window: lays out its parts and connects them; what they do is written in their own files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QByteArray, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from desktop.approval import ApprovalPanel
from desktop.captions import Captions
from desktop.chat_stack import ChatStack
from desktop.composer import Composer
from desktop.context_bar import ContextPanel
from desktop.header import Header
from desktop.live.beside import Beside
from desktop.notices import Banner, Toast
from desktop.pages import Page
from desktop.parts import button, set_icons
from desktop.sidebar import Sidebar
from desktop.status import StatusLine
from desktop.theme import Theme, spacing
from desktop.window_state import WindowState
from resources.translation import _

SIDEBAR = 268
COLUMN = 820
"""Widest column of text and controls, so that lines stay readable on a wide screen."""


class MainWindow(QMainWindow):
    """All parts of the window, without a runtime behind them. `closing` fires once, before it is gone;
    `escaped` when Esc was pressed and no part took it."""

    closing = Signal()
    escaped = Signal()

    def __init__(self, theme: Theme, pages: list[Page], state: WindowState) -> None:
        super().__init__()
        self.setWindowTitle("Orion")
        self.setMinimumSize(720, 480)
        self.theme = theme
        self._state = state
        self._make_page: Callable[[Page], QWidget] | None = None
        self._pages = {page.name: page for page in pages}
        self._page_widgets: dict[str, QWidget] = {}
        self.sidebar = Sidebar(theme, [(page.name, page.icon, page.title) for page in pages])
        self.banner = Banner()
        self.header = Header()
        self.chats = ChatStack(theme)
        self.approval = ApprovalPanel(theme)
        self.captions = Captions(theme)
        self.composer = Composer(theme)
        self.status = StatusLine(theme)
        self.stack = QStackedWidget()
        self._lay_out()
        self.toast = Toast(self.stack)
        self.context = ContextPanel(theme, self.chat_page, self.status.context)
        self.sidebar.collapse_requested.connect(self.toggle_sidebar)
        self.sidebar.page_requested.connect(self.show_page)
        self.header.sidebar_requested.connect(self.toggle_sidebar)
        self.header.find_requested.connect(self.chats.open_find)
        self.beside.set_scale(theme.scale)
        self._restore()
        set_icons(self, theme)
        self.composer.editor.setFocus()  # what is typed before the runtime is there is not lost

    # --- layout ---------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self.chat_page = QWidget()
        column = QVBoxLayout(self.chat_page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        self.chats.setMinimumHeight(spacing(12))
        self.beside = Beside(self.chats, self._foot(), self._state.pane_share)
        column.addWidget(self.beside, 1)
        self.stack.addWidget(self.chat_page)
        main = QWidget()
        main.setObjectName("main")
        right = QVBoxLayout(main)
        right.setContentsMargins(0, 0, 0, 0)
        right.setSpacing(0)
        right.addWidget(self.banner)
        right.addWidget(self.stack, 1)
        whole = QWidget()
        row = QHBoxLayout(whole)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self._fit_sidebar()
        row.addWidget(self.sidebar)
        row.addWidget(main, 1)
        self.setCentralWidget(whole)

    def _foot(self) -> QWidget:
        """Approval, captions, composer and status line in a centred column."""
        inner = QWidget()
        inner.setMaximumWidth(COLUMN)
        column = QVBoxLayout(inner)
        column.setContentsMargins(spacing(4), spacing(1), spacing(4), spacing(2))
        column.setSpacing(spacing(2))
        for part in (self.approval, self.captions, self.composer, self.status):
            column.addWidget(part)
        foot = QWidget()
        row = QHBoxLayout(foot)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        row.addWidget(inner, 1000)
        row.addStretch(1)
        return foot

    # --- what others ask of it ------------------------------------------------------------------------

    def set_page_maker(self, make: Callable[[Page], QWidget]) -> None:
        """How a page is made when it is first shown."""
        self._make_page = make

    def show_page(self, name: str, section: str = "") -> None:
        """Show a page, at a section of it, in the place of the chat; a second call with the same name alone
        goes back to the chat."""
        widget = self._page_widgets.get(name)
        if self._make_page is None or (widget is not None and widget.isVisible() and not section):
            self.show_chat()
            return
        if widget is None:
            widget = self._make_page(self._pages[name])
            self._page_widgets[name] = widget
            self.stack.addWidget(self._with_way_back(widget))
        elif refresh := getattr(widget, "refresh", None):
            refresh()
        if (framed := widget.parentWidget()) is not None:
            self.stack.setCurrentWidget(framed)
        widget.setFocus()
        if section and (show_section := getattr(widget, "show_section", None)):
            show_section(section)

    def refresh_page(self, name: str) -> None:
        """Have a page read anew what it shows, if it was opened before."""
        if refresh := getattr(self._page_widgets.get(name), "refresh", None):
            refresh()

    def show_chat(self) -> None:
        """Bring the chat back and let the user write."""
        self.stack.setCurrentWidget(self.chat_page)
        self.composer.editor.setFocus()

    def _with_way_back(self, page: QWidget) -> QWidget:
        framed = QWidget()
        back = button(_("Back to the chat"), self.show_chat, "quiet")
        back.setProperty("icon_name", "back")
        back.setToolTip(_("Back to the chat (Esc)"))
        column = QVBoxLayout(framed)
        column.setContentsMargins(spacing(3), spacing(2), 0, 0)
        column.addWidget(back, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(page, 1)
        set_icons(framed, self.theme)
        return framed

    @property
    def on_chat(self) -> bool:
        return self.stack.currentWidget() is self.chat_page

    def set_theme(self, theme: Theme) -> None:
        """Pass the theme to every part that draws by itself; the style sheet is set on the application."""
        self.theme = theme
        self._fit_sidebar()
        self.beside.set_scale(theme.scale)
        parts: list[Any] = [self.sidebar, self.chats, self.approval, self.captions, self.composer]
        parts += [self.status.context, self.context, self.beside.pane]
        for part in (*parts, *self._page_widgets.values()):
            if set_theme := getattr(part, "set_theme", None):
                set_theme(theme)
        set_icons(self, theme)

    def focus_next_part(self) -> None:
        """Move the keyboard on: to what the toast offers, the list, the conversation, what is asked, the
        composer."""
        parts: list[QWidget | None] = [
            self.toast if self.toast.offers else None,
            self.sidebar.list,
            self.chats.transcript,
            self.beside.pane,
            self.approval,
            self.composer.editor,
        ]
        shown = [part for part in parts if part is not None and part.isVisible()]
        focused = self.focusWidget()
        here = [n for n, part in enumerate(shown) if focused is part or part.isAncestorOf(focused)]
        target = shown[(here[0] + 1) % len(shown)] if here else self.composer.editor
        if take := getattr(target, "take_keyboard", None):
            take()
            return
        (self.approval.deny if target is self.approval else target).setFocus(
            Qt.FocusReason.ShortcutFocusReason
        )

    def toggle_sidebar(self) -> None:
        self._show_sidebar(self.sidebar.isHidden())

    def come_to_front(self) -> None:
        """Show the window, over others where the desktop allows it."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def remember(self) -> WindowState:
        """What to keep for the next start."""
        self._state.geometry = bytes(self.saveGeometry().toBase64().data()).decode()
        self._state.sidebar = not self.sidebar.isHidden()
        self._state.pane, self._state.pane_share = self.beside.open, self.beside.share
        return self._state

    # --- inside ---------------------------------------------------------------------------------------

    def _fit_sidebar(self) -> None:
        self.sidebar.setFixedWidth(round(SIDEBAR * min(1.25, max(1.0, self.theme.scale))))

    def _show_sidebar(self, shown: bool) -> None:
        self.sidebar.setVisible(shown)
        self.header.sidebar_button.setVisible(not shown)

    def _restore(self) -> None:
        self._show_sidebar(self._state.sidebar)
        geometry = QByteArray.fromBase64(self._state.geometry.encode())
        if geometry.isEmpty() or not self.restoreGeometry(geometry):
            self.resize(1120, 760)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.escaped.emit()
        elif self.on_chat and is_typing(event) and not self.chats.isAncestorOf(self.focusWidget()):
            self.composer.editor.setFocus(Qt.FocusReason.OtherFocusReason)
            self.composer.editor.insertPlainText(event.text())
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.approval.fit(self.height())

    def closeEvent(self, event: QCloseEvent) -> None:
        self.closing.emit()
        event.accept()


def is_typing(event: QKeyEvent) -> bool:
    """Whether a key that no part of the window took writes a character: it is meant for the message."""
    plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier)
    return plain and event.text().isprintable() and bool(event.text().strip())


def window_title(card: dict[str, Any]) -> str:
    """The title of the window while a session is in front."""
    title = str(card.get("title") or "")
    return f"{title} – Orion" if title else _("New chat") + " – Orion"
