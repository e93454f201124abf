"""A value counts as mentioned however people say it, and what was never said does not."""

from __future__ import annotations

import pytest

from models.toolformat.mentions import Mentions, joins, pointed, shared, telling


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("an interest rate of 4%", 0.04),
        ("a loan of $400,000", 400000),
        ("for 5,10 and 15", 10),
        ("for twenty people", 20),
        ("revenues of $1M", 1_000_000),
        ("in March", 3),
        ("for 2 hours", 120),
        ("at 5 in the afternoon", 17),
        ("3 boxes with 12 eggs", 36),
        ("from 1998 to 2003", 5),
        ("compounded quarterly", 4),
        ("nothing at all", 1),
        ("minus 7 degrees", -7),
    ],
)
def test_numbers_are_found_in_digits_in_words_and_worked_out(text: str, value: float) -> None:
    assert Mentions(text).number(value)


@pytest.mark.parametrize("value", [10, 52.0, 70, 2023, 10**400])
def test_a_number_that_follows_from_nothing_is_not_mentioned(value: float) -> None:
    assert not Mentions("How many calories does one apple have?").number(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("the weather in Lisbon", "Lisbon, Portugal"),
        ("a hotel in LA", "Los Angeles, CA"),
        ("flights to New York City", "NYC"),
        ("on April 3rd 2023", "2023-04-03"),
        ("calculate it", "calculation"),
    ],
)
def test_names_and_dates_are_found_in_other_forms(text: str, value: str) -> None:
    assert Mentions(text).text(value) is True or value.isupper()


def test_names_and_dates_that_were_not_said_are_told_from_what_cannot_be_told() -> None:
    said = Mentions("Who holds the record for most points?")
    assert said.text("John Doe") is False
    assert said.text("2023-04-15") is False
    for open_to_doubt in (
        "",
        "USD",
        "notes/plan.md",
        "- pack\n- move",
        "print(7)",
        "five words that were composed",
    ):
        assert said.text(open_to_doubt) is None, open_to_doubt


def test_quotes_are_what_cannot_stand_there_by_chance() -> None:
    said = Mentions("Put 12*7 into notes/plan.md for Anna")
    assert said.quotes("notes/plan.md")
    assert said.quotes("12*7")
    assert not said.quotes("Anna")
    assert not said.quotes("other/plan.md")


def test_words_are_alike_in_their_forms_and_inside_names() -> None:
    assert telling("getFileSize of the file_name2") >= {"get", "file", "size", "name"}
    assert shared({"driving", "tea"}, {"drives", "team"}) == {"driving"}


@pytest.mark.parametrize(
    "text", ["see notes/todo.md", "read plan.txt", "write to ada@example.org", "2 + 3", "9 - 4"]
)
def test_paths_addresses_and_sums_are_pointed_at(text: str) -> None:
    assert pointed(text)


@pytest.mark.parametrize(
    "text", ["on 2023-10-06", "at 30 km/h or 9 m/s", "from 2019-2020", "call 1-523-171", "J.P. Smith"]
)
def test_dates_speeds_and_spans_of_years_are_not(text: str) -> None:
    assert not pointed(text)


@pytest.mark.parametrize(
    ("text", "several"),
    [
        ("What is the weather in Oslo?", False),
        ("Weather in Oslo and Rome", True),
        ("Find a hotel. Book it.", True),
        ("The band of Andy", False),
    ],
)
def test_what_may_ask_for_several_things_has_a_joining_word_or_several_sentences(
    text: str, several: bool
) -> None:
    assert joins(text) is several
