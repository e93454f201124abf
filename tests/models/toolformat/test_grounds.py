"""A call that follows from nothing in the conversation is told from one that does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from models.toolformat.grounds import Grounds


def tool(name: str, description: str, required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


NUMBER, TEXT = {"type": "number"}, {"type": "string"}
UNIT = {"type": "string", "enum": ["celsius", "fahrenheit"]}
TOOLS = [
    tool("get_weather", "Tell the weather of a city.", ("city", "unit"), city=TEXT, unit=UNIT, days=NUMBER),
    tool("body_mass", "Body mass index of a person.", ("weight", "height"), weight=NUMBER, height=NUMBER),
    tool("sunrise", "When the sun rises.", ("place", "date"), place=TEXT, date=TEXT),
    tool("write_file", "Write a text file.", ("path", "text"), path=TEXT, text=TEXT),
    tool("list_directory", "List a folder."),
    tool("find_songs", "Find songs by words.", ("words",), words={"type": "array", "items": TEXT}),
]


def holds(question: str, name: str, *earlier: dict[str, Any], **arguments: Any) -> bool:
    messages = [{"role": "system", "content": "You help."}, {"role": "user", "content": question}, *earlier]
    return Grounds(messages, TOOLS).settle(name, json.dumps(arguments)) is not None


def test_calls_that_the_question_asks_for_hold() -> None:
    assert holds("What is the weather in Oslo?", "get_weather", city="Oslo", unit="celsius")
    assert holds(
        "I weigh 80 kg and am 1.80 m tall, is my body mass fine?", "body_mass", weight=80, height=1.8
    )
    assert holds(
        "When does the sun rise in Rome on May 5th 2024?", "sunrise", place="Rome", date="2024-05-05"
    )
    assert holds("Find songs about rain", "find_songs", words=["rain", "rainy"])


def test_invented_numbers_and_dates_do_not() -> None:
    assert not holds("Who discovered the mass of the electron?", "body_mass", weight=70, height=1.75)
    assert not holds("What time does the sun rise in Rome?", "sunrise", place="Rome", date="2023-04-15")


def test_a_call_all_of_whose_names_are_invented_does_not() -> None:
    assert not holds("What is the weather like on planets?", "get_weather", city="Paris", unit="celsius")
    assert not holds("Find songs, please", "find_songs", words=["love"])


def test_a_tool_that_has_nothing_to_do_with_the_question_does_not() -> None:
    assert not holds("How large is the population of Oslo?", "get_weather", city="Oslo", unit="celsius")
    assert not holds("Please explain photosynthesis to my daughter", "list_directory")


def test_choices_options_paths_and_composed_text_need_not_be_said() -> None:
    assert holds("What is the weather in Oslo?", "get_weather", city="Oslo", unit="fahrenheit", days=7)
    text = "- find boxes\n- call 3 movers\n- tell the post"
    assert holds("Create notes/todo.md about moving house", "write_file", path="notes/todo.md", text=text)
    assert holds("Write a haiku about autumn leaves to a file", "write_file", path="haiku.txt", text=text)


def test_what_tools_said_counts_and_after_a_result_the_topic_is_not_judged() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "list_directory", "arguments": "{}"}}
    earlier: list[dict[str, Any]] = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "height 1.7, weight 61"},
    ]
    assert holds("Please look whether Ada stays healthy", "body_mass", *earlier, weight=61, height=1.7)
    assert not holds("Please look whether Ada stays healthy", "body_mass", *earlier, weight=90, height=2)


def test_a_question_of_few_words_or_in_another_language_is_not_judged_by_them() -> None:
    assert holds("Oslo?", "get_weather", city="Oslo", unit="celsius")
    assert holds("Wie warm wird es heute wohl in Oslo werden", "get_weather", city="Oslo", unit="celsius")


@pytest.mark.parametrize(
    "arguments", ["{", "[1]", '"text"', "[" * 100_000, '{"weight": 1e999, "height": {}}']
)
def test_faulty_arguments_are_results(arguments: str) -> None:
    grounds = Grounds([{"role": "user", "content": [{"type": "text", "text": "Say it"}]}], TOOLS)
    assert grounds.settle("body_mass", arguments) in (arguments, None)
    assert grounds.settle("unknown", arguments) == arguments
    assert Grounds([], TOOLS).settle("body_mass", arguments) in (arguments, None)


def test_optional_arguments_that_were_invented_are_left_out() -> None:
    asked = [{"role": "user", "content": "What is the weather in Oslo for 3 days?"}]
    grounds = Grounds(asked, TOOLS)
    said, invented = '{"city": "Oslo", "unit": "celsius", "days": %s}', '{"city": "Oslo", "unit": "celsius"}'
    assert grounds.settle("get_weather", said % 3) == said % 3
    assert grounds.settle("get_weather", said % 11) == invented


def test_switches_are_on_only_if_there_is_a_word_for_them() -> None:
    switch = {"type": "boolean", "default": False, "description": "Add to the end."}
    append = tool("write_file", "Write a text file.", ("path",), path=TEXT, append=switch)
    on, off = '{"path": "a.txt", "append": true}', '{"path": "a.txt"}'
    for said, settled in (("Please write it to the file a.txt", off), ("Add it to the end of a.txt", on)):
        assert Grounds([{"role": "user", "content": said}], [append]).settle("write_file", on) == settled


def test_a_word_that_the_tool_has_in_common_with_the_question_turns_no_switch_on() -> None:
    switch = {"type": "boolean", "description": "Give data of the market in more depth. Default is false."}
    shares = tool("market.get_data", "Data of a market.", ("days",), days=NUMBER, detailed=switch)
    on, off = '{"days": 5, "detailed": true}', '{"days": 5}'
    for said, settled in (
        ("How was the market over the past 5 days?", off),
        ("How was the market over the past 5 days, in detail?", on),
        ("Look at the market in depth for 5 days", on),
    ):
        assert Grounds([{"role": "user", "content": said}], [shares]).settle("market.get_data", on) == settled


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What will the weather be like in Oslo?", {"get_weather"}),
        ("Songs for rainy weather, please", {"get_weather", "find_songs"}),
        ("Write a folder full of poems", {"write_file", "list_directory"}),
        ("How do I bake bread at home?", set()),
        ("What does notes/weather.md say?", set()),
        ("Oslo?", set()),
        ("Wie warm wird es heute in Oslo, songs", set()),
    ],
)
def test_tools_with_a_word_of_the_question_are_concerned_or_all_where_that_tells_nothing(
    question: str, names: set[str]
) -> None:
    asked = [{"role": "user", "content": question}]
    assert set(Grounds(asked, TOOLS).concerned()) == (names or {one["function"]["name"] for one in TOOLS})
    result = [{"role": "tool", "content": "found"}]
    assert len(Grounds([*asked, *result], TOOLS).concerned()) == len(TOOLS)


def test_the_question_speaks_for_tools_by_the_words_they_share_with_it_but_not_without_end() -> None:
    asked = [{"role": "user", "content": "Write a text about the weather of a city in May"}]
    concerned = Grounds(asked, TOOLS).concerned()
    assert concerned == {"get_weather": 0.0, "write_file": -1.5}
    more = "Write a text about the weather of a city and the songs, the mass of a person and the folder"
    assert Grounds([{"role": "user", "content": more}], TOOLS).concerned()["find_songs"] == -1.5
    words = "alpha bravo charlie delta echo foxtrot"
    letters = [tool("spell", words), tool("other", "alpha"), tool("none", "zulu")]
    question = [{"role": "user", "content": f"What is it with the {words}?"}]
    assert Grounds(question, letters).concerned() == {"spell": 0.0, "other": -5.0}


def test_a_second_tool_needs_a_word_of_its_own_where_the_question_joins_nothing() -> None:
    near = tool("city_weather", "Tell the weather of a city.", ("city",), city=TEXT)
    oslo, day = '{"city": "Oslo", "unit": "celsius"}', '{"place": "Oslo", "date": "2024-05-05"}'
    for question, second, holds_too in (
        ("What is the weather in Oslo?", ("city_weather", '{"city": "Oslo"}'), False),
        ("What is the weather in Oslo and in town?", ("city_weather", '{"city": "Oslo"}'), True),
        ("Weather in Oslo on May 5th 2024 with sunrise?", ("sunrise", day), True),
    ):
        grounds = Grounds([{"role": "user", "content": question}], [*TOOLS, near])
        assert grounds.settle("get_weather", oslo)
        assert (grounds.settle(*second) is not None) == holds_too


def test_figures_reach_the_tool_as_it_wants_them() -> None:
    rate = {"type": "number", "description": "The yearly rate."}
    save = tool("save_money", "Save money.", ("amount", "rate"), amount=NUMBER, rate=rate)
    asked = [{"role": "user", "content": "What if I save $50 at 8%?"}]
    given = '{"amount": 500000, "rate": 8}'
    assert Grounds(asked, [save]).settle("save_money", given) == '{"amount": 50, "rate": 0.08}'


def test_a_further_call_needs_all_to_be_said() -> None:
    asked = [{"role": "user", "content": "Tell me when the sun rises in Oslo and the weather there"}]
    half = '{"place": "Oslo", "date": "Monday"}'
    assert Grounds(asked, TOOLS).settle("sunrise", half) == half
    grounds = Grounds(asked, TOOLS)
    assert grounds.settle("get_weather", '{"city": "Oslo", "unit": "celsius"}')
    assert grounds.settle("sunrise", half) is None
    assert grounds.settle("get_weather", '{"city": "Oslo", "unit": "fahrenheit"}') is None


def test_further_calls_for_other_things_that_were_said_hold() -> None:
    grounds = Grounds(
        [{"role": "user", "content": "Weather in Oslo in celsius, in Rome in fahrenheit?"}], TOOLS
    )
    for city, unit in (("Oslo", "celsius"), ("Rome", "fahrenheit"), ("Oslo", "fahrenheit")):
        assert grounds.settle("get_weather", json.dumps({"city": city, "unit": unit}))


def test_of_a_list_only_what_was_said_stays_where_something_was() -> None:
    grounds = Grounds([{"role": "user", "content": "Find songs about rain"}], TOOLS)
    assert grounds.settle("find_songs", '{"words": ["rain", "love", "USD"]}') == '{"words": ["rain", "USD"]}'


def test_a_value_that_only_names_its_argument_is_invented() -> None:
    missions = tool("rewards", "Rewards of a game.", ("game",), game=TEXT, mission=TEXT)
    asked = [{"role": "user", "content": "Which rewards for missions has the game Go?"}]
    given = '{"game": "Go", "mission": "Mission 1"}'
    assert Grounds(asked, [missions]).settle("rewards", given) == '{"game": "Go"}'
