"""Every visible sentence passes through here, so that one call shows the house in another language."""

from __future__ import annotations

import gettext
from collections.abc import Sequence

import resources

_DOMAIN = "orion"
_current: gettext.NullTranslations = gettext.NullTranslations()


def set_language(*languages: str) -> str:
    """Use the first of `languages` ("de", "pt_BR") that has a catalogue; none given means the environment's.

    Returns the language now in use, "en" when no catalogue fits. Sentences already drawn keep their text.
    """
    global _current
    wanted: Sequence[str] | None = languages or None
    found = gettext.find(_DOMAIN, resources.path("translations"), wanted)
    if not found:
        _current = gettext.NullTranslations()
        return "en"
    with open(found, "rb") as catalogue:
        _current = gettext.GNUTranslations(catalogue)
    return _current.info().get("language", "en")


def _(message: str) -> str:
    """`message` in the language in use; the English text is the key."""
    return _current.gettext(message)


def ngettext(one: str, many: str, count: int) -> str:
    """`one` or `many`, whichever the language in use wants for `count`; fill in the number yourself."""
    return _current.ngettext(one, many, count)
