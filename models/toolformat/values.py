"""Turns the text of arguments into JSON, guided by the tool's schema where the text does not say its type."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from models.toolformat.relaxed import Malformed, Relaxed

Schema = Mapping[str, Any]

_SCALARS = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "object": dict,
    "array": list,
}
_ALL = frozenset({*_SCALARS, "null"})
_DEPTH = 16


def strict(value: Any) -> str:
    """`value` as JSON text; NaN and infinities become null, lone surrogates are escaped."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=False)


def whole(text: str, quote: str = "") -> tuple[str, str]:
    """(arguments as the JSON text of an object, fault) for what a model wrote as arguments.

    Fenced, doubly quoted and nearly-JSON objects are understood; of a repeated key the last value counts.
    """
    body = text.strip()
    if not body:
        return "{}", ""
    try:
        value = _parsed(body, quote)
        if isinstance(value, str):
            value = _parsed(value.strip(), quote) if value.strip() else {}
    except RecursionError:
        return text, "too_deep"
    except (ValueError, Malformed):
        return text, "not_json"
    if value is None:
        return "{}", ""
    if not isinstance(value, dict):
        return text, "not_an_object"
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False), ""
    except ValueError:
        return strict(value), "not_finite"
    except RecursionError:
        return text, "too_deep"


def _parsed(text: str, quote: str) -> Any:
    if not quote:
        try:
            return json.loads(text, strict=False)
        except ValueError:
            pass
    cursor = Relaxed(text, 0, quote)
    value = cursor.value()
    if not cursor.ends():
        raise Malformed(cursor.at)
    return value


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    return value


def types(schema: Any, root: Schema, depth: int = 0) -> frozenset[str]:
    """The JSON types a schema allows; all of them where it does not say."""
    if not isinstance(schema, Mapping) or depth > _DEPTH:
        return _ALL
    schema = resolved(schema, root)
    stated = schema.get("type")
    if isinstance(stated, str):
        found = frozenset({stated})
    elif isinstance(stated, list):
        found = frozenset(one for one in stated if isinstance(one, str))
    elif isinstance(schema.get("enum"), list):
        found = frozenset(of(value) for value in schema["enum"])
    elif "const" in schema:
        found = frozenset({of(schema["const"])})
    else:
        branches = [one for key in ("anyOf", "oneOf", "allOf") for one in schema.get(key) or []]
        found = frozenset().union(*(types(one, root, depth + 1) for one in branches))
        if not branches and ("properties" in schema or "required" in schema):
            found = frozenset({"object"})
    if schema.get("nullable") is True:
        found |= {"null"}
    return found or _ALL


def of(value: Any) -> str:
    """The JSON type of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def resolved(schema: Schema, root: Schema) -> Schema:
    """The schema that a local `$ref` stands for."""
    for _ in range(_DEPTH):
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            break
        target: Any = root
        for step in reference[1:].strip("/").split("/"):
            key = step.replace("~1", "/").replace("~0", "~")
            target = target.get(key) if isinstance(target, Mapping) else None
        if not isinstance(target, Mapping):
            break
        schema = target
    return schema


def property_of(schema: Any, root: Schema, key: str) -> Any:
    """The schema of the property `key` in `schema`, or None."""
    if not isinstance(schema, Mapping):
        return None
    schema = resolved(schema, root)
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and key in properties:
        return properties[key]
    for branch in [one for name in ("anyOf", "oneOf", "allOf") for one in schema.get(name) or []]:
        found = property_of(branch, {}, key)
        if found is not None:
            return found
    extra = schema.get("additionalProperties")
    return extra if isinstance(extra, Mapping) else None


def typed(text: str, schema: Any, root: Schema, said: frozenset[str] = _ALL) -> Any:
    """The value that untyped `text` stands for; `said` is what the call itself says of the type.

    A string stays as it is where only a string is allowed; else JSON (or Python) of an allowed type counts.
    """
    allowed = types(schema, root) if schema is not None else said
    if schema is None and said == _ALL:
        allowed = _ALL
    if allowed == {"string"}:
        return text
    body = text.strip()
    try:
        value = _parsed(body, "") if body else text
    except (ValueError, Malformed, RecursionError):
        return _boolean(body, allowed, text)
    kind = of(value)
    if kind in allowed or (kind == "integer" and "number" in allowed):
        return value
    if kind == "number" and "integer" in allowed and float(value).is_integer():
        return int(value)
    if "string" in allowed:
        return text
    return value


def _boolean(body: str, allowed: frozenset[str], text: str) -> Any:
    if "string" not in allowed and re.fullmatch("(?i)true|false", body):
        return body.lower() == "true"
    return text
