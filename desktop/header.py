"""The line over the chat: its title, who answers, and where that runs."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QPushButton, QWidget

from desktop.parts import ElidedLabel, button, icon_button, label, restyle
from desktop.theme import spacing
from resources.translation import _


class Header(QFrame):
    """Shows a session's card; the pickers list what the runtime offers."""

    profile_chosen = Signal(str)
    model_chosen = Signal(str)
    autonomy_chosen = Signal(str)
    sidebar_requested = Signal()
    find_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        self._profiles: list[dict[str, Any]] = []
        self._models: list[dict[str, Any]] = []
        self._card: dict[str, Any] = {}
        self.title = ElidedLabel()
        self.title.setProperty("role", "section")
        self.private = label(_("Private: not stored"), "badge")
        self.private.setProperty("tone", "plain")
        self.where = label("", "badge")
        self.profile = self._picker(_("Profile"), self._fill_profiles)
        self.model = self._picker(_("Model"), self._fill_models)
        self.autonomy = self._picker(_("How freely it works"), self._fill_autonomy)
        self.sidebar_button = icon_button(
            "sidebar", _("Show the sidebar (Ctrl+B)"), self.sidebar_requested.emit
        )
        find = icon_button("search", _("Find in this chat (Ctrl+F)"), self.find_requested.emit)
        row = QHBoxLayout(self)
        row.setContentsMargins(spacing(4), spacing(2), spacing(3), spacing(2))
        row.setSpacing(spacing(1))
        row.addWidget(self.sidebar_button)
        row.addWidget(self.title, 1)
        for part in (self.private, self.profile, self.model, self.autonomy, self.where, find):
            row.addWidget(part)
        self.private.hide()
        self.sidebar_button.hide()
        self.show_card({})

    def set_choices(self, profiles: list[dict[str, Any]], models: list[dict[str, Any]]) -> None:
        """`profiles` and `models` as the desk's overview lists them."""
        self._profiles = profiles
        self._models = models
        self.show_card(self._card)

    def show_card(self, card: dict[str, Any]) -> None:
        """Draw the session in front; an empty card draws a window without one."""
        self._card = card
        self.title.setText(str(card.get("title") or _("New chat")) if card else "")
        self.private.setVisible(bool(card.get("private")))
        for picker in (self.profile, self.model, self.autonomy):
            picker.setVisible(bool(card))
        self.profile.setText(str(card.get("profile", "")))
        self.profile.setAccessibleName(_("Profile: {name}").format(name=card.get("profile", "")))
        shown = self._model_title(str(card.get("model", "")))
        self.model.setText(shown)
        self.model.setAccessibleName(_("Model: {name}").format(name=shown))
        free = card.get("autonomy") == "auto"
        self.autonomy.setText(_("Works alone") if free else _("Asks first"))
        self.autonomy.setAccessibleName(_("How freely it works: {mode}").format(mode=self.autonomy.text()))
        self.where.setVisible(bool(card))
        if card:
            self.set_local(bool(card.get("local", True)), str(card.get("provider", "")))

    def set_local(self, local: bool, provider: str) -> None:
        """Say whether words stay on this machine or go to `provider`."""
        self.where.setText(_("On this machine") if local else _("Sent to {name}").format(name=provider))
        self.where.setToolTip(
            _("Nothing you write leaves this machine.")
            if local
            else _("What you write is sent to {name} over the network.").format(name=provider)
        )
        self.where.setProperty("tone", "local" if local else "remote")
        restyle(self.where)

    def _picker(self, tip: str, fill: Any) -> QPushButton:
        made = button("", lambda: None, "quiet")
        made.setToolTip(tip)
        menu = QMenu(made)
        menu.aboutToShow.connect(lambda: fill(menu))
        made.setMenu(menu)
        return made

    def _fill_profiles(self, menu: QMenu) -> None:
        menu.clear()
        group = QActionGroup(menu)
        for profile in self._profiles:
            place = _("on this machine") if profile.get("local", True) else str(profile["provider"])
            action = self._choice(menu, group, f"{profile['name']}   ({place})")
            action.setChecked(profile["name"] == self._card.get("profile"))
            action.triggered.connect(lambda _on=False, name=profile["name"]: self.profile_chosen.emit(name))

    def _fill_models(self, menu: QMenu) -> None:
        menu.clear()
        group = QActionGroup(menu)
        for model in self._models:
            size = f"{model['size'] / 1e6:.0f} MB" if model.get("size") else ""
            action = self._choice(menu, group, "   ".join(part for part in (model["name"], size) if part))
            action.setChecked(model["name"] == self._card.get("model"))
            if model.get("error"):
                action.setEnabled(False)
                action.setToolTip(str(model["error"]))
            action.triggered.connect(lambda _on=False, name=model["name"]: self.model_chosen.emit(name))
        if not self._models:
            menu.addAction(_("No model file was found")).setEnabled(False)

    def _fill_autonomy(self, menu: QMenu) -> None:
        menu.clear()
        group = QActionGroup(menu)
        for mode, text in (
            ("semi", _("Asks first: before anything that changes something")),
            ("auto", _("Works alone: asks only when the risk is high")),
        ):
            action = self._choice(menu, group, text)
            action.setChecked(self._card.get("autonomy", "semi") == mode)
            action.triggered.connect(lambda _on=False, name=mode: self.autonomy_chosen.emit(name))

    @staticmethod
    def _choice(menu: QMenu, group: QActionGroup, text: str) -> QAction:
        action = menu.addAction(text)
        action.setCheckable(True)
        group.addAction(action)
        return action

    def _model_title(self, model: str) -> str:
        name = model.replace("\\", "/").rpartition("/")[2]
        return name.removesuffix(".gguf").removesuffix(".yaml") or _("no model")
