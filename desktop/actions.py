"""Everything one can do from the keyboard, as one table: the shortcuts, the palette and the help use it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDialog, QGridLayout, QScrollArea, QVBoxLayout, QWidget

from desktop.live.hands import LEAVE
from desktop.parts import label
from desktop.theme import spacing
from resources.translation import _


@dataclass(frozen=True, slots=True)
class Command:
    """One thing to do: its name in the palette, its keys (portable text, may be empty) and what runs."""

    title: str
    keys: tuple[str, ...]
    run: Callable[[], object]


def install(window: QWidget, commands: list[Command]) -> None:
    """Give `window` the shortcuts of `commands`."""
    for command in commands:
        action = QAction(command.title, window)
        action.setShortcuts([QKeySequence(keys) for keys in command.keys])
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        action.triggered.connect(lambda _checked=False, run=command.run: run())
        window.addAction(action)


def shown_keys(command: Command) -> str:
    """The command's first keys as the platform writes them."""
    if not command.keys:
        return ""
    return QKeySequence(command.keys[0]).toString(QKeySequence.SequenceFormat.NativeText)


def in_the_text() -> list[tuple[str, str]]:
    """Keys that belong to one place of the window, as (keys, what they do)."""
    return [
        ("Enter", _("Send the message")),
        ("Shift+Enter", _("New line in the message")),
        ("Esc", _("Throw away what is being said, or stop the voice")),
        ("Esc", _("Deny what is asked, stop the answer, or leave a page")),
        ("Ctrl+Enter", _("Approve what is asked")),
        (LEAVE, _("Leave the picture of the agent's computer")),
        ("F2", _("Rename the chat in the list")),
        ("Del", _("Delete the chat in the list")),
    ]


class ShortcutList(QDialog):
    """Shows all keys; `held` are those that are kept down, as (keys, what they do)."""

    def __init__(
        self, commands: list[Command], parent: QWidget | None = None, held: Sequence[tuple[str, str]] = ()
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(_("Keyboard shortcuts"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        rows = [(shown_keys(command), command.title) for command in commands if command.keys]
        body = QWidget()
        grid = QGridLayout(body)
        grid.setContentsMargins(spacing(6), spacing(5), spacing(6), spacing(5))
        grid.setHorizontalSpacing(spacing(8))
        grid.setVerticalSpacing(spacing(2))
        for number, (keys, title) in enumerate([*held, *in_the_text(), *rows]):
            grid.addWidget(label(title), number, 0)
            grid.addWidget(label(keys, "muted"), number, 1, Qt.AlignmentFlag.AlignRight)
        area = QScrollArea()
        area.setWidget(body)
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setAccessibleName(_("Keyboard shortcuts"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(area)
        wide = max(520, body.sizeHint().width() + spacing(6))
        high = body.sizeHint().height() + spacing(2)
        room = parent.size() if parent is not None else self.maximumSize()
        self.resize(min(wide, room.width() - spacing(8)), min(high, room.height() - spacing(16)))
