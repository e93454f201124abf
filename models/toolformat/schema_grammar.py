"""Writes the GBNF rules (llama.cpp's grammar syntax) of the JSON values that a JSON schema allows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from models.toolformat.values import resolved

MOST = 200
"""Lengths above this are not enforced: a grammar grows with every repetition it counts."""

_BASE = {
    "space": '" "?',
    "char": r'[^"\\\x7F\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F])',
    "string": r'"\"" char* "\""',
    "integer": '"-"? ("0" | [1-9] [0-9]{0,15})',
    "natural": '"0" | [1-9] [0-9]{0,15}',
    "number": '"-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]{1,15})? ([eE] [-+]? [0-9] [0-9]?)?',
    "positive": '("0" | [1-9] [0-9]{0,15}) ("." [0-9]{1,15})? ([eE] [-+]? [0-9] [0-9]?)?',
    "boolean": '"true" | "false"',
    "null": '"null"',
    "value": "object | array | string | number | boolean | null",
    "object": r'"{" space (string ":" space value ("," space string ":" space value)*)? "}"',
    "array": '"[" space (value ("," space value)*)? "]"',
}
_TYPES = ("string", "integer", "number", "boolean", "null", "object", "array")
_DEPTH = 24

Schema = Mapping[str, Any]


def literal(text: str) -> str:
    """A GBNF literal."""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + "".join(escapes.get(one, one) for one in text) + '"'


class Rules:
    """Collects named rules; `text` gives them all. What a schema says beyond JSON's shape and the limits that
    are easy to count (pattern, format, bounds of numbers but their sign, not, if) is not enforced."""

    def __init__(self) -> None:
        self._rules: dict[str, str] = {}
        self._references: dict[str, str] = {}
        self._base: set[str] = set()

    def text(self, root: str) -> str:
        """The whole grammar, whose start is the expression `root`."""
        for name in _BASE:
            if any(name in body for body in (root, *self._rules.values())):
                self._needed(name)
        rules = {"root": root, **self._rules, **{name: _BASE[name] for name in _BASE if name in self._base}}
        return "".join(f"{name} ::= {body}\n" for name, body in rules.items())

    def add(self, hint: str, body: str) -> str:
        """Name an expression."""
        stem = "".join(one if one.isascii() and one.isalnum() else "-" for one in hint)[:40]
        name = f"{stem or 'rule'}-{len(self._rules)}"
        self._rules[name] = body
        return name

    def schema(self, schema: Any, root: Schema, hint: str, depth: int = 0) -> str:
        """The expression of the values that `schema` (a part of `root`) allows."""
        if not isinstance(schema, Mapping) or depth > _DEPTH:
            return "value"
        if isinstance(schema.get("$ref"), str):
            return self._reference(schema, root, hint, depth)
        if "const" in schema:
            return literal(_dump(schema["const"]))
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return self.add(hint, " | ".join(literal(_dump(one)) for one in schema["enum"]))
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list) and schema[key]:
                branches = [_merged(schema, one) for one in schema[key]]
                return self._alternatives(
                    [self.schema(one, root, f"{hint}-{at}", depth + 1) for at, one in enumerate(branches)],
                    hint,
                )
        if isinstance(schema.get("allOf"), list) and schema["allOf"]:
            whole: Schema = {key: value for key, value in schema.items() if key != "allOf"}
            for part in schema["allOf"]:
                whole = _merged(whole, resolved(part, root) if isinstance(part, Mapping) else part)
            return self.schema(whole, root, hint, depth + 1)
        return self._typed(schema, root, hint, depth)

    def _typed(self, schema: Schema, root: Schema, hint: str, depth: int) -> str:
        stated = schema.get("type")
        kinds = [stated] if isinstance(stated, str) else list(stated) if isinstance(stated, list) else []
        if not kinds:
            kinds = ["object"] if "properties" in schema else ["array"] if "items" in schema else []
        if schema.get("nullable") is True:
            kinds.append("null")
        found = [self._kind(kind, schema, root, hint, depth) for kind in kinds if kind in _TYPES]
        return self._alternatives(found, hint) if found else "value"

    def _kind(self, kind: str, schema: Schema, root: Schema, hint: str, depth: int) -> str:
        if kind == "object":
            return self._object(schema, root, hint, depth)
        if kind == "array":
            return self._array(schema, root, hint, depth)
        if kind == "string":
            low, high = _limits(schema, "minLength", "maxLength")
            if low or high is not None:
                return self.add(hint, f'"\\"" char{_times(low, high)} "\\""')
        if kind in ("integer", "number"):
            least = schema.get("minimum", schema.get("exclusiveMinimum"))
            if isinstance(least, int | float) and least >= 0:
                return "natural" if kind == "integer" else "positive"
        return kind

    def _object(self, schema: Schema, root: Schema, hint: str, depth: int) -> str:
        """Members in the order of the schema; optional ones may be left out."""
        properties = schema.get("properties")
        if not isinstance(properties, Mapping) or not properties:
            extra = schema.get("additionalProperties")
            if extra is False or (isinstance(properties, Mapping) and extra is None):
                return self.add(hint, '"{" space "}"')
            if isinstance(extra, Mapping):
                value = self.schema(extra, root, hint, depth + 1)
                pair = self.add(hint, f'string ":" space {value}')
                return self.add(hint, f'"{{" space ({pair} ("," space {pair})*)? "}}"')
            return "object"
        required = schema.get("required")
        needed = set(required) if isinstance(required, list) else set()
        first = later = '""'
        for key, value in reversed(list(properties.items())):
            inner = self.schema(value, root, f"{hint}-{key}", depth + 1)
            pair = self.add(f"{hint}-{key}", f'{literal(_dump(key))} ":" space {inner}')
            skip = key not in needed
            first = self.add(hint, f"{pair} {later}" + (f" | {first}" if skip else ""))
            later = self.add(hint, f'"," space {pair} {later}' + (f" | {later}" if skip else ""))
        return self.add(hint, f'"{{" space {first} "}}"')

    def _array(self, schema: Schema, root: Schema, hint: str, depth: int) -> str:
        leading = schema.get("prefixItems")
        if isinstance(leading, list) and leading:
            values = [self.schema(one, root, f"{hint}-{at}", depth + 1) for at, one in enumerate(leading)]
            return self.add(hint, '"[" space ' + ' "," space '.join(values) + ' "]"')
        low, high = _limits(schema, "minItems", "maxItems")
        if "items" not in schema and not low and high is None:
            return "array"
        item = self.schema(schema.get("items"), root, f"{hint}-item", depth + 1)
        if high == 0:
            return self.add(hint, '"[" space "]"')
        rest = f'("," space {item}){_times(max(low - 1, 0), None if high is None else high - 1)}'
        inside = f"{item} {rest}" if low else f"({item} {rest})?"
        return self.add(hint, f'"[" space {inside} "]"')

    def _reference(self, schema: Schema, root: Schema, hint: str, depth: int) -> str:
        """A rule of its own for each local reference, so that schemas may be recursive."""
        target = str(schema["$ref"])
        if target not in self._references:
            found = resolved(schema, root)
            if found is schema or "$ref" in found:
                return "value"
            name = self._references[target] = self.add(hint, '""')
            self._rules[name] = self.schema(found, root, hint, depth + 1)
        return self._references[target]

    def _alternatives(self, found: Sequence[str], hint: str) -> str:
        unique = list(dict.fromkeys(found))
        return unique[0] if len(unique) == 1 else self.add(hint, " | ".join(unique))

    def _needed(self, name: str) -> None:
        if name not in self._base:
            self._base.add(name)
            for other in _BASE:
                if other in _BASE[name]:
                    self._needed(other)


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _merged(outer: Schema, inner: Any) -> Any:
    """A branch with what its surroundings say as well."""
    if not isinstance(inner, Mapping):
        return inner
    shared = {
        key: value for key, value in outer.items() if key not in ("anyOf", "oneOf", "allOf", "description")
    }
    merged = {**shared, **inner}
    for key, kind in (("properties", dict), ("required", list)):
        both = [part[key] for part in (shared, inner) if isinstance(part.get(key), kind)]
        if len(both) == 2:
            merged[key] = {**both[0], **both[1]} if kind is dict else [*both[0], *both[1]]
    return merged


def _limits(schema: Schema, least: str, most: str) -> tuple[int, int | None]:
    low, high = schema.get(least), schema.get(most)
    floor = low if isinstance(low, int) and 0 < low <= MOST else 0
    ceiling = high if isinstance(high, int) and floor <= high <= MOST else None
    return floor, ceiling


def _times(low: int, high: int | None) -> str:
    if high is None:
        return "*" if not low else f"{{{low},}}"
    return f"{{{low},{high}}}"
