"""A call is held to its grammar from the first sign of it on, and an answer never is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from models.toolformat.constraint import constraint
from models.toolformat.fallback import fallback
from models.toolformat.format import ToolFormat
from models.trigger import Trigger

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("read_file", "write_file")
]
KNOWN = replace(fallback(ToolFormat()), reasoning=("<think>", "</think>"))


def trigger(known: ToolFormat = KNOWN, primer: str = "") -> Trigger:
    held = constraint(known, TOOLS, fence=True)
    assert held is not None
    return Trigger(held, primer)


def place(text: str, size: int, **how: str) -> int:
    """How many characters were fed, in pieces of `size`, when the grammar came; -1 if it never did."""
    made = trigger(**how)  # type: ignore[arg-type]
    for at in range(0, len(text), size):
        if made.feed(text[at : at + size]):
            return at + len(text[at : at + size])
    return -1


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_the_models_own_mark_begins_a_call_wherever_it_stands(size: int) -> None:
    text = "I look.\n<tool_call>"
    assert place(text, size) >= len(text) - size
    assert place(text + "\n", size) > 0


@pytest.mark.parametrize("size", [1, 3])
def test_a_mark_inside_reasoning_is_nothing(size: int) -> None:
    thought = "<think>maybe <tool_call> would do</think>"
    assert place(thought + "No.", size) == -1
    assert place(thought + "<tool_call>", size) >= len(thought) + len("<tool_call>") - size


def test_reasoning_that_the_prompt_opened_is_known() -> None:
    assert place("perhaps <tool_call> then", 4, primer="<think>\n") == -1
    assert place("done</think>\n<tool_call>\n", 1, primer="<think>\n") > 0


@pytest.mark.parametrize("size", [1, 2, 5])
def test_fenced_json_is_a_call_only_when_it_names_a_tool(size: int) -> None:
    assert place('Here:\n```json\n{\n  "name": "web-app",\n  "version": "1.0"\n}\n```', size) == -1
    assert place('```json\n{"names": ["read_file"]}\n```', size) == -1
    assert place('```json\n{\n  "name": "read_fi', size) > 0
    assert place('```json\n{"name": "re', size) > 0


def test_a_reply_that_begins_with_a_fenced_call_must_go_on_with_a_tool_that_exists() -> None:
    made = trigger()
    assert not made.feed('```json\n{\n  "name": ')
    grammar = made.feed('"')
    assert "read_file" in grammar
    assert place('```json\n{"version": 1, "name": "', 1) == -1


@pytest.mark.parametrize("size", [1, 4, 100])
@pytest.mark.parametrize("named", ["`read_file`", "`read_file(path)`"])
def test_fenced_json_behind_words_that_name_a_tool_is_a_call_of_a_model_that_is_judged(
    size: int, named: str
) -> None:
    names = {"read_file": 0.0}
    text = f"You can call the {named} function with these arguments:\n```json\n"
    held = constraint(KNOWN, TOOLS, fence=True)
    assert held is not None
    for concerned, expected in ((None, False), (lambda: names, True)):
        made = Trigger(held, concerned=concerned)
        grammars = [made.feed(text[at : at + size]) for at in range(0, len(text), size)]
        assert any(grammars) == expected
        assert not any("write_file" in grammar for grammar in grammars)
    made = Trigger(held, concerned=lambda: names)
    assert not made.feed('The settings of `web-app` are:\n```json\n{"version": 1}')


def test_only_tools_that_are_concerned_may_be_called_unless_another_is_being_written() -> None:
    held = constraint(KNOWN, TOOLS, fence=True)
    assert held is not None
    grammar = Trigger(held, concerned=lambda: {"write_file": 0.0}).feed("<tool_call>")
    assert "write_file" in grammar
    assert "read_file" not in grammar
    assert Trigger(held, concerned=lambda: {"write_file": 0.0}).feed('<tool_call>\n{"name": "read')
    assert Trigger(held, concerned=dict).feed("<tool_call>")


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("bracket", ["", "[\n  "])
def test_an_object_without_a_mark_is_a_call_where_the_reply_begins_with_it_and_names_a_tool(
    size: int, bracket: str
) -> None:
    begun = bracket + '{"name": "'
    assert place(begun, size) == -1
    assert place(begun + "read_file", size) > len(begun)
    assert place(begun + 'Ada", "age": 36}', size) == -1
    assert place(bracket + '{"names": ["read_file"]}', size) == -1
    assert place("It says: " + begun + 'read_file"', size) == -1
    assert place("<think>a call</think>" + begun + "read_file", size) > 0


def test_behind_an_object_without_a_mark_come_others_in_its_form() -> None:
    listed = replace(
        KNOWN, section_open="```json\n", call_open="", call_close="", section_close="\n```", array=True
    )
    held = constraint(listed, TOOLS)
    assert held is not None
    for begun, separator in (('{"name": "re', "\\n"), ('[{"name": "re', ", ")):
        made = Trigger(held, concerned=lambda: {"read_file": 0.0, "write_file": -1.0})
        assert f'("{separator}" ' in made.feed(begun)
        assert made.weights == {'ad_file"': 0.0}


def test_a_fence_inside_a_line_is_text() -> None:
    assert place('write ```json {"name": "read_file"', 1) == -1


def test_it_speaks_once() -> None:
    made = trigger()
    assert made.feed("<tool_call>")
    assert not made.feed("\n<tool_call>")
