"""The part of the permissions page that says which hosts the agent's computer may always reach."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from desktop import desk_hosts
from desktop.bridge import Bridge, Fields
from desktop.notices import announce
from desktop.parts import button, label, line
from desktop.theme import spacing
from resources.sentences import sentence
from resources.translation import _


class ComputerHosts(QWidget):
    """The list of the settings, with a field to add to it. `refresh` asks again."""

    def __init__(self, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self.removes: dict[str, QPushButton] = {}
        self.field = QLineEdit()
        self.field.setPlaceholderText(_("A host, for example docs.python.org or *.wikipedia.org"))
        self.field.setAccessibleName(_("Host that the agent's computer may always reach"))
        self.field.returnPressed.connect(self.on_add)
        self.add = button(_("Add"), self.on_add)
        self.add.setEnabled(False)
        self.field.textChanged.connect(self._on_typed)
        self.fault = label("", "error", wrap=True)
        self.fault.hide()
        self.list = QVBoxLayout()
        self.list.setSpacing(spacing(1))
        self._lay_out()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(spacing(2))
        column.addWidget(label(_("Hosts for the agent's computer"), "section"))
        words = _(
            "It reaches these without asking. For any other host it asks in the chat, and what you allow "
            "there ends with the turn, since a page may talk the agent into asking."
        )
        column.addWidget(label(words, "muted", wrap=True))
        column.addWidget(line())
        column.addLayout(self.list)
        row = QHBoxLayout()
        row.setSpacing(spacing(2))
        row.addWidget(self.field, 1)
        row.addWidget(self.add)
        column.addLayout(row)
        column.addWidget(self.fault)

    def refresh(self) -> None:
        """Show the list as it is now."""
        self._bridge.ask(desk_hosts.computer_hosts).then(self._show)

    def on_add(self) -> None:
        """Add what is in the field."""
        text = self.field.text().strip()
        if text:
            self._bridge.ask(desk_hosts.add_computer_host, text).then(self._on_added, self._on_refused)

    def on_remove(self, host: str) -> None:
        """Take `host` out of the list."""
        self._bridge.ask(desk_hosts.remove_computer_host, host).then(self._on_removed, self._on_refused)

    def _on_typed(self, text: str) -> None:
        self.add.setEnabled(bool(text.strip()))
        self.fault.hide()

    def _on_added(self, hosts: list[str]) -> None:
        self.field.clear()
        self._show(hosts)
        announce(self, _("Added to the hosts of the agent's computer."))

    def _on_removed(self, hosts: list[str]) -> None:
        self._show(hosts)
        self.field.setFocus()

    def _on_refused(self, code: str, fields: Fields) -> None:
        self.fault.setText(sentence(code, **fields))
        self.fault.show()
        announce(self, self.fault.text())

    def _show(self, hosts: list[str]) -> None:
        self.removes.clear()
        while (item := self.list.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.setParent(None)
                old.deleteLater()
        for host in hosts:
            self.list.addWidget(self._row(host))
        if not hosts:
            self.list.addWidget(label(_("None: it asks for each host."), wrap=True))

    def _row(self, host: str) -> QWidget:
        made = QWidget()
        row = QHBoxLayout(made)
        row.setContentsMargins(0, 0, 0, 0)
        remove = button(_("Remove"), partial(self.on_remove, host))
        remove.setAccessibleName(_("Remove {host} from the hosts of the agent's computer").format(host=host))
        self.removes[host] = remove
        row.addWidget(label(host, wrap=True, selectable=True), 1)
        row.addWidget(remove)
        return made
