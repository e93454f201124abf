"""Answers in words, JSON and calls are marked by what matters, and by nothing else."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

import resources
from runtime.exam import instructions, json_replies, tools
from runtime.exam.asking import Answer
from runtime.exam.exam import ORDER, VERSION
from runtime.exam.examiner import PAPERS
from runtime.exam.tasks import Paper, Task, data
from runtime.exam.words import bare, parts, same, sentences, words
from runtime.messages import JsonObject, ToolCall


def test_decoration_around_an_answer_is_not_part_of_it() -> None:
    for text in ("Oslo", " oslo.", '"Oslo"', "**Oslo**", "„Oslo“", "`Oslo`\n"):
        assert same(text, "Oslo"), text
    for text in ("Oslo is it", "Os lo", "", "Oslo, Bergen"):
        assert not same(text, "Oslo"), text
    assert bare("«Straße».") == "Straße"
    assert same("peque\u006e\u0303o", "pequeño")


def test_lists_come_in_many_forms() -> None:
    wanted = ["lamp", "river", "stone"]
    for text in (
        "lamp, river, stone",
        "Lamp; River; Stone.",
        "1. lamp\n2. river\n3. stone",
        "- lamp\n- river\n- stone",
    ):
        assert parts(text) == wanted, text
    assert parts("lamp, river and stone") != wanted
    assert parts("3, 7, 19") == ["3", "7", "19"]
    assert words("Don't stop, 42!") == ["don", "t", "stop", "42"]
    assert [sentences(text) for text in ("One.", "One. Two!", "No end", "Hm... yes?")] == [1, 2, 1, 2]


@pytest.mark.parametrize(
    ("expected", "good", "bad"),
    [
        ({"exactly": "kestrel"}, "kestrel.", "Kestrel"),
        ({"is": ["one", "two"]}, "Two", "one two"),
        ({"list": [3, 7, 19]}, "3, 7, 19", "7, 3, 19"),
        ({"repeated": {"word": "salt", "times": 4}}, "salt salt salt salt", "salt salt salt"),
        ({"contains": ["cat", "window"], "sentences": 1}, "A cat sits at the window.", "Cats. A window."),
        ({"ends": "over"}, "Red. Over.", "over"),
        ({"words": 1}, "Red", "Red one"),
    ],
)
def test_instructions_are_checked(expected: JsonObject, good: str, bad: str) -> None:
    assert instructions.fulfils(Answer(good), expected)
    assert not instructions.fulfils(Answer(bad), expected)
    assert not instructions.fulfils(Answer(""), expected)


def test_a_check_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(ValueError, match="sorted"):
        instructions.fulfils(Answer("x"), {"sorted": True})


@pytest.mark.parametrize(
    ("wanted", "text", "well"),
    [
        ({"a": 1}, '{"a": 1}', True),
        ({"a": 1}, '```json\n{"a": 1.0}\n```', True),
        ({"a": 1}, '```\n{"a": 1}\n```\n', True),
        ({"a": 1}, 'Here it is: {"a": 1}', False),
        ({"a": 1}, '{"a": "1"}', False),
        ({"a": 1}, '{"a": true}', False),
        ({"a": True}, '{"a": 1}', False),
        ({"a": 1}, '{"a": 1, "b": 2}', False),
        ({"a": None}, "{}", False),
        ([1, 2], "[2, 1]", False),
        ([{"a": "x"}], '[{"a": " x "}]', True),
        ({"a": 1}, "{'a': 1}", False),
        ({"a": 1}, "[" * 100_000, False),
        ({"a": 1}, '{"a": NaN}', False),
        ({"a": 1}, "", False),
    ],
)
def test_json_is_compared_as_json(wanted: Any, text: str, well: bool) -> None:
    assert json_replies.right(wanted, Answer(text)) == well


def call(name: str, error: str = "", **arguments: Any) -> ToolCall:
    return ToolCall("c", name, arguments, error)


WEATHER: JsonObject = {"name": "get_weather", "arguments": {"city": ["Lisbon", "Lisboa"]}}
TIMER: JsonObject = {"name": "set_timer", "arguments": {"minutes": 5}}
MESSAGE: JsonObject = {"name": "send", "arguments": {"text": {"contains": ["late", "train"]}}}


@pytest.mark.parametrize(
    ("made", "wanted", "well"),
    [
        ([call("get_weather", city="lisbon")], [WEATHER], True),
        ([call("get_weather", city="Lisboa", day=None)], [WEATHER], True),
        ([call("get_weather", city="Lisbon", day="today")], [WEATHER], False),
        ([call("get_weather", city="Porto")], [WEATHER], False),
        ([call("get_weather", "the reply ended", city="Lisbon")], [WEATHER], False),
        ([call("set_timer", minutes=5)], [WEATHER], False),
        ([call("set_timer", minutes=5.0)], [TIMER], True),
        ([call("set_timer", minutes="5")], [TIMER], False),
        ([call("set_timer", minutes=True)], [TIMER], False),
        ([call("send", text="The TRAIN is late!")], [MESSAGE], True),
        ([call("send", text="The bus is late!")], [MESSAGE], False),
        ([call("set_timer", minutes=5), call("get_weather", city="Lisbon")], [WEATHER, TIMER], True),
        ([call("set_timer", minutes=5)] * 2, [WEATHER, TIMER], False),
        ([call("set_timer", minutes=5)] * 2, [TIMER], False),
        ([], [TIMER], False),
        ([], [], True),
    ],
)
def test_calls_are_compared_whole(made: list[ToolCall], wanted: list[JsonObject], well: bool) -> None:
    assert tools.fitting(made, wanted) == well


def test_a_group_cannot_be_made_up_for_by_others() -> None:
    async def run(ask: object) -> bool:
        del ask
        return True

    paper = Paper(tuple(Task(run, group) for group in "aaab"), 3, {"a": 2, "b": 1})
    assert paper.passed([True, True, False, True])
    assert not paper.passed([True, True, True, False])
    assert not paper.passed([True, False, False, True])


def test_what_must_be_right_can_be_and_is_more_than_half() -> None:
    assert set(PAPERS) == set(ORDER) - {"speed"}
    for name, make in PAPERS.items():
        paper = make()
        assert len(paper.tasks) / 2 < paper.least < len(paper.tasks), name
        groups = [task.group for task in paper.tasks]
        assert all(0 < least <= groups.count(group) for group, least in paper.each.items()), name


def test_every_task_of_the_files_is_plain_data() -> None:
    for name in ("instructions", "json", "tools", "screens", "pictures", "phrases", "speed"):
        assert json.loads(json.dumps(data(name), ensure_ascii=False)) == data(name)


QUESTIONS = {1: "68eb447442bdb7f4270cf79e0c0c05497db8b4ecc225c395e9c74e5a5e932156"}
"""SHA-256 of the files in resources/exam by version of the exam: who changes a question raises VERSION in
runtime/exam/exam.py, or old results would be taken for answers to the new questions."""


def test_other_questions_have_another_version() -> None:
    digest = hashlib.sha256()
    for path in sorted(resources.path("exam").glob("*.yaml")):
        digest.update(path.name.encode() + json.dumps(data(path.stem), sort_keys=True).encode())
    assert {VERSION: digest.hexdigest()} == QUESTIONS
