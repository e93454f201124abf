"""Grammars are taken by llama.cpp, and whatever they let through is a valid call of an existing tool."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from models.toolformat.constraint import Constraint, constraint
from models.toolformat.derive import derive
from models.toolformat.fallback import call_text, fallback, result_text, system_block
from models.toolformat.schema_grammar import Rules
from models.toolformat.stream import StreamParser
from models.toolformat.values import of, resolved
from tests.models.toolformat.roundtrip import NAMES, TOOLS
from tests.models.toolformat.sampling import Vocabulary, opened
from tests.models.toolformat.templates import FAMILIES

FORMATS = {name: derive(source) for name, source in FAMILIES.items()}
JSON = [name for name, known in FORMATS.items() if known.constrainable]

SCHEMAS: dict[str, dict[str, Any]] = {
    "optional in any combination": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}, "c": {"type": "null"}},
        "required": ["b"],
    },
    "all optional": {
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"enum": ["x", 2, None]}},
    },
    "nothing": {"type": "object", "properties": {}},
    "no schema": {},
    "words": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
    "nested": {
        "type": "object",
        "properties": {
            "o": {"type": "object", "properties": {"q": {"const": 'a"\\\n'}}, "required": ["q"]},
            "l": {"type": "array", "items": {"type": ["boolean", "null"]}, "minItems": 1, "maxItems": 3},
        },
        "required": ["o", "l"],
        "additionalProperties": False,
    },
    "limits": {
        "type": "object",
        "properties": {"s": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^x"}},
        "required": ["s"],
    },
    "references": {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/node"}},
        "required": ["tree"],
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"v": {"type": "boolean"}, "next": {"$ref": "#/$defs/node"}},
                "required": ["v"],
            }
        },
    },
    "choices": {
        "type": "object",
        "properties": {"u": {"anyOf": [{"type": "boolean"}, {"type": "array", "items": {"type": "null"}}]}},
        "required": ["u"],
    },
    "all of": {
        "allOf": [
            {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]},
            {"properties": {"b": {"type": "null"}}, "required": ["b"]},
        ]
    },
}


@pytest.fixture(scope="module")
def vocabulary(weights: Path) -> Iterator[Vocabulary]:
    """The bundled model's vocabulary."""
    with opened(weights) as vocabulary:
        yield vocabulary


def valid(value: Any, schema: Any, root: Mapping[str, Any]) -> bool:
    """Whether a value is what the schemas of this file ask for."""
    schema = resolved(schema, root)
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    kind = of(value)
    checks = [
        not kinds or kind in kinds or (kind == "integer" and "number" in kinds),
        "enum" not in schema or value in schema["enum"],
        "const" not in schema or value == schema["const"],
        "anyOf" not in schema or any(valid(value, one, root) for one in schema["anyOf"]),
        all(valid(value, one, root) for one in schema.get("allOf", [])),
    ]
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        checks += [key in value for key in schema.get("required", [])]
        checks += [valid(value[key], inner, root) for key, inner in properties.items() if key in value]
        if schema.get("additionalProperties") is False:
            checks.append(set(value) <= set(properties))
    if isinstance(value, list):
        checks += [schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))]
        checks += [valid(one, schema["items"], root) for one in value if "items" in schema]
    if isinstance(value, str):
        checks.append(schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)))
    return all(checks)


def constrained(name: str, **options: Any) -> Constraint:
    """The constraint of a family's format."""
    found = constraint(FORMATS[name], TOOLS, **options)
    assert found is not None
    return found


@pytest.mark.parametrize("name", SCHEMAS)
def test_values_of_a_schema(vocabulary: Vocabulary, name: str) -> None:
    rules, schema = Rules(), SCHEMAS[name]
    grammar = rules.text(rules.schema(schema or {"type": "object"}, schema, "it"))
    assert vocabulary.accepts(grammar), grammar
    finished = 0
    for seed in range(4):
        text, ended = vocabulary.draw(grammar, seed, 120)
        if ended:
            finished += 1
            assert valid(json.loads(text), schema, schema), text
    assert finished


@pytest.mark.parametrize("family", JSON)
def test_forced_replies_are_calls(vocabulary: Vocabulary, family: str) -> None:
    grammar = constrained(family).forced()
    assert grammar is not None
    _check(vocabulary, family, "", grammar)


@pytest.mark.parametrize("family", JSON)
def test_replies_from_a_mark_on_are_calls(vocabulary: Vocabulary, family: str) -> None:
    found = constrained(family, fence=True)
    assert found.marks
    for mark in found.marks:
        grammar = found.grammar(mark)
        assert grammar is not None
        _check(vocabulary, family, mark, grammar)


def _check(vocabulary: Vocabulary, family: str, mark: str, grammar: str) -> None:
    assert vocabulary.accepts(grammar), grammar
    finished = 0
    for seed in range(2):
        text, ended = vocabulary.draw(grammar, seed, 250)
        parser = StreamParser(FORMATS[family], TOOLS)
        parser.feed(mark + text)
        parser.finish()
        if not ended:
            continue
        finished += 1
        assert parser.reply.calls, mark + text
        assert not parser.reply.content.strip()
        schema = TOOLS[0]["function"]["parameters"]
        for call in parser.reply.calls:
            assert call.known
            assert not call.fault
            assert valid(json.loads(call.arguments), schema, schema)
    assert finished


def test_what_is_written_behind_the_mark_counts(vocabulary: Vocabulary) -> None:
    found = constrained("object between marks")
    for written in (
        "",
        "\n",
        " \n",
        "{",
        '\n{"na',
        '\n{ "name" : "',
        '\n{"name": "look',
        '{"name":"note.Down-2',
    ):
        grammar = found.grammar("<use>", written)
        assert grammar is not None, written
        assert vocabulary.accepts(grammar)
        text, _ = vocabulary.draw(grammar, 3, 250)
        parser = StreamParser(FORMATS["object between marks"], TOOLS)
        parser.feed("<use>" + written + text)
        parser.finish()
        assert [call.known for call in parser.reply.calls][:1] == [True]


@pytest.mark.parametrize("written", ["x", "[", '\n{"name": "nobody', '\n{"names"'])
def test_what_begins_no_call_has_no_grammar(written: str) -> None:
    assert constrained("object between marks").grammar("<use>", written) is None


def test_one_tool_may_be_asked_for(vocabulary: Vocabulary) -> None:
    grammar = constrained("name, then object", only=NAMES[1]).forced()
    assert grammar is not None
    assert NAMES[0] not in grammar
    assert vocabulary.draw(grammar, 1, 60)[0].startswith(f"[USE]{NAMES[1]}[WITH]")


def test_a_single_call_may_be_asked_for() -> None:
    several, single = (constrained("objects in a list", parallel=one).forced() for one in (True, False))
    assert several is not None
    assert single is not None
    assert ")* end" in several.splitlines()[0]
    assert ")*" not in single.splitlines()[0]


def test_calls_without_marks_begin_an_answer() -> None:
    found = constrained("object alone")
    assert found.at_start
    assert found.marks == ('{"name":',)


def test_other_formats_are_parsed_and_repaired() -> None:
    assert constraint(FORMATS["tags"], TOOLS) is None
    assert constraint(FORMATS["python"], TOOLS) is None
    assert constraint(FORMATS["quoted by a mark"], TOOLS) is None
    assert constraint(FORMATS["object between marks"], []) is None


def test_the_prompt_format_is_constrained(vocabulary: Vocabulary) -> None:
    found = constraint(fallback(FORMATS["no tools"]), TOOLS)
    assert found is not None
    assert found.marks == ("<tool_call>",)
    grammar = found.grammar("<tool_call>")
    assert grammar is not None
    assert vocabulary.accepts(grammar)


def test_a_recursive_schema_without_end_is_not_followed(vocabulary: Vocabulary) -> None:
    schema = {"$ref": "#"}
    rules = Rules()
    assert vocabulary.accepts(rules.text(rules.schema(schema, schema, "it")))


def test_the_system_block_names_tools_and_keys() -> None:
    block = system_block(TOOLS)
    assert "- look_up(city: string, note?: string, days?: integer" in block
    assert "city: A place" in block
    assert block == system_block(TOOLS)
    assert "<tool_call>" in block


def test_earlier_calls_and_results_have_a_text() -> None:
    parser = StreamParser(fallback(FORMATS["no tools"]), TOOLS)
    parser.feed(call_text("look_up", '{"city": "Oslo"}'))
    parser.finish()
    assert parser.reply.calls[0].arguments == '{"city": "Oslo"}'
    assert result_text("look_up", "rain") == "<tool_response>\nlook_up: rain\n</tool_response>"
