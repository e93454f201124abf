"""What a template renders is derived, parsed back, and a template that cannot be used is named."""

from __future__ import annotations

import json

import pytest

from models.toolformat.derive import derive
from models.toolformat.format import from_json
from tests.models.toolformat.roundtrip import faults
from tests.models.toolformat.templates import BROKEN, FAMILIES, chat, each

SYNTAX = {
    "object between marks": "object",
    "objects in a list": "object",
    "objects, one section": "object",
    "object alone": "object",
    "object in an object": "object",
    "name as key": "object",
    "name, then object": "named",
    "name and id, then object": "named",
    "name inside the id": "named",
    "object in a fence": "named",
    "recipients": "named",
    "tags": "tags",
    "tags of keys and values": "tags",
    "tags with types": "tags",
    "nested tags": "tags",
    "python": "python",
    "python, a line each": "python",
    "python alone": "python",
    "quoted by a mark": "named",
    "channels": "channels",
    "thinking opened by the prompt": "object",
    "answers between marks": "object",
    "every call answered": "object",
    "calls never shown": "object",
    "no tools": "none",
}


@pytest.mark.parametrize("family", FAMILIES)
def test_what_goes_in_comes_back(family: str) -> None:
    known, wrong, _ = faults(FAMILIES[family])
    assert not known.fault
    assert known.syntax == SYNTAX[family]
    assert not wrong


@pytest.mark.parametrize("family", FAMILIES)
def test_a_format_survives_json(family: str) -> None:
    known = derive(FAMILIES[family])
    assert from_json(json.loads(json.dumps(known.to_json()))) == known


def test_a_format_of_another_version_is_not_read() -> None:
    assert from_json(derive(FAMILIES["tags"]).to_json() | {"version": 99}) is None


def test_marks_are_read_off() -> None:
    known = derive(FAMILIES["name and id, then object"])
    assert known.opens() == ("<|many|>", "<|one|>", "<|is|>")
    assert known.closes() == ("<|/one|>", "<|/many|>")
    assert known.reasoning == ("<muse>", "</muse>")
    assert known.header.endswith("<|model|>\n")
    assert known.silent[0] == "<|end|>"
    assert known.parallel
    assert known.shows_tools


def test_a_single_call_template_is_not_parallel() -> None:
    assert not derive(FAMILIES["object alone"]).parallel


def test_arguments_as_text_are_found_out() -> None:
    assert derive(FAMILIES["recipients"]).arguments_as == "text"


def test_tags_say_types() -> None:
    tags = derive(FAMILIES["tags with types"]).tags
    assert tags is not None
    assert tags.key_close["string"] == '" string="true">'
    assert tags.key_close["integer"] == '" string="false">'
    assert derive(FAMILIES["nested tags"]).tags != tags


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_template_is_named(name: str) -> None:
    known = derive(BROKEN[name], seconds=0.2)
    assert known.fault
    assert known.syntax == "none"


def test_templates_may_use_what_others_use() -> None:
    source = chat(
        each(
            "{% generation %}{{ '<use>' ~ ({'name': f.name, 'arguments': f.arguments} | tojson) ~ '</use>' }}"
        )
        .replace("{%- endfor %}", "{% endgeneration %}{%- endfor %}")
        .replace("{% set f", "{% set seen = [] %}{% set _ = seen.append(c.id) %}{% set f")
    )
    known = derive(source)
    assert (known.syntax, known.call_open) == ("object", "<use>")
