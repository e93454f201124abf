"""The pages beside the chat; a new page is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from desktop.bridge import Bridge
from desktop.theme import Theme
from resources.translation import _


@dataclass(frozen=True, slots=True)
class Page:
    """How a page is announced and made. `make` is called when the page is first opened; `set_theme` and
    `refresh` of the widget, where it has them, are called on a change of theme and each time it is shown."""

    name: str
    icon: str
    title: str
    make: Callable[[Bridge, Theme], QWidget]


def pages() -> list[Page]:
    """Every page, in the order of the sidebar."""
    return [
        Page("review", "review", _("Review"), _review),
        Page("models", "models", _("Models"), _models),
        Page("permissions", "shield", _("Permissions"), _permissions),
        Page("services", "key", _("Services"), _services),
        Page("network", "network", _("Network"), _network),
        Page("usage", "usage", _("Usage"), _usage),
        Page("settings", "settings", _("Settings"), _settings),
        Page("about", "about", _("About"), _about),
    ]


def _review(bridge: Bridge, theme: Theme) -> QWidget:
    from desktop.pages.review import ReviewPage

    return ReviewPage(bridge, theme)


def _models(bridge: Bridge, theme: Theme) -> QWidget:
    from desktop.pages.models import ModelsPage

    return ModelsPage(bridge, theme)


def _permissions(bridge: Bridge, theme: Theme) -> QWidget:
    from desktop.pages.permissions import PermissionsPage

    return PermissionsPage(bridge, theme)


def _services(bridge: Bridge, theme: Theme) -> QWidget:
    from desktop.pages.services import ServicesPage

    return ServicesPage(bridge, theme)


def _network(bridge: Bridge, theme: Theme) -> QWidget:
    from desktop.pages.network import NetworkPage

    return NetworkPage(bridge, theme)


def _usage(bridge: Bridge, theme: Theme) -> QWidget:
    from desktop.pages.usage import UsagePage

    return UsagePage(bridge, theme)


def _settings(bridge: Bridge, theme: Theme) -> QWidget:
    from desktop.pages.settings import SettingsPage

    return SettingsPage(bridge, theme)


def _about(bridge: Bridge, theme: Theme) -> QWidget:
    del theme
    from desktop.pages.about import AboutPage

    return AboutPage(bridge)
