"""The left column: a new chat, the search, the sessions, and the way to the pages."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QModelIndex, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QListView, QMenu, QVBoxLayout, QWidget

from desktop.parts import button, icon_button, label
from desktop.session_list import ID, SessionDelegate, SessionModel, title_of
from desktop.theme import Theme, spacing
from resources.translation import _


class Sidebar(QFrame):
    """Draws the list it is given and says what the user wants; it changes nothing itself."""

    new_requested = Signal(bool)
    open_requested = Signal(str)
    rename_requested = Signal(str, object)
    delete_requested = Signal(str, object)
    export_requested = Signal(str, str)
    search_changed = Signal(object)
    page_requested = Signal(str)
    collapse_requested = Signal()

    def __init__(
        self, theme: Theme, pages: list[tuple[str, str, str]], parent: QWidget | None = None
    ) -> None:
        """`pages` are (name, icon, title) of what the buttons at the foot open."""
        super().__init__(parent)
        self.setObjectName("sidebar")
        self.model = SessionModel(self)
        self._delegate = SessionDelegate(theme, self)
        self._current = ""
        self.search = self._make_search()
        self.list = self._make_list()
        self.empty = label("", "muted", wrap=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column = QVBoxLayout(self)
        column.setContentsMargins(spacing(2), spacing(3), spacing(2), spacing(2))
        column.setSpacing(spacing(2))
        column.addLayout(self._make_top())
        column.addWidget(self.search)
        column.addWidget(self.empty)
        column.addWidget(self.list, 1)
        for name, picture, title in pages:
            column.addWidget(self._page_button(name, picture, title))
        self.model.renamed.connect(self.rename_requested)
        self._show_empty()

    def set_sessions(self, items: list[dict[str, Any]]) -> None:
        """Replace the list; the session in front stays selected."""
        self.model.set_items(items)
        self.set_current(self._current)
        self._show_empty()

    def set_current(self, session: str) -> None:
        self._current = session
        row = self.model.row_of(session)
        if row >= 0:
            self.list.setCurrentIndex(self.model.index(row))
        else:
            self.list.clearSelection()
            self.list.setCurrentIndex(QModelIndex())

    def set_mark(self, session: str, mark: str) -> None:
        self.model.set_mark(session, mark)

    def set_theme(self, theme: Theme) -> None:
        self._delegate.theme = theme
        self.list.viewport().update()

    def focus_search(self) -> None:
        self.search.setFocus()
        self.search.selectAll()

    # --- building -------------------------------------------------------------------------------------

    def _make_top(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(spacing(1))
        self.new_button = button(_("New chat"), lambda: self.new_requested.emit(False))
        self.new_button.setProperty("icon_name", "new")
        self.new_button.setToolTip(_("New chat (Ctrl+N)"))
        self.private_button = icon_button(
            "private",
            _("New private chat: nothing of it is stored (Ctrl+Shift+N)"),
            lambda: self.new_requested.emit(True),
        )
        collapse = icon_button("sidebar", _("Hide the sidebar (Ctrl+B)"), self.collapse_requested.emit)
        row.addWidget(self.new_button, 1)
        row.addWidget(self.private_button)
        row.addWidget(collapse)
        return row

    def _make_search(self) -> QLineEdit:
        field = QLineEdit()
        field.setPlaceholderText(_("Search all chats"))
        field.setAccessibleName(_("Search all chats"))
        field.setClearButtonEnabled(True)
        self._pause = QTimer(self)
        self._pause.setObjectName("search")
        self._pause.setSingleShot(True)
        self._pause.setInterval(180)
        self._pause.timeout.connect(lambda: self.search_changed.emit(field.text()))
        field.textChanged.connect(lambda _text: self._pause.start())
        return field

    def _make_list(self) -> QListView:
        view = QListView()
        view.setObjectName("sessions")
        view.setAccessibleName(_("Chats"))
        view.setModel(self.model)
        view.setItemDelegate(self._delegate)
        view.setMouseTracking(True)
        view.setUniformItemSizes(True)
        view.setEditTriggers(QListView.EditTrigger.EditKeyPressed)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._on_menu)
        view.clicked.connect(self._on_open)
        view.activated.connect(self._on_open)
        for key, slot in ((QKeySequence.StandardKey.Delete, self._on_delete_key),):
            shortcut = QShortcut(QKeySequence(key), view)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(slot)
        return view

    def _page_button(self, name: str, picture: str, title: str) -> QWidget:
        made = button(title, lambda: self.page_requested.emit(name), "quiet")
        made.setProperty("icon_name", picture)
        made.setStyleSheet("text-align: left;")
        return made

    # --- what the user does ---------------------------------------------------------------------------

    def _on_open(self, index: QModelIndex) -> None:
        session = str(index.data(ID))
        if session != self._current:
            self.open_requested.emit(session)

    def _on_delete_key(self) -> None:
        index = self.list.currentIndex()
        if index.isValid():
            self.delete_requested.emit(str(index.data(ID)), str(index.data()))

    def _on_menu(self, position: QPoint) -> None:
        index = self.list.indexAt(position)
        if index.isValid():
            menu = self.menu_for(index)
            menu.exec(self.list.viewport().mapToGlobal(position))
            menu.deleteLater()

    def menu_for(self, index: QModelIndex) -> QMenu:
        """The context menu of one session; the caller deletes it."""
        session, title = str(index.data(ID)), title_of({"title": index.data()})
        menu = QMenu(self)
        self._entry(menu, _("Open"), lambda: self.open_requested.emit(session))
        self._entry(menu, _("Rename…\tF2"), lambda: self.list.edit(index))
        self._entry(menu, _("Export as Markdown…"), lambda: self.export_requested.emit(session, "markdown"))
        self._entry(menu, _("Export as JSON…"), lambda: self.export_requested.emit(session, "json"))
        menu.addSeparator()
        self._entry(menu, _("Delete\tDel"), lambda: self.delete_requested.emit(session, title))
        return menu

    @staticmethod
    def _entry(menu: QMenu, text: str, run: Any) -> None:
        action = QAction(text, menu)
        action.triggered.connect(lambda _checked=False: run())
        menu.addAction(action)

    def _show_empty(self) -> None:
        bare = self.model.rowCount() == 0
        self.empty.setVisible(bare)
        if bare:
            searching = bool(self.search.text().strip())
            self.empty.setText(_("No chat holds these words.") if searching else _("Your chats appear here."))
