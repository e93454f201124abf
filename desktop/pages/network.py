"""The network page: hosts that may be reached, and everything that ever left this machine."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

from PySide6.QtWidgets import QFrame, QHBoxLayout, QHeaderView, QScrollArea, QVBoxLayout, QWidget

from desktop import desk_services
from desktop.bridge import Bridge
from desktop.parts import button, label, line
from desktop.table import ReadingTable
from desktop.theme import Theme, spacing
from resources.translation import _
from runtime.amounts import size
from runtime.model_sources import DOWNLOAD, SEARCH
from runtime.network import PULL, uncounted

Rows = list[dict[str, Any]]


class NetworkPage(QScrollArea):
    """The permissions and the ledger as they are when it is shown; `refresh` asks again."""

    def __init__(self, bridge: Bridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        del theme
        self._bridge = bridge
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(_("Network"))
        self.refresh()

    def refresh(self) -> None:
        """Read the ledger again."""
        self._bridge.ask(desk_services.network).then(self._show)

    def _show(self, found: dict[str, Any]) -> None:
        body = QWidget()
        body.setMaximumWidth(960)
        column = QVBoxLayout(body)
        column.setContentsMargins(spacing(6), spacing(5), spacing(6), spacing(8))
        column.setSpacing(spacing(3))
        column.addLayout(self._top(found))
        column.addSpacing(spacing(3))
        column.addWidget(label(_("Allowed hosts"), "section"))
        column.addWidget(line())
        for permission in found["allowed"]:
            column.addWidget(self._permission(permission))
        if not found["allowed"]:
            column.addWidget(label(_("None: no host may be reached but this machine."), "muted", wrap=True))
        for title, local in ((_("Reached on the network"), False), (_("Reached on this machine"), True)):
            if rows := [row for row in found["hosts"] if row["local"] == local]:
                column.addSpacing(spacing(3))
                column.addWidget(label(title, "section"))
                column.addWidget(_hosts(title, rows))
        if found["entries"]:
            column.addSpacing(spacing(3))
            column.addWidget(label(_("Latest requests"), "section"))
            column.addWidget(_entries(found["entries"]))
            words = _(
                "Bytes of HTTP headers and bodies, compressed as they travel; encryption adds a little."
            )
            column.addWidget(label(words, "small", wrap=True))
        column.addStretch(1)
        outer = QWidget()
        row = QHBoxLayout(outer)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        row.addWidget(body, 100)
        row.addStretch(1)
        self.setWidget(outer)

    def _top(self, found: dict[str, Any]) -> QVBoxLayout:
        top = QHBoxLayout()
        top.addWidget(label(_("Network"), "title"))
        top.addStretch(1)
        top.addWidget(button(_("Refresh"), self.refresh))
        made = QVBoxLayout()
        made.addLayout(top)
        made.addWidget(label(summary(found["hosts"]), "muted", wrap=True, selectable=True))
        if found["pulls"]:
            made.addWidget(label(uncounted(found["pulls"]), "muted", wrap=True, selectable=True))
        return made

    def _permission(self, permission: dict[str, Any]) -> QWidget:
        host = str(permission["host"])
        made = QWidget()
        row = QHBoxLayout(made)
        row.setContentsMargins(0, 0, 0, 0)
        texts = QVBoxLayout()
        texts.setSpacing(0)
        texts.addWidget(label(host, wrap=True, selectable=True))
        since = datetime.fromisoformat(permission["since"]).timestamp()
        told = _("for {who}, since {time}") if permission["who"] else _("since {time}")
        texts.addWidget(label(told.format(who=permission["who"], time=_day(since)), "small"))
        back = button(
            _("Take back"), lambda: self._bridge.ask(desk_services.revoke_host, host).then(self._show)
        )
        back.setAccessibleName(_("Take back the permission for {host}").format(host=host))
        row.addLayout(texts, 1)
        row.addWidget(back)
        return made


def summary(hosts: Rows) -> str:
    """What left this machine, in one sentence."""
    far = [row for row in hosts if not row["local"]]
    if not far:
        return _("Nothing has left this machine.")
    told = _("{sent} went to {count} hosts and {received} came back since {day}.")
    if len(far) == 1:
        told = _("{sent} went to one host and {received} came back since {day}.")
    return told.format(
        sent=size(sum(row["sent"] for row in far)),
        received=size(sum(row["received"] for row in far)),
        count=len(far),
        day=_day(min(row["first"] for row in far)),
    )


def _hosts(title: str, rows: Rows) -> ReadingTable:
    names = [_("Host"), _("Times"), _("Sent"), _("Received"), _("First"), _("Last")]
    lines = [
        [
            row["host"],
            str(row["times"]),
            size(row["sent"]),
            size(row["received"]),
            _day(row["first"]),
            _day(row["last"]),
        ]
        for row in rows
    ]
    return _table(title, names, lines, right=(1, 2, 3))


def _entries(entries: Rows) -> ReadingTable:
    names = [_("When"), _("Host"), _("For"), _("Answer"), _("Sent"), _("Received"), _("Seconds")]
    lines = [
        [
            _day(entry["time"]),
            entry["host"],
            entry["who"] + _purpose(entry["purpose"]) + (_(", by proxy") if entry["via"] else ""),
            _answer(entry),
            size(entry["sent"]),
            size(entry["received"]),
            f"{entry['seconds']:.1f}",
        ]
        for entry in entries
    ]
    return _table(_("Latest requests"), names, lines, right=(4, 5, 6))


def _purpose(purpose: str) -> str:
    if purpose in (PULL, DOWNLOAD):
        return _(", to fetch a model")
    return _(", to look for models") if purpose == SEARCH else ""


def _answer(entry: dict[str, Any]) -> str:
    if entry["refused"]:
        return _("refused, nothing was sent")
    if entry["open"]:
        return _("not ended")
    return str(entry["status"]) if entry["status"] else _("none")


def _day(when: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(when))


def _table(name: str, headers: list[str], lines: list[list[str]], right: tuple[int, ...]) -> ReadingTable:
    """A table in which every cell is whole; it scrolls sideways where the window is narrow."""
    made = ReadingTable(name, headers, right)
    made.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    made.set_rows(lines)
    return made
