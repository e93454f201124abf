"""The review page: what the agent changed in its sandbox, decided on by file and by part."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from desktop import desk_review
from desktop.bridge import Bridge, Fields
from desktop.notices import announce
from desktop.parts import button, label, picker
from desktop.review_diff import ReviewDiff
from desktop.review_list import ReviewList
from desktop.theme import Theme, spacing
from resources.sentences import sentence
from resources.translation import _, ngettext
from runtime.pathnames import visible

Found = dict[str, Any]
LEFT_OUT = 8
"""Files that are named among those left out."""


class ReviewPage(QWidget):
    """Asks the desk and shows what it answers; `refresh` asks again.

    Keys: the arrows and Space in the list, Right into the file and Escape back, Ctrl+Enter applies,
    Ctrl+Backspace rejects, Ctrl+Z takes the last decision back. `open_requested` carries the workspace path
    of a file to be opened, `counted` how many files wait.
    """

    open_requested = Signal(object)
    counted = Signal(int)

    def __init__(self, bridge: Bridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._undo = ""
        self._busy = False
        self._asked_for = ""
        self._runs: list[Found] = []
        self.setAccessibleName(_("Review"))
        self.total = label("", "muted", wrap=True)
        self.files = ReviewList()
        self.diff = ReviewDiff(theme)
        self.nothing = label(_("Looking at what the agent changed…"), "muted", wrap=True)
        self.fault = label("", "error", wrap=True, selectable=True)
        self.left_out = label("", "small", wrap=True, selectable=True)
        self.done = label("", wrap=True)
        self.undo = button(_("Undo  Ctrl+Z"), self.on_undo)
        self.apply = button(_("Apply"), self.on_apply, "primary")
        self.reject = button(_("Reject"), self.on_reject)
        self.runs = picker(_("Undo all that one run of the agent did, applied or not"), self._fill_runs)
        self.runs.setText(_("Undo a run…"))
        self._lay_out()
        self.files.shown.connect(self._on_shown)
        self.files.entered_file.connect(self.diff.enter)
        self.files.turned.connect(self._on_turned)
        self.diff.chosen.connect(self._on_chosen)
        self.diff.asked.connect(self._on_asked)
        self.diff.left.connect(self.files.setFocus)
        self._key(("Ctrl+Return", "Ctrl+Enter"), self.on_apply)
        self._key(("Ctrl+Backspace",), self.on_reject)
        self._key(("Ctrl+Z",), self.on_undo)
        self._key(("F5",), self.refresh)
        self._draw_buttons()
        self.refresh()

    def refresh(self) -> None:
        """Look again at both sides."""
        self._bridge.ask(desk_review.review).then(self._show, self._on_fault)

    def set_theme(self, theme: Theme) -> None:
        self.diff.set_theme(theme)

    # --- what the user does -----------------------------------------------------------------------------

    def on_apply(self) -> None:
        """Let what is chosen happen in the user's folder."""
        choices = self.files.choices()
        if choices and self._begin():
            self._bridge.ask(desk_review.review_apply, choices).then(self._show, self._on_fault)

    def on_reject(self) -> None:
        """Take what is chosen back in the sandbox."""
        choices = self.files.choices()
        if choices and self._begin():
            self._bridge.ask(desk_review.review_reject, choices).then(self._show, self._on_fault)

    def on_undo(self) -> None:
        """Take the last decision of this page back."""
        if self._undo and self._begin():
            self._bridge.ask(desk_review.review_take_back, self._undo).then(self._show, self._on_fault)

    def on_undo_run(self, run: str) -> None:
        """Take back all that a run did, in the user's folder and in the sandbox."""
        if self._begin():
            self._bridge.ask(desk_review.review_undo_run, run).then(self._show, self._on_fault)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.files.setFocus()

    # --- inside -----------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self._pane = QSplitter(Qt.Orientation.Horizontal)
        self._pane.setChildrenCollapsible(False)
        self._pane.addWidget(self.files)
        self._pane.addWidget(self.diff)
        self._pane.setStretchFactor(0, 2)
        self._pane.setStretchFactor(1, 5)
        self.files.setMinimumWidth(self.fontMetrics().averageCharWidth() * 24)
        empty = QWidget()
        room = QVBoxLayout(empty)
        room.setContentsMargins(0, spacing(4), 0, 0)
        room.addWidget(self.nothing)
        room.addStretch(1)
        self._stack = QStackedWidget()
        self._stack.addWidget(empty)
        self._stack.addWidget(self._pane)
        self.message = QFrame()
        self.message.setProperty("role", "chip")
        row = QHBoxLayout(self.message)
        row.addWidget(self.done, 1)
        row.addWidget(self.undo)
        self.message.hide()
        foot = QHBoxLayout()
        foot.addWidget(self.total, 1)
        foot.addWidget(self.runs)
        foot.addWidget(self.reject)
        foot.addWidget(self.apply)
        column = QVBoxLayout(self)
        column.setContentsMargins(spacing(6), spacing(5), spacing(6), spacing(4))
        column.setSpacing(spacing(2))
        column.addWidget(label(_("Review"), "title"))
        words = _(
            "What the agent changed in its sandbox. Nothing of it is in your folder until you apply it."
        )
        column.addWidget(label(words, "muted", wrap=True))
        column.addWidget(self.message)
        column.addWidget(self.fault)
        column.addWidget(self._stack, 1)
        column.addWidget(self.left_out)
        column.addLayout(foot)
        self.fault.hide()
        self.left_out.hide()

    def _key(self, names: tuple[str, ...], run: Callable[[], None]) -> None:
        for name in names:
            made = QShortcut(QKeySequence(name), self)
            made.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            made.activated.connect(run)

    def _fill_runs(self, menu: QMenu) -> None:
        for run in self._runs:
            when = time.strftime("%x %H:%M", time.localtime(run["time"]))
            words = ngettext("{when}, 1 file", "{when}, {n} files", run["files"])
            action = menu.addAction(words.format(when=when, n=run["files"]))
            action.triggered.connect(lambda _on=False, of=str(run["id"]): self.on_undo_run(of))

    def _begin(self) -> bool:
        """Whether nothing else is being decided; from now on something is."""
        if self._busy:
            return False
        self._busy = True
        self._draw_buttons()
        return True

    def _show(self, found: Found) -> None:
        self._busy = False
        self.fault.hide()
        if found["undo"] is not None:
            self._undo = str(found["undo"]["id"])
            self.done.setText(_said(found["undo"]))
            announce(self, self.done.text())
        elif self._undo not in found["open"]:
            self._undo = ""
        if "undone" in found:
            count = int(found["undone"])
            words = ngettext("1 file is as it was before.", "{n} files are as they were before.", count)
            self.done.setText(words.format(n=count))
            announce(self, self.done.text())
        self._runs = found["runs"]
        self.message.setVisible(bool(self._undo) or "undone" in found)
        self.undo.setVisible(bool(self._undo))
        rows = found["proposals"]
        self._asked_for = ""
        self.files.set_rows(rows)
        self._stack.setCurrentIndex(1 if rows else 0)
        self.nothing.setText(_("Nothing waits for your decision."))
        self._draw_left_out(found["left_out"])
        self._draw_buttons()
        self.counted.emit(len(rows))
        if self.files.path:
            self._ask_detail(self.files.path)

    def _draw_left_out(self, rows: list[dict[str, str]]) -> None:
        lines = [sentence(row["code"], path=visible(row["path"])) for row in rows[:LEFT_OUT]]
        more = len(rows) - LEFT_OUT
        if more > 0:
            lines.append(ngettext("1 more is left out.", "{n} more are left out.", more).format(n=more))
        self.left_out.setText("\n".join(lines))
        self.left_out.setVisible(bool(lines))

    def _draw_buttons(self) -> None:
        files = len(self.files.choices())
        waiting = self.files.count()
        clashes = sum(bool(self.files.row_of(path)["conflict"]) for path in self.files.chosen)
        whole = files == waiting - clashes and all(one["hunks"] is None for one in self.files.choices())
        if not files:
            apply, reject = _("Apply  Ctrl+Enter"), _("Reject")
        elif whole:
            apply, reject = _("Apply all  Ctrl+Enter"), _("Reject all")
        else:
            apply = ngettext("Apply from 1 file  Ctrl+Enter", "Apply from {n} files  Ctrl+Enter", files)
            reject = ngettext("Reject from 1 file", "Reject from {n} files", files)
            apply, reject = apply.format(n=files), reject.format(n=files)
        self.apply.setText(apply)
        self.reject.setText(reject)
        for made in (self.apply, self.reject):
            made.setVisible(waiting > 0)
            made.setEnabled(files > 0 and not self._busy)
        self.undo.setEnabled(not self._busy)
        self.runs.setVisible(bool(self._runs))
        self.runs.setEnabled(not self._busy)
        words = ngettext("1 file waits", "{n} files wait", waiting).format(n=waiting) if waiting else ""
        if clashes:
            words += ", " + ngettext("1 in conflict", "{n} in conflict", clashes).format(n=clashes)
        self.total.setText(words)

    def _ask_detail(self, path: str) -> None:
        if path == self._asked_for:
            return
        self._asked_for = path
        self._bridge.ask(desk_review.review_detail, path).then(self._show_detail, self._on_detail_fault)

    def _show_detail(self, detail: Found) -> None:
        path = str(detail["path"])
        if path == self.files.path:
            self.diff.show_detail(detail, self.files.chosen.get(path))

    def _on_detail_fault(self, code: str, fields: Fields) -> None:
        self.diff.show_words(sentence(code, **fields))

    def _on_fault(self, code: str, fields: Fields) -> None:
        refused = self._busy
        self._busy = False
        self.nothing.setText(_("What waits could not be looked at. Press F5 to try again."))
        words = sentence(code, **fields)
        if refused:
            self._refresh_with(words)
        else:
            self._show_fault(words)

    def _refresh_with(self, words: str) -> None:
        """Show the list as it is now, and above it why a decision was refused."""

        def shown(found: Found) -> None:
            self._show(found)
            self._show_fault(words)

        self._bridge.ask(desk_review.review).then(shown, lambda _code, _fields: self._show_fault(words))

    def _show_fault(self, words: str) -> None:
        self.fault.setText(words)
        self.fault.show()
        announce(self, words)
        self._draw_buttons()

    def _on_shown(self, path: str) -> None:
        self._ask_detail(path)

    def _on_turned(self, path: str) -> None:
        if path == self.diff.path:
            self._asked_for = ""
            self._ask_detail(path)
        self._draw_buttons()

    def _on_chosen(self, path: str, state: str, numbers: list[int]) -> None:
        self.files.choose(path, None if state == "whole" else set(numbers))
        self._draw_buttons()

    def _on_asked(self, path: str, what: str) -> None:
        if what == "open":
            self.open_requested.emit(path)
        elif self._begin():
            if what == "mine":
                reply = self._bridge.ask(desk_review.review_reject, [self.files.choice(path)])
            elif what == "beside":
                reply = self._bridge.ask(desk_review.review_keep_beside, path)
            else:
                reply = self._bridge.ask(desk_review.review_compare, path)
            reply.then(self._show, self._on_fault)


def _said(decision: Found) -> str:
    """What was done, in a sentence."""
    count = int(decision["count"])
    words = {
        "apply": ngettext(
            "1 file in your folder was changed.", "{n} files in your folder were changed.", count
        ),
        "reject": ngettext(
            "1 file was taken back in the sandbox.", "{n} files were taken back in the sandbox.", count
        ),
        "beside": _("Your file stays; the sandbox's lies beside it."),
    }
    return words[str(decision["kind"])].format(n=count)
