"""The services page: where each service is, whose key it gets, and whether anything may be sent there."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from desktop import desk_services
from desktop.bridge import Bridge, Fields, Reply
from desktop.notices import announce
from desktop.ollama_models import add_models
from desktop.parts import button, label, line, restyle
from desktop.theme import Theme, spacing
from resources.sentences import sentence
from resources.translation import _
from runtime.services import SERVICES

_NAMED = 4


class ServicesPage(QScrollArea):
    """One card for each service. `refresh` asks again; a card keeps its place and what is typed in it."""

    def __init__(self, bridge: Bridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        del theme
        self._bridge = bridge
        self.cards: dict[tuple[str, str], ServiceCard] = {}
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(_("Services"))
        self.refresh()

    def refresh(self) -> None:
        """Show the services as they are now."""
        self._bridge.ask(desk_services.services).then(self._show)

    def _show(self, rows: list[dict[str, Any]]) -> None:
        keys = [(row["provider"], row["address"]) for row in rows]
        if keys != list(self.cards):
            self._build(keys)
        for row in rows:
            self.cards[row["provider"], row["address"]].show_service(row)

    def _build(self, keys: list[tuple[str, str]]) -> None:
        body = QWidget()
        body.setMaximumWidth(760)
        column = QVBoxLayout(body)
        column.setContentsMargins(spacing(6), spacing(5), spacing(6), spacing(8))
        column.setSpacing(spacing(4))
        column.addWidget(label(_("Services"), "title"))
        words = _(
            "Models on other machines. Keys go into the keyring of this system and to their own service, "
            "nowhere else. A profile with a base_url adds another service that speaks the same language."
        )
        column.addWidget(label(words, "muted", wrap=True))
        self.cards = {key: ServiceCard(self._bridge, self._show) for key in keys}
        for key, card in self.cards.items():
            add_models(card, self._bridge, *key)
            column.addWidget(card)
        column.addStretch(1)
        outer = QWidget()
        row = QHBoxLayout(outer)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        row.addWidget(body, 100)
        row.addStretch(1)
        self.setWidget(outer)


class ServiceCard(QFrame):
    """One service; `changed` gets the list of all services after a change."""

    def __init__(self, bridge: Bridge, changed: Any, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self._bridge = bridge
        self._changed = changed
        self._service: dict[str, Any] = {}
        self._asking = False
        self.title = label("", "section")
        self.badge = label("", "badge")
        self.address = label("", "small", wrap=True, selectable=True)
        self.used = label("", "small", wrap=True)
        self.key = label("", wrap=True)
        self.field = QLineEdit()
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self.keep = button(_("Keep"), self.on_keep)
        self.keep.setEnabled(False)
        self.field.returnPressed.connect(self.on_keep)
        self.field.textChanged.connect(lambda text: self.keep.setEnabled(bool(text.strip())))
        self.remove = button(_("Remove"), self.on_remove)
        self.sent = label("", wrap=True)
        self.allow = button("", self.on_allow)
        self.test = button(_("Test"), self.on_test)
        self.result = label("", "small", wrap=True, selectable=True)
        self._lay_out()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(spacing(4), spacing(3), spacing(4), spacing(3))
        column.setSpacing(spacing(2))
        top = QHBoxLayout()
        top.addWidget(self.title)
        top.addStretch(1)
        top.addWidget(self.badge)
        about = QVBoxLayout()
        about.setSpacing(0)
        about.addWidget(self.address)
        about.addWidget(self.used)
        column.addLayout(top)
        column.addLayout(about)
        for left, right in (
            (None, None),
            (self.key, self.remove),
            (self.field, self.keep),
            (None, None),
            (self.sent, self.allow),
            (self.result, self.test),
        ):
            if left is None or right is None:
                column.addWidget(line())
                continue
            row = QHBoxLayout()
            row.setSpacing(spacing(2))
            row.addWidget(left, 1)
            row.addWidget(right, 0, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
            column.addLayout(row)
        order = (self.field, self.keep, self.remove, self.allow, self.test)
        for before, after in pairwise(order):
            QWidget.setTabOrder(before, after)

    def _even(self) -> None:
        """Give the buttons one width."""
        buttons = (self.remove, self.keep, self.allow, self.test)
        width = max(made.sizeHint().width() for made in buttons)
        for made in buttons:
            made.setMinimumWidth(width)

    def show_service(self, service: dict[str, Any]) -> None:
        """Show the service as it is now; what was typed stays."""
        self._service = service
        title, host = service["title"], service["host"]
        self.setAccessibleName(_name(service))
        self.title.setText(title)
        self._show_badge(service)
        self.address.setText(service["address"])
        profiles = ", ".join(service["profiles"])
        self.used.setText(
            _("Used by {profiles}").format(profiles=profiles) if profiles else _("Used by no profile")
        )
        self._show_key(service)
        self.sent.setText(_sent(service))
        self.allow.setVisible(not service["local"])
        self.allow.setText(_("Take back") if service["allowed"] else _("Allow"))
        told = (
            _("Take back the permission for {host}") if service["allowed"] else _("Allow sending to {host}")
        )
        self.allow.setAccessibleName(told.format(host=host))
        self.test.setAccessibleName(_("Test {service}").format(service=_name(service)))
        self.test.setToolTip(_("Asks the service for the list of its models"))
        self.test.setVisible(service.get("talks", True))
        self._even()

    def _show_badge(self, service: dict[str, Any]) -> None:
        if service["local"]:
            text, tone = _("on this machine"), ""
        elif service["allowed"]:
            text, tone = _("allowed"), "remote"
        else:
            text, tone = _("not allowed"), "plain"
        self.badge.setText(text)
        self.badge.setProperty("tone", tone)
        restyle(self.badge)

    def _show_key(self, service: dict[str, Any]) -> None:
        title, kept = _name(service), service["key"]["where"] == "keyring"
        self.key.setText(_key(service))
        self.key.setProperty("role", "error" if service["fault"] else "")
        restyle(self.key)
        self.remove.setVisible(kept)
        self.remove.setAccessibleName(_("Remove the key of {service}").format(service=title))
        self.field.setPlaceholderText(_("Enter another key") if kept else _("Enter a key"))
        self.field.setAccessibleName(_("Key for {service}").format(service=title))
        self.keep.setAccessibleName(_("Keep the key of {service}").format(service=title))

    # --- what the user does ---------------------------------------------------------------------------

    def on_keep(self) -> None:
        """Put what was typed into the keyring; the field is empty afterwards, whatever comes of it."""
        key = self.field.text()
        self.field.setFocus()  # the button is switched off with the text
        self.field.clear()
        if key.strip():
            asked = self._bridge.ask(desk_services.keep_key, *self._which(), key)
            self._take(asked, _("The key is in the keyring of this system."))

    def on_remove(self) -> None:
        """Take the key out of the keyring."""
        self.field.setFocus()  # the button goes with the key
        self._take(self._bridge.ask(desk_services.remove_key, *self._which()), _("The key is removed."))

    def on_allow(self) -> None:
        """Allow the host, or take that back."""
        if self._service["allowed"]:
            self._take(self._bridge.ask(desk_services.revoke_service, self._service["address"]), "")
        else:
            self._take(self._bridge.ask(desk_services.allow_service, *self._which()), "")

    def on_test(self) -> None:
        """Ask for the list of models and say what was reached and what came."""
        if self._asking:
            return
        self._asking = True
        self._say(_("Asking {host}…").format(host=self._service["host"]))
        self._bridge.ask(desk_services.try_service, *self._which()).then(self._on_tried, self._on_untried)

    def _on_tried(self, found: dict[str, Any]) -> None:
        self._asking = False
        names = found["models"]
        told = _("{host} answered in {seconds} s and offers {count} models").format(
            host=found["host"], seconds=found["seconds"], count=len(names)
        )
        shown = ", ".join(names[:_NAMED]) + (" …" if len(names) > _NAMED else "")
        self._say(f"{told}: {shown}" if names else f"{told}.")

    def _on_untried(self, code: str, fields: Fields) -> None:
        self._asking = False
        self._on_refused(code, fields)

    def _on_refused(self, code: str, fields: Fields) -> None:
        self._say(sentence(code, **fields), "error")

    def _take(self, asked: Reply[list[dict[str, Any]]], done: str) -> None:
        def show(rows: list[dict[str, Any]]) -> None:
            self._changed(rows)
            self._say(done)

        asked.then(show, self._on_refused)

    def _say(self, text: str, role: str = "small") -> None:
        self.result.setText(text)
        if text:
            announce(self, text)
        self.result.setProperty("role", role)
        restyle(self.result)

    def _which(self) -> tuple[str, str]:
        return self._service["provider"], self._service["address"]


def _name(service: dict[str, Any]) -> str:
    """What a screen reader calls it: several addresses of one service must not sound alike."""
    known = SERVICES.get(service["provider"])
    if known is not None and service["address"] == known.address:
        return known.title
    return _("{service} at {address}").format(service=service["title"], address=service["address"])


def _key(service: dict[str, Any]) -> str:
    """Where the key comes from, in words."""
    if service["fault"]:
        return sentence(service["fault"]["code"], **service["fault"]["fields"])
    where, hint = service["key"]["where"], service["key"]["hint"]
    ends = _(", ending in {hint}").format(hint=hint) if hint else ""
    if where == "keyring":
        return _("Key in the keyring of this system") + ends
    if where == "environment":
        return _("Key from the environment ({variable})").format(variable=service["variable"]) + ends
    if service["needs_key"]:
        return _("No key yet. It can also come from the environment, as {variable}.").format(
            variable=service["variable"]
        )
    return _("No key; this service needs none unless it was set up with one.")


def _sent(service: dict[str, Any]) -> str:
    """What is sent where, in words."""
    host = service["host"]
    if service["local"]:
        return _("It runs on this machine: nothing leaves it by asking here.")
    if not service.get("talks", True):
        told = _(
            "Models are looked for and fetched there: names and searches are sent to {host}, chats never."
        )
    elif service["allowed"]:
        told = _(
            "What you write in chats with its models, with pictures and results of tools, is sent to {host}."
        )
    else:
        told = _(
            "If you allow it, what you write in chats with its models, with pictures and results of tools, "
            "is sent to {host}. Until then nothing is."
        )
    return told.format(host=host)
