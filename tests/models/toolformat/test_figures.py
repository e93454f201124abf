"""Numbers and dates reach a tool as it wants them, and values that are right stay as they are."""

from __future__ import annotations

from typing import Any

import pytest

from models.toolformat.figures import as_wanted
from models.toolformat.mentions import Mentions

NUMBER = {"type": "number"}
DATE = {"type": "string", "description": "The day, as YYYY-MM-DD."}


def described(text: str, kind: str = "number", **more: Any) -> dict[str, Any]:
    return {"type": kind, "description": text, **more}


@pytest.mark.parametrize(
    ("said", "value", "wanted"),
    [
        ("a payout of 50 million USD on 100 million shares", 500_000_000, 50_000_000),
        ("pay $50 to Ada", 500_000, 50),
        ("a house of $2.5 million", 25_000_000, 2_500_000),
        ("a list of 20 and 30", [200_000_000, 30], [20, 30]),
    ],
)
def test_zeros_that_were_not_said_are_left_out(said: str, value: Any, wanted: Any) -> None:
    assert as_wanted("amount", value, NUMBER, Mentions(said)) == wanted


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("a payout of 50 million USD", 50_000_000),
        ("a run of 5 km", 5000),
        ("a pressure of 2 bar", 200_000),
        ("$50, in cents", 5000),
        ("50 boxes with 10 eggs, 500 eggs", 500),
        ("a loan of $400,000", 400_000),
        ("it costs $5k", 5000),
        ("10 people", 10.5),
        ("nothing", -3000),
        ("7 days", True),
        ("7 days", "7000000000"),
    ],
)
def test_numbers_that_were_said_or_follow_stay(said: str, value: Any) -> None:
    assert as_wanted("amount", value, NUMBER, Mentions(said)) == value


def test_numbers_that_the_tool_names_itself_stay() -> None:
    said = Mentions("a coupon of $100")
    assert as_wanted("face", 1000, described("Face value, usually 1000."), said) == 1000
    assert as_wanted("face", 1000, described("Face value.", default=1000), said) == 1000


@pytest.mark.parametrize(
    ("key", "schema", "wanted"),
    [
        ("annual_rate", described("The interest."), 0.08),
        ("interest", described("As a decimal, 5% is 0.05."), 0.08),
        ("success", described("The probability of success."), 0.08),
        ("annual_rate", described("The interest in percent."), 8),
        ("annual_rate", described("The interest, 5% by default."), 8),
        ("annual_rate", described("The interest.", "integer"), 8),
        ("volume", described("How loud."), 8),
        ("separator_width", described("How wide."), 8),
    ],
)
def test_a_rate_that_was_said_in_per_cent_is_a_part_of_one_where_the_tool_does_not_speak_of_it(
    key: str, schema: dict[str, Any], wanted: float
) -> None:
    for text in ("at 8%", "at 8 percent for 9 years", "at 8 per cent"):
        assert as_wanted(key, 8, schema, Mentions(text)) == wanted
    assert as_wanted(key, 8, schema, Mentions("at 8 a year")) == 8
    assert as_wanted(key, 0.08, schema, Mentions("at 8%")) == 0.08


def test_a_date_has_all_its_digits_where_they_are_wanted() -> None:
    said = Mentions("on 2 October 2023")
    assert as_wanted("day", "2023-10-2", DATE, said) == "2023-10-02"
    assert as_wanted("day", "2023-10-2", {"type": "string", "format": "date"}, said) == "2023-10-02"
    for value, schema in (("2023-10-02", DATE), ("10/2/2023", DATE), ("2023-10-2", {"type": "string"})):
        assert as_wanted("day", value, schema, said) == value


@pytest.mark.parametrize("value", [1e300, -1e300, 10**400, float("inf"), float("nan"), None, {}, [[]], ""])
def test_odd_values_stay(value: Any) -> None:
    found = as_wanted("amount", value, NUMBER, Mentions("$50 or 8%"))
    assert found == value or (found != found and value != value)
