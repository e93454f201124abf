"""The permissions page: what the agent may do without asking, and the way to take that back."""

from __future__ import annotations

import time
from typing import Any

from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from desktop.bridge import Bridge
from desktop.desk import Desk
from desktop.parts import button, label, line
from desktop.theme import Theme, spacing
from resources.translation import _


class PermissionsPage(QScrollArea):
    """Lists the rules that approvals left behind in the chats open here. `refresh` asks again."""

    def __init__(self, bridge: Bridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        del theme
        self._bridge = bridge
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(_("Permissions"))
        self.refresh()

    def refresh(self) -> None:
        """Show the rules as they are now."""
        self._bridge.ask(Desk.rules).then(self._show)

    def _show(self, rules: list[dict[str, Any]]) -> None:
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(spacing(6), spacing(5), spacing(6), spacing(8))
        column.setSpacing(spacing(3))
        column.addWidget(label(_("Permissions"), "title"))
        words = _("What the agent may do without asking, because you said so when you approved something.")
        column.addWidget(label(words, "muted", wrap=True))
        column.addWidget(line())
        for rule in rules:
            column.addWidget(self._row(rule))
        if not rules:
            column.addWidget(label(_("There are none: the agent asks each time."), wrap=True))
        column.addStretch(1)
        self.setWidget(body)

    def _row(self, rule: dict[str, Any]) -> QWidget:
        made = QWidget()
        row = QHBoxLayout(made)
        row.setContentsMargins(0, 0, 0, 0)
        texts = QVBoxLayout()
        texts.setSpacing(0)
        texts.addWidget(label(str(rule["text"]), wrap=True, selectable=True))
        texts.addWidget(label(_holds(rule), "small"))
        revoke = button(_("Take back"), lambda: self._bridge.ask(Desk.revoke, rule["id"]).then(self._show))
        revoke.setAccessibleName(_("Take back: {rule}").format(rule=rule["text"]))
        row.addLayout(texts, 1)
        row.addWidget(revoke)
        return made


def _holds(rule: dict[str, Any]) -> str:
    """For how long and where a rule holds, in words."""
    where = _("in one chat") if rule["session"] else _("in every chat")
    if not rule["until"]:
        return where
    until = time.strftime("%H:%M", time.localtime(rule["until"]))
    return _("{where}, until {time}").format(where=where, time=until)
