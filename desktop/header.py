"""The line over the chat: its title, who answers, and where that runs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QActionGroup, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QInputDialog, QMenu, QWidget

from desktop.parts import ElidedLabel, choose, icon_button, label, picker, restyle
from desktop.theme import spacing
from resources.sentences import sentence
from resources.translation import _
from runtime.checks.model import acting

if TYPE_CHECKING:
    from models.generation import Acting

NARROW = 560
LISTED = ("local", "scripted")
"""Providers whose models are known from the start."""


class Header(QFrame):
    """Shows a session's card; the pickers list what the runtime offers. `models_wanted` carries the profile
    whose service's models are to be asked for, each time their menu opens; `add_models` brings them."""

    profile_chosen = Signal(object)
    model_chosen = Signal(object)
    more_models_requested = Signal()
    models_wanted = Signal(object)
    sidebar_requested = Signal()
    find_requested = Signal()
    computer_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        self.profiles: list[dict[str, Any]] = []
        self.models: list[dict[str, Any]] = []
        self._card: dict[str, Any] = {}
        self.title = ElidedLabel()
        self.title.setProperty("role", "section")
        self.private = label(_("Private"), "badge")
        self.private.setToolTip(_("Nothing of this chat is stored."))
        self.private.setProperty("tone", "plain")
        self.where = label("", "badge")
        self.profile = picker(_("Profile"), self._fill_profiles)
        self.model = picker(_("Model"), self._fill_models)
        for narrow in (self.profile, self.model):
            narrow.setMaximumWidth(190)
        self.sidebar_button = icon_button(
            "sidebar", _("Show the sidebar (Ctrl+B)"), self.sidebar_requested.emit
        )
        find = icon_button("search", _("Find in this chat (Ctrl+F)"), self.find_requested.emit)
        self.computer = icon_button(
            "screen", _("Show or hide the agent's computer (Ctrl+Shift+C)"), self.computer_requested.emit
        )
        row = QHBoxLayout(self)
        row.setContentsMargins(spacing(4), spacing(2), spacing(3), spacing(2))
        row.setSpacing(spacing(1))
        row.addWidget(self.sidebar_button)
        row.addWidget(self.title, 1)
        for part in (self.private, self.profile, self.model, self.where, find, self.computer):
            row.addWidget(part)
        self.private.hide()
        self.sidebar_button.hide()
        self.show_card({})

    def set_choices(self, profiles: list[dict[str, Any]], models: list[dict[str, Any]]) -> None:
        """`profiles` and `models` as the desk's overview lists them."""
        self.profiles = profiles
        self.models = models
        self.show_card(self._card)

    def add_models(self, models: list[dict[str, Any]]) -> None:
        """Take in a service's models, which replace those known of the same profile, and show them in the
        menu where it is open."""
        profiles = {model["profile"] for model in models}
        if models and [one for one in self.models if one.get("profile") in profiles] == models:
            return
        self.models = [one for one in self.models if one.get("profile") not in profiles] + models
        menu = self.model.menu()
        if menu.isVisible():
            menu.clear()
            self._list_models(menu)

    def show_card(self, card: dict[str, Any]) -> None:
        """Draw the session in front; an empty card draws a window without one."""
        self._card = card
        self.title.setText(str(card.get("title") or _("New chat")) if card else "")
        self.private.setVisible(bool(card.get("private")))
        self.profile.setVisible(bool(card))
        self._fit()
        self.profile.setText(str(card.get("profile", "")))
        self.profile.setAccessibleName(_("Profile: {name}").format(name=card.get("profile", "")))
        shown = self._model_title(str(card.get("model", "")))
        self.model.setText(shown)
        self.model.setAccessibleName(_("Model: {name}").format(name=shown))
        self.where.setVisible(bool(card))
        if card:
            self.set_local(bool(card.get("local", True)), str(card.get("host", "")))

    def set_local(self, local: bool, host: str) -> None:
        """Say whether words stay on this machine or go to `host`."""
        place = _("On this machine") if local else _("Sent to {name}").format(name=host)
        meaning = (
            _("Nothing you write leaves this machine.")
            if local
            else _("What you write is sent to {name} over the network.").format(name=host)
        )
        if not self._card.get("tools", True):
            place = _("{place} · chats only").format(place=place)
            meaning += "\n" + _("This model cannot use tools: it talks, and changes nothing.")
        elif self._card.get("calls"):
            meaning += "\n" + _calls(self._card["calls"])
        self.where.setText(place)
        self.where.setToolTip(meaning)
        self.where.setProperty("tone", "local" if local else "remote")
        restyle(self.where)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Where it is narrow the model gives way first; the palette and the settings still reach it."""
        self.model.setVisible(bool(self._card) and self.width() >= NARROW)

    def _fill_profiles(self, menu: QMenu) -> None:
        group = QActionGroup(menu)
        for profile in self.profiles:
            place = _("on this machine") if profile.get("local", True) else str(profile["provider"])
            chosen = profile["name"] == self._card.get("profile")
            run = partial(self.profile_chosen.emit, profile["name"])
            choose(menu, group, f"{profile['name']}   ({place})", chosen, run)

    def other_models(self) -> list[dict[str, Any]]:
        """The usable models the chat in front could be given instead of its own."""
        return [one for one in self._offered() if not self._is_in_use(one) and not one.get("error")]

    def _offered(self) -> list[dict[str, Any]]:
        profile = self._card.get("profile")
        own = [one for one in self.models if one.get("profile") == profile]
        return own or [one for one in self.models if one["provider"] == self._card.get("provider")]

    def _is_in_use(self, model: dict[str, Any]) -> bool:
        asked = self._card.get("model", "")
        return model["name"] == asked or (asked in ("", "bundled") and bool(model.get("default")))

    def _fill_models(self, menu: QMenu) -> None:
        if self._card.get("provider", "local") not in LISTED:
            self.models_wanted.emit(self._card["profile"])
            if not self._offered():
                menu.addAction(_("Asking for the models…")).setEnabled(False)
                return
        self._list_models(menu)

    def _list_models(self, menu: QMenu) -> None:
        group = QActionGroup(menu)
        for model in self._offered():
            size = f"{model['size'] / 1e6:.0f} MB" if model.get("size") else ""
            text = "   ".join(part for part in (model["name"], size) if part)
            chosen = self._is_in_use(model)
            action = choose(menu, group, text, chosen, partial(self.model_chosen.emit, model["name"]))
            if model.get("error"):
                action.setEnabled(model["provider"] != "local")
                action.setToolTip(sentence(model["error"], **model.get("fields", {})))
        if menu.isEmpty():
            none = (
                _("No model file was found") if self._card.get("provider") == "local" else self.model.text()
            )
            menu.addAction(none).setEnabled(False)
        if self._card.get("provider", "local") not in LISTED:
            menu.addSeparator()
            menu.addAction(_("Another model…"), self._ask_model)
        menu.addSeparator()
        menu.addAction(_("More models…"), self.more_models_requested.emit)

    def _ask_model(self) -> None:
        """Let the name of a model be typed that the service's list does not show."""
        words = _("Name of the model, as {name} calls it:").format(name=self._card.get("provider", ""))
        name, chosen = QInputDialog.getText(self, _("Another model"), words)
        if chosen and name.strip():
            self.model_chosen.emit(name.strip())

    def _model_title(self, model: str) -> str:
        name = model.replace("\\", "/").rpartition("/")[2]
        return name.removesuffix(".gguf").removesuffix(".yaml") or _("no model")


def _calls(how: Acting) -> str:
    """How sure the calls of a model are, as a sentence."""
    words = acting(how)
    return f"{words[0].upper()}{words[1:]}."
