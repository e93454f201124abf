"""Arguments become JSON: exact where they are, understood where they nearly are, named faults elsewhere."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.toolformat import values
from models.toolformat.relaxed import Malformed, Relaxed

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), JSON, max_size=5))
def test_json_stays_what_it_is(arguments: dict[str, Any]) -> None:
    text, fault = values.whole(json.dumps(arguments))
    assert (json.loads(text), fault) == (arguments, "")


@given(st.dictionaries(st.text("ab'\" \\\n{}[]", max_size=6), JSON, max_size=5))
def test_python_literals_are_understood(arguments: dict[str, Any]) -> None:
    assert Relaxed(repr(arguments)).value() == arguments


@given(st.text("ab'\"{}[](),:=\\ 1.-eNT", max_size=40))
def test_any_text_is_a_value_or_malformed(text: str) -> None:
    with suppress(Malformed):
        Relaxed(text).value()


@pytest.mark.parametrize(
    ("text", "arguments", "fault"),
    [
        ("", {}, ""),
        ("null", {}, ""),
        ('"{\\"a\\": 1}"', {"a": 1}, ""),
        ("{'a': True, b: None,}", {"a": True, "b": None}, ""),
        ('{"a": 1, "a": 2}', {"a": 2}, ""),
        ('{"a": "line\nbreak"}', {"a": "line\nbreak"}, ""),
        ('{"a": -Infinity}', {"a": None}, "not_finite"),
        ('{"a": 1e999}', {"a": None}, "not_finite"),
    ],
)
def test_whole_arguments(text: str, arguments: dict[str, Any], fault: str) -> None:
    found, said = values.whole(text)
    assert (json.loads(found), said) == (arguments, fault)


@pytest.mark.parametrize(
    ("text", "fault"), [("[1]", "not_an_object"), ("{", "not_json"), ("{a b}", "not_json")]
)
def test_what_is_no_object_keeps_its_text(text: str, fault: str) -> None:
    assert values.whole(text) == (text, fault)


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("7", {"type": "string"}, "7"),
        ("7", {"type": "integer"}, 7),
        ("7.0", {"type": "integer"}, 7),
        ("7", {"type": ["string", "null"]}, "7"),
        ("null", {"type": ["string", "null"]}, None),
        ("null", {"type": "string", "nullable": True}, None),
        ("seven", {"type": "integer"}, "seven"),
        ("TRUE", {"type": "boolean"}, True),
        ("{'a': 1}", {"type": "object"}, {"a": 1}),
        ('{"a": 1}', {"anyOf": [{"type": "string"}, {"type": "object"}]}, {"a": 1}),
        ("{a", {"anyOf": [{"type": "string"}, {"type": "object"}]}, "{a"),
        ("red", {"enum": ["red", "blue"]}, "red"),
        ("2", {"$ref": "#/$defs/n"}, 2),
        ("2", None, 2),
        ("two", None, "two"),
    ],
)
def test_untyped_text_takes_the_type_of_its_schema(text: str, schema: Any, value: Any) -> None:
    root = {"$defs": {"n": {"type": "number"}}}
    found = values.typed(text, schema, root)
    assert (found, type(found)) == (value, type(value))


def test_what_the_call_says_of_a_type_counts_without_a_schema() -> None:
    assert values.typed("7", None, {}, frozenset({"string"})) == "7"
    assert values.typed("7", None, {}, frozenset({"integer", "number"})) == 7
