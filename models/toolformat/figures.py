"""Puts numbers and dates that were said into the form in which a tool wants them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from models.toolformat.mentions import WORD, Mentions, numbers

_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_PARTS = frozenset(("decimal", "fraction"))
_SHARES = frozenset(("probability", "rate", "ratio", "return", "yield"))
"""Words for what is a part of one where nobody speaks of per cent; the first ones even beside the sign."""

_PERCENT = re.compile(r"per\s?cent", re.IGNORECASE)


def as_wanted(key: str, value: Any, schema: Mapping[str, Any], said: Mentions) -> Any:
    """The value of the argument `key` as its `schema` wants it: without zeros that were not said, a rate that
    was said in per cent as a part of one, a date with all its digits. Values that the schema names stay."""
    if isinstance(value, list):
        inner = schema.get("items")
        return [as_wanted(key, one, inner if isinstance(inner, Mapping) else {}, said) for one in value]
    described = str(schema.get("description") or "")
    if isinstance(value, str):
        date = _DATE.fullmatch(value)
        wanted = schema.get("format") == "date" or "YYYY-MM-DD" in described.upper()
        return "{}-{:0>2}-{:0>2}".format(*date.groups()) if date and wanted else value
    if not isinstance(value, int | float) or isinstance(value, bool):
        return value
    if schema.get("default") == value:
        return value
    if schema.get("type") == "number" and value in said.percents and _is_share(f"{key} {described}"):
        return round(value / 100, 12)
    if value in numbers(described):
        return value
    meant = said.shortened(value)
    return value if meant == value else int(meant) if meant.is_integer() else meant


def _is_share(text: str) -> bool:
    words = {word for one in WORD.findall(text.casefold()) for word in one.split("_")}
    if _PERCENT.search(text) or ("%" in text and not words & _PARTS):
        return False
    return bool(words & (_SHARES | _PARTS))
