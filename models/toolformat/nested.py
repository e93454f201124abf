"""Reads a value whose objects and arrays are tags themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.toolformat import values
from models.toolformat.format import KEY, TagArguments

_DEPTH = 32


def nested(text: str, tags: TagArguments, schema: Any, root: Mapping[str, Any], depth: int = 0) -> Any:
    """The value that `text` stands for: tags become an object or an array where the schema allows one."""
    opening = tags.key_open.strip()
    allowed = values.types(schema, root)
    body = text.strip()
    if not body.startswith(opening) or depth > _DEPTH or not allowed & {"object", "array"}:
        return values.typed(text, schema, root)
    members = _members(body, tags)
    if members is None:
        return values.typed(text, schema, root)
    if all(key == tags.item for key, _ in members) and "array" in allowed:
        of = _branch(schema, root, "array").get("items")
        return [nested(inner, tags, of, root, depth + 1) for _, inner in members]
    if "object" not in allowed:
        return values.typed(text, schema, root)
    within = _branch(schema, root, "object")
    return {
        key: nested(inner, tags, values.property_of(within, root, key), root, depth + 1)
        for key, inner in members
    }


def _members(body: str, tags: TagArguments) -> list[tuple[str, str]] | None:
    """The tags next to each other in `body`, or None if there is other text."""
    opening, middle = tags.key_open.strip(), tags.key_close["string"].strip()
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(body):
        if body[at].isspace():
            at += 1
            continue
        stop = body.find(middle, at + len(opening))
        if not body.startswith(opening, at) or stop < 0:
            return None
        key = body[at + len(opening) : stop]
        start = stop + len(middle)
        end = _close(body, start, f"{opening}{key}{middle}", tags.value_close.strip().replace(KEY, key))
        if end < 0:
            return None
        found.append((key, body[start:end]))
        at = end + len(tags.value_close.strip().replace(KEY, key))
    return found


def _close(body: str, start: int, opening: str, closing: str) -> int:
    """Where the tag opened before `start` closes, past tags of the same name; -1 if it does not."""
    depth, at = 0, start
    while True:
        end = body.find(closing, at)
        if end < 0:
            return -1
        inner = body.find(opening, at, end)
        if inner >= 0:
            depth, at = depth + 1, inner + len(opening)
        elif depth:
            depth, at = depth - 1, end + len(closing)
        else:
            return end


def _branch(given: Any, root: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """The part of a schema that describes values of the JSON type `kind`."""
    if not isinstance(given, Mapping):
        return {}
    schema = values.resolved(given, root)
    for branch in [one for key in ("anyOf", "oneOf", "allOf") for one in schema.get(key) or []]:
        if kind in values.types(branch, root):
            return _branch(branch, root, kind)
    return schema
