"""Error codes become sentences: what happened, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping

import resources
from resources.translation import _


class _Fields(dict[str, object]):
    """Fields of a sentence; one that was not given stays visible as its name in braces."""

    def __missing__(self, name: str) -> str:
        return "{" + name + "}"


def known() -> Mapping[str, str]:
    """Every code with its English sentence, as written in sentences.yaml; read-only."""
    sentences: dict[str, str] = resources.yaml("sentences.yaml") or {}
    return sentences


def sentence(code: str, **fields: object) -> str:
    """The translated sentence of `code`, filled with `fields`; never raises for an unknown code or field.

    A field `reason_code` is the code of another sentence, with the same fields, that becomes `reason`.
    """
    if isinstance(cause := fields.get("reason_code"), str):
        fields["reason"] = sentence(cause, **{key: fields[key] for key in fields if key != "reason_code"})
    template = known().get(code)
    if template is None:
        details = ", ".join(f"{name}: {value}" for name, value in fields.items()) or _("no details")
        return _("Something failed that has no description yet: {code} ({details}).").format(
            code=code, details=details
        )
    return _(template).format_map(_Fields(fields))
