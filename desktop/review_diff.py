"""One file of the review: what changed in it, each part with a box to choose it by."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QSyntaxHighlighter, QTextCharFormat
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QPlainTextEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from desktop.code_view import ROOM, CodeView
from desktop.parts import button, label
from desktop.theme import Theme, mix, spacing
from resources.translation import _, ngettext
from runtime.pathnames import is_identity, visible

Detail = dict[str, Any]
SHOWN = 60
"""Hunks that are drawn at once; the others come on demand."""


class ReviewDiff(QScrollArea):
    """`chosen` carries (path, "whole" | "none" | "part", numbers of hunks) after each click of the user;
    `asked` carries (path, "mine" | "beside" | "compare" | "open"); `left` says that the keyboard wants to go
    back to the list."""

    chosen = Signal(object, str, object)
    asked = Signal(object, str)
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._detail: Detail = {}
        self._views: list[HunkView] = []
        self._more = SHOWN
        self._chosen: set[int] = set()
        self._all = True
        self.whole = QCheckBox(self)
        self.whole.hide()
        self.boxes: list[QCheckBox] = []
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setObjectName("plain")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(_("What changed in the file"))

    @property
    def path(self) -> str:
        """The file that is shown, "" for none."""
        return str(self._detail.get("path", ""))

    def show_detail(self, detail: Detail, chosen: set[int] | None) -> None:
        """Show a file with the parts that are chosen; None chooses all of it."""
        if detail.get("path") != self.path:
            self._more = SHOWN
        self._detail = detail
        self._chosen = set(range(len(detail["hunks"]))) if chosen is None else set(chosen)
        self._all = chosen is None
        self._draw()

    def show_words(self, words: str) -> None:
        """Show a sentence and no file."""
        self._detail = {}
        self.boxes, self._views = [], []
        body, column = self._column()
        column.addWidget(label(words, "muted", wrap=True))
        self._show_body(body, column)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        for view in self._views:
            view.set_theme(theme)

    def enter(self) -> None:
        """Give the keyboard to the first box, or the first button of a conflict."""
        for part in self.findChildren(QWidget):
            if part.isVisible() and part.isEnabled() and part.focusPolicy() & Qt.FocusPolicy.TabFocus:
                part.setFocus(Qt.FocusReason.TabFocusReason)
                return

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_Left):
            self.left.emit()
            return
        if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self.focusNextPrevChild(event.key() == Qt.Key.Key_Down)
            return
        super().keyPressEvent(event)

    # --- inside ---------------------------------------------------------------------------------------

    def _column(self) -> tuple[QWidget, QVBoxLayout]:
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(spacing(4), spacing(3), spacing(4), spacing(4))
        column.setSpacing(spacing(2))
        return body, column

    def _draw(self) -> None:
        detail = self._detail
        body, column = self._column()
        self.boxes, self._views = [], []
        column.addWidget(label(visible(self.path), "section", wrap=True, selectable=True))
        column.addWidget(label(told(detail), "small", wrap=True))
        if is_identity(self.path):
            words = _("Every later chat is told what stands here. Look at it closely before you apply it.")
            column.addWidget(label(words, "error", wrap=True, selectable=True))
        column.addLayout(self._actions())
        self.whole = QCheckBox(_("The whole file"))
        self.whole.setChecked(self._all)
        self.whole.clicked.connect(self._on_whole)
        column.addWidget(self.whole)
        self.whole.setVisible(not detail["conflict"])
        for number, hunk in enumerate(detail["hunks"][: self._more]):
            self._add_hunk(column, number, hunk)
        rest = len(detail["hunks"]) - self._more
        if rest > 0:
            words = ngettext("Show 1 more part", "Show {n} more parts", rest).format(n=rest)
            column.addWidget(button(words, self._show_more), 0, Qt.AlignmentFlag.AlignLeft)
        if detail["text"]:
            self._add_view(column, str(detail["text"]), _("The file"))
        elif not detail["hunks"]:
            column.addWidget(label(unreadable(detail), "muted", wrap=True))
        self._show_body(body, column)

    def _show_body(self, body: QWidget, column: QVBoxLayout) -> None:
        column.addStretch(1)
        old = self.takeWidget()
        if old is not None:
            old.hide()
            old.deleteLater()  # it may hold the button that is just being pressed
        self.setWidget(body)
        body.show()

    def _actions(self) -> QVBoxLayout:
        column = QVBoxLayout()
        path = self.path
        offered: list[tuple[str, str]] = []
        if self._detail["conflict"]:
            offered.append((_("Keep mine"), "mine"))
            if self._detail["after"] is not None:
                offered.append((_("Put the sandbox's beside it"), "beside"))
            offered.append((_("Take parts of it…"), "compare"))
        if self._detail["before"] is not None:
            offered.append((_("Open mine"), "open"))
        for words, what in offered:
            made = button(words, self._asking(path, what), "" if self._detail["conflict"] else "quiet")
            column.addWidget(made, 0, Qt.AlignmentFlag.AlignLeft)
        return column

    def _asking(self, path: str, what: str) -> Callable[[], None]:
        return partial(self.asked.emit, path, what)

    def _add_hunk(self, column: QVBoxLayout, number: int, hunk: Detail) -> None:
        if self._detail["conflict"]:
            column.addWidget(label(place(hunk), "small"))
        else:
            box = QCheckBox(place(hunk))
            box.setChecked(number in self._chosen)
            box.clicked.connect(lambda on, of=number: self._on_hunk(of, on))
            self.boxes.append(box)
            column.addWidget(box)
        self._add_view(column, str(hunk["text"]), place(hunk))

    def _add_view(self, column: QVBoxLayout, text: str, name: str) -> None:
        view = HunkView(self._theme)
        view.setPlainText(text)
        view.setAccessibleName(name)
        view.fit(1 << 23)
        self._views.append(view)
        column.addWidget(view)

    def _show_more(self) -> None:
        self._more += SHOWN
        self._draw()

    def _on_whole(self, on: bool) -> None:
        for box in self.boxes:
            box.setChecked(on)
        self._all = on
        self._chosen = set(range(len(self._detail["hunks"]))) if on else set()
        self.chosen.emit(self.path, "whole" if on else "none", [])

    def _on_hunk(self, number: int, on: bool) -> None:
        self._chosen = self._chosen | {number} if on else self._chosen - {number}
        self._all = len(self._chosen) == len(self._detail["hunks"])
        self.whole.setChecked(self._all)
        state = "whole" if self._all else "part" if self._chosen else "none"
        self.chosen.emit(self.path, state, sorted(self._chosen))


class HunkView(CodeView):
    """Lines of a change in their colours; in a hunk the first character alone tells what a line is."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._colours.setDocument(None)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._lines = _LineColours(theme, self)

    def fit(self, height: int) -> None:
        """Be as high as the text, with room to scroll sideways."""
        line = self.fontMetrics().lineSpacing()
        self.setFixedHeight(min(self.blockCount() * line + ROOM + 8, height))

    def set_theme(self, theme: Theme) -> None:
        self._lines.theme = theme
        self._lines.rehighlight()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            event.ignore()
            return
        super().keyPressEvent(event)


class _LineColours(QSyntaxHighlighter):
    def __init__(self, theme: Theme, view: CodeView) -> None:
        super().__init__(view.document())
        self.theme = theme

    def highlightBlock(self, text: str) -> None:
        inks = {
            "+": self.theme.success,
            "-": self.theme.danger,
            "\\": self.theme.muted,
            "…": self.theme.muted,
        }
        if ink := inks.get(text[:1]):
            self.setFormat(0, len(text), _ink(ink, self.theme))


def _ink(ink: QColor, theme: Theme) -> QTextCharFormat:
    made = QTextCharFormat()
    made.setForeground(ink)
    if ink != theme.muted:
        made.setBackground(mix(theme.code_background, ink, 0.1))
    return made


def place(hunk: Detail) -> str:
    """Where a part of a file stands and how much it changes, as people say it."""
    old, new = hunk["head"].removeprefix("@@ -").removesuffix(" @@").split(" +")
    start, count = (int(number) for number in (new if not new.endswith(",0") else old).split(","))
    where = (
        _("Line {start}").format(start=start)
        if count < 2
        else _("Lines {start}–{end}").format(start=start, end=start + count - 1)
    )
    return f"{where}   {figures(hunk['added'], hunk['removed'])}"


def figures(added: int | None, removed: int | None) -> str:
    """+3 −1; empty where lines are not counted or none changed."""
    return "" if added is None or removed is None or not added + removed else f"+{added} −{removed}"


def told(row: Detail) -> str:
    """What happened to a file, in words."""
    words = {
        "created": _("new"),
        "modified": _("changed"),
        "deleted": _("deleted"),
        "moved": _("moved from {source}").format(source=visible(row["source"])),
        "mode": _("may be run as a program now") if row["executable"] else _("no longer a program"),
    }[str(row["kind"])]
    runs = len(row["runs"])
    if runs > 1:
        words += " · " + ngettext("in 1 run", "in {n} runs", runs).format(n=runs)
    if row["conflict"]:
        return _("In the sandbox: {what}. You changed it since, so yours is not overwritten.").format(
            what=words
        )
    return words


def unreadable(detail: Detail) -> str:
    """Why no lines are shown."""
    if detail["before"] == detail["after"]:
        return _("The content is the same.")
    if detail["size"] == 0:
        return _("The file is empty.") if detail["after"] is not None else _("There is nothing to show.")
    return {
        "large": _("The file is too large to be shown; it goes as a whole ({size} bytes)."),
        "binary": _("This is not text; it goes as a whole ({size} bytes)."),
    }.get(str(detail["form"]), _("There is nothing to show.")).format(size=detail["size"])
