"""Reads from renderings how a template writes arguments as tags."""

from __future__ import annotations

import re
from collections.abc import Mapping

from models.toolformat.compare import split_between
from models.toolformat.format import KEY, TagArguments
from models.toolformat.probe import FIRST, KEYS, VALUES

_SHOWN = {"integer": "7", "boolean": "[Tt]rue", "object": "", "array": "", "null": "null|None|"}


def read_tags(pair: str, one: str, typed: Mapping[str, str]) -> tuple[int, str, int, TagArguments] | None:
    """(start of the name in `one`, text between name and first tag, end of the last tag, the tags).

    `pair` holds a call with two arguments, `one` with the first of them, `typed` with a second argument of
    each JSON type. None if the arguments are not written as tags.
    """
    key, value = one.find(KEYS[0], one.find(FIRST)), one.find(VALUES[0])
    if min(key, value) < 0 or FIRST not in pair or not key < value:
        return None
    start = one.rindex(FIRST, 0, key)
    before = one[start + len(FIRST) : key]
    middle = one[key + len(KEYS[0]) : value]
    after = one[value + len(VALUES[0]) :].replace(KEYS[0], KEY)
    first, second = pair.find(VALUES[0]), pair.find(KEYS[1], pair.find(VALUES[0]))
    if min(first, second) < 0 or not middle:
        return None
    between = pair[first + len(VALUES[0]) : second].replace(KEYS[0], KEY)
    at = split_between(before, between, after)
    key_open, value_close = between[at:].lstrip(), between[:at].rstrip()
    if not key_open or not value_close or not before.endswith(key_open):
        return None
    shown = value_close.replace(KEY, KEYS[0])
    end = one.find(shown, value) + len(shown)
    kinds = {"string": middle} | _typed(typed, key_open, value_close)
    nested = f"{key_open}grape" in typed.get("object", "")
    item = _item(typed.get("array", ""), key_open, middle) if nested else ""
    kinds = {"string": middle} if nested else kinds
    arguments = TagArguments(key_open, kinds, value_close, item)
    return start, before[: len(before) - len(key_open)], end, arguments


def _typed(typed: Mapping[str, str], key_open: str, value_close: str) -> dict[str, str]:
    """What stands between key and value for each JSON type."""
    kinds = {}
    for kind, turn in typed.items():
        at = turn.find(key_open + KEYS[1])
        if at < 0:
            continue
        rest = turn[at + len(key_open) + len(KEYS[1]) :]
        end = rest.find(value_close.replace(KEY, KEYS[1]))
        lead = (
            re.match(r"(.*?)(?:" + (_SHOWN[kind] or r"[\[{]") + r")\s*$", rest[:end], re.S)
            if end >= 0
            else None
        )
        if kind in ("object", "array"):
            lead = re.match(r"([^\[{]*)", rest[:end]) if end >= 0 else None
        if lead and lead.group(1).strip():
            kinds[kind] = lead.group(1)
    return kinds


def _item(turn: str, key_open: str, key_close: str) -> str:
    """The tag of an array's element."""
    found = re.search(re.escape(key_open) + r"(\w+)" + re.escape(key_close) + "Onyx", turn)
    return found.group(1) if found else "item"
