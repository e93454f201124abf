"""The permissions page: what the agent may do without asking, and the way to take that back."""

from __future__ import annotations

import time
from typing import Any

from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from desktop.bridge import Bridge
from desktop.desk import Desk
from desktop.pages.computer_hosts import ComputerHosts
from desktop.parts import button, label, line
from desktop.theme import Theme, spacing
from resources.translation import _


class PermissionsPage(QScrollArea):
    """Lists the rules that approvals left behind in the chats open here, and the hosts that the agent's
    computer may always reach. `refresh` asks again."""

    def __init__(self, bridge: Bridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        del theme
        self._bridge = bridge
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(_("Permissions"))
        self.hosts = ComputerHosts(bridge)
        self._lay_out()
        self.refresh()

    def refresh(self) -> None:
        """Show the rules and hosts as they are now."""
        self._bridge.ask(Desk.rules).then(self._show)
        self.hosts.refresh()

    def _lay_out(self) -> None:
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(spacing(6), spacing(5), spacing(6), spacing(8))
        column.setSpacing(spacing(3))
        column.addWidget(label(_("Permissions"), "title"))
        words = _("What the agent may do without asking, because you said so when you approved something.")
        column.addWidget(label(words, "muted", wrap=True))
        column.addWidget(line())
        self._rules = QVBoxLayout()
        self._rules.setSpacing(spacing(3))
        column.addLayout(self._rules)
        column.addSpacing(spacing(4))
        column.addWidget(self.hosts)
        column.addStretch(1)
        self.setWidget(body)

    def _show(self, rules: list[dict[str, Any]]) -> None:
        while (item := self._rules.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.setParent(None)
                old.deleteLater()
        for rule in rules:
            self._rules.addWidget(self._row(rule))
        if not rules:
            self._rules.addWidget(label(_("There are none: the agent asks each time."), wrap=True))

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
