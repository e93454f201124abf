"""The live pane: the sandbox's screen with its bars, the list of actions, a page for other states."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from desktop.live.action_log import ActionLog
from desktop.live.frames import FrameBox
from desktop.live.screen_view import ScreenView
from desktop.live.state_page import StatePage
from desktop.live.wheel_bar import WheelBar
from desktop.live.wording import holder_words, remedy_words
from desktop.notices import announce
from desktop.parts import ElidedLabel, button, icon_button, label, picker, restyle, set_icons
from desktop.theme import Theme, spacing
from resources.translation import _, ngettext
from runtime.computer_events import ActionSeen, ComputerState, WheelChanged

LOW, ROOM = 56, 130
"""The picture goes where less than LOW is left for it; list and review go before, where less than ROOM is."""
_TONES = {"user": "remote", "agent": "local", "nobody": "plain"}


class LivePane(QFrame):
    """Feed it the events of the computer; it needs no runtime. `asked` carries a Remedy the user wants,
    `watching` whether the picture can be seen, `steered` steps of the user's mouse and keys."""

    asked = Signal(str)
    cancelled = Signal()
    watching = Signal(bool)
    steered = Signal(object)
    copy_requested = Signal()
    paste_requested = Signal()
    review_requested = Signal()
    undo_requested = Signal(str)
    close_requested = Signal()

    def __init__(self, theme: Theme, frames: FrameBox, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("live")
        self.setAccessibleName(_("The agent's computer"))
        self.setMinimumHeight(spacing(11))
        self._theme = theme
        self.state = ComputerState("off")
        self._seen = False
        self._files = 0
        self._run = ""
        self.view = ScreenView(theme, frames)
        self.page = StatePage(theme)
        self.wheel = WheelBar()
        self.log = ActionLog(theme)
        self.badge = label("", "badge")
        self.place = QStackedWidget()
        self._make_bars()
        self._lay_out()
        self._connect()
        self.show_state(self.state)
        self.show_wheel(self.wheel.wheel)
        self.show_changes(0)
        set_icons(self, theme)

    def _make_bars(self) -> None:
        self.title = ElidedLabel(_("Agent's computer"))
        self.title.setProperty("role", "section")
        self.zoom = icon_button("zoom", _("Actual size (100 %)"), None)
        self.zoom.setCheckable(True)
        self.clipboard = icon_button("clipboard", _("Clipboard of the sandbox"), None)
        self.more = icon_button("more", _("What can be done with the sandbox"), None)
        self.close_button = icon_button(
            "close", _("Close the pane (Ctrl+Shift+C)"), self.close_requested.emit
        )
        for made, fill in ((self.clipboard, self._fill_clipboard), (self.more, self._fill_more)):
            menu = QMenu(made)
            menu.aboutToShow.connect(partial(self._refill, menu, fill))
            made.setMenu(menu)
            made.setPopupMode(made.ToolButtonPopupMode.InstantPopup)
        self.changes = QFrame()
        self.changes.setObjectName("changes")
        self.changed = label("", wrap=True)
        self.review = button(_("Review"), self.review_requested.emit)
        row = QHBoxLayout(self.changes)
        row.setContentsMargins(spacing(3), spacing(1), spacing(3), spacing(1))
        self.undo_run = picker(_("Undo all that the agent's last run did, applied or not"), self._fill_undo)
        self.undo_run.setText(_("Undo the run…"))
        self.undo_run.setAccessibleName(self.undo_run.toolTip())
        row.addWidget(self.changed, 1)
        row.addWidget(self.undo_run)
        row.addWidget(self.review)

    def _lay_out(self) -> None:
        self._bar = bar = QHBoxLayout()
        bar.setContentsMargins(spacing(3), spacing(2), spacing(2), spacing(2))
        bar.setSpacing(spacing(1))
        bar.addWidget(self.title, 1)
        for part in (self.badge, self.zoom, self.clipboard, self.more, self.close_button):
            bar.addWidget(part)
        self.running = QWidget()
        inside = QVBoxLayout(self.running)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(0)
        inside.addWidget(self.view, 1)
        inside.addWidget(self.wheel)
        self.place.addWidget(self.page)
        self.place.addWidget(self.running)
        self.parts = QSplitter(Qt.Orientation.Vertical)
        self.parts.setChildrenCollapsible(False)
        self.parts.setHandleWidth(1)
        self.parts.addWidget(self.place)
        self.parts.addWidget(self.log)
        self.parts.setStretchFactor(0, 4)
        self.parts.setStretchFactor(1, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.changes)
        column.addWidget(self.parts, 1)
        column.addStretch(0)
        self.log.hide()

    def _connect(self) -> None:
        self.page.asked.connect(self.asked)
        self.page.cancelled.connect(self.cancelled)
        self.view.steered.connect(self.steered)
        self.view.left.connect(self._on_left)
        self.view.entered.connect(self._on_entered)
        self.zoom.toggled.connect(self.view.set_actual_size)

    # --- what it is told ------------------------------------------------------------------------------

    def show_state(self, state: ComputerState) -> None:
        """The sandbox is in another state, or got further in it."""
        before, self.state = self.state, state
        running = state.phase == "running"
        keyboard = self._holds_keyboard(self)
        self.page.show_state(state)
        self.place.setCurrentWidget(self.running if running else self.page)
        for part in (self.zoom, self.clipboard):
            part.setVisible(running)
        if not running:
            self.view.forget()
        self._fit()
        if before.phase != state.phase:
            self._show_badge()
            if running and self.isVisible():
                announce(self, _("The sandbox is running."))
            if keyboard:
                self.take_keyboard()

    def show_wheel(self, wheel: WheelChanged) -> None:
        """Another one is at the wheel, or the agent pauses or goes on."""
        keyboard = self._holds_keyboard(self.wheel)
        self.wheel.show_wheel(wheel)
        self.view.set_holder(wheel.holder)
        self._show_badge()
        self._fit()
        if keyboard:
            self._on_left()

    def on_action(self, seen: ActionSeen) -> None:
        """The agent begins or has ended an action."""
        if not self._seen:
            self._seen = True
            self._fit()
            self.parts.setSizes([max(1, self.parts.height() * 4 // 5), max(1, self.parts.height() // 5)])
        self.log.see(seen)
        self.view.on_action(seen)

    def show_changes(self, files: int, run: str = "") -> None:
        """So many files the agent changed wait for the user's review; `run` is the id of its newest run,
        which can be undone as a whole."""
        self._run = run
        self.undo_run.setVisible(bool(run))
        words = ngettext("{n} file changed in the sandbox", "{n} files changed in the sandbox", files)
        self.changed.setText(words.format(n=files))
        self.review.setAccessibleDescription(self.changed.text())
        self._files = files
        self._fit()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        for part in (self.view, self.page, self.log):
            part.set_theme(theme)
        set_icons(self, theme)

    def take_keyboard(self) -> None:
        """Put the keyboard where something can be done: the picture's buttons, or those of the page."""
        if self.state.phase == "running":
            self.view.setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            self.page.take_keyboard()

    # --- inside ---------------------------------------------------------------------------------------

    def _holds_keyboard(self, part: QWidget) -> bool:
        """Whether the keyboard is in `part`; a widget's own `focusWidget` is where it last was in there."""
        focused = self.window().focusWidget()
        return focused is not None and part.isAncestorOf(focused)

    def _on_entered(self, entered: bool) -> None:
        self.wheel.set_entered(entered)
        self._show_badge()

    def _on_left(self) -> None:
        """The keyboard leaves the picture: to the buttons below it, or those above."""
        if not self.wheel.take_keyboard():
            (self.zoom if self.log.isHidden() else self.log).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _show_badge(self) -> None:
        wheel = self.wheel.wheel
        running = self.state.phase == "running"
        self.badge.setVisible(running)
        own = self.view.mine and wheel.holder == "nobody"
        words = _("You use it") if own else holder_words(wheel.holder, wheel.paused, wheel.stepping)
        self.badge.setText(words)
        self.badge.setProperty("tone", "remote" if wheel.paused or own else _TONES[wheel.holder])
        restyle(self.badge)

    @staticmethod
    def _refill(menu: QMenu, fill: Callable[[QMenu], None]) -> None:
        menu.clear()
        fill(menu)

    def _fill_clipboard(self, menu: QMenu) -> None:
        menu.addAction(_("Copy the sandbox's clipboard into yours"), self.copy_requested.emit)
        menu.addAction(_("Put your clipboard into the sandbox's"), self.paste_requested.emit)

    def _fill_more(self, menu: QMenu) -> None:
        phase = self.state.phase
        for remedy in self.state.remedies:
            menu.addAction(remedy_words(remedy, phase), partial(self.asked.emit, remedy))
        if menu.isEmpty():
            menu.addAction(_("Nothing for now")).setEnabled(False)

    def _fill_undo(self, menu: QMenu) -> None:
        """The second step, so that a slip of the mouse undoes nothing."""
        menu.addAction(
            _("Undo all that the last run did, in your folder and in the sandbox"),
            partial(self.undo_requested.emit, self._run),
        )

    def _fit(self) -> None:
        """Where it is low, because a question needs the room below, show less rather than everything
        squeezed: without list and review, without the picture, at last only the line over it."""
        room = self.height() - self._bar.sizeHint().height()
        if self.state.phase == "running":
            room -= self.wheel.heightForWidth(self.width())
            self.parts.setVisible(room >= 0)
            self.view.setVisible(room >= LOW)
        else:
            self.parts.setVisible(room >= LOW)
        room -= ROOM
        changes = self._files > 0 and room >= self.changes.sizeHint().height()
        self.changes.setVisible(changes)
        room -= self.changes.sizeHint().height() if changes else 0
        self.log.setVisible(self._seen and room >= self.log.minimumHeight())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.watching.emit(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.watching.emit(False)
