"""Every model call is counted, private ones without their name, and a cap forbids the next one."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from runtime.errors import OrionError
from runtime.messages import AssistantMessage, Image, Text, ToolCall, Usage, UserMessage
from runtime.paths import Home
from runtime.providers.provider import Request, Traits
from runtime.settings import Caps
from runtime.spending import Spending, guess
from tests.runtime.paid_house import PRICES

PAID, HERE = Traits("paid", local=False), Traits("local", local=True)
NOON = datetime(2026, 11, 21, 12).timestamp()  # noqa: DTZ001
DAY = 86_400.0
CALL = Usage(100, 50)
"""Costs 0.20 dollars at the prices of the paid house."""


class Clock:
    """A clock that a test moves."""

    now = NOON

    def __call__(self) -> float:
        return self.now


def accounts(home: Path, clock: Clock | None = None, **caps: float) -> Spending:
    """The accounts of a home with these caps."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "pricing.yaml").write_text(PRICES, "utf-8")
    return Spending(Home(home, home / "workspace"), lambda: Caps(**caps), clock or Clock())


def refused(spending: Spending, session: str = "s1", model: str = "m", traits: Traits = PAID) -> OrionError:
    with pytest.raises(OrionError) as caught:
        spending.purse(session, False).allow(traits, model)
    return caught.value


# --- the accounts -------------------------------------------------------------------------------------


def test_a_call_has_its_price_and_adds_to_turn_and_session(fresh_home: Path) -> None:
    spending = accounts(fresh_home)
    purse = spending.purse("s1", False)
    bill = purse.pay(PAID, "m", "t1", CALL, 1.0)
    assert (bill.cost, bill.turn, bill.session) == pytest.approx((0.2, 0.2, 0.2))
    assert bill.notices == ()
    bill = purse.pay(PAID, "m", "t2", CALL, 1.0)
    assert (bill.cost, bill.turn, bill.session) == pytest.approx((0.2, 0.2, 0.4))
    spending.close()
    again = accounts(fresh_home)
    bill = again.purse("s1", False).pay(PAID, "m", "t2", CALL, 1.0)
    assert (bill.turn, bill.session) == pytest.approx((0.4, 0.6)), "a session goes on after a restart"
    again.close()


def test_a_model_on_this_machine_costs_nothing_and_is_counted(fresh_home: Path) -> None:
    spending = accounts(fresh_home, daily_usd=0.1)
    purse = spending.purse("s1", False)
    purse.pay(PAID, "m", "t1", CALL, 1.0)
    purse.allow(HERE, "small")
    bill = purse.pay(HERE, "small", "t2", CALL, 1.0)
    assert (bill.cost, bill.turn) == (0.0, 0.0)
    assert [made["calls"] for made in spending.report("all")["models"]] == [1, 1]
    spending.close()


def test_an_unknown_price_is_unknown_and_never_nothing(fresh_home: Path) -> None:
    spending = accounts(fresh_home)
    purse = spending.purse("s1", False)
    purse.pay(PAID, "m", "t1", CALL, 1.0)
    bill = purse.pay(Traits("strange", local=False), "m", "t1", CALL, 1.0)
    assert (bill.cost, bill.turn, bill.session) == (None, None, None)
    total = spending.report("all")["total"]
    assert (total["cost"], total["unknown"]) == (pytest.approx(0.2), 1)
    spending.close()


def test_a_private_session_is_counted_without_its_name(fresh_home: Path) -> None:
    spending = accounts(fresh_home, session_usd=0.3)
    one, other = spending.purse("private", True), spending.purse("private", True)
    one.pay(PAID, "m", "t1", CALL, 1.0)
    assert one.pay(PAID, "m", "t2", CALL, 1.0).session == pytest.approx(0.4)
    with pytest.raises(OrionError):
        one.allow(PAID, "m")
    other.allow(PAID, "m")
    assert spending.total("private").calls == 0
    assert spending.report("all")["total"]["calls"] == 2
    spending.close()
    stored = (fresh_home / "usage.db").read_bytes()
    assert b"private" not in stored
    assert b"t1" not in stored


def test_prices_that_cannot_be_read_are_told_and_the_call_counts(fresh_home: Path) -> None:
    spending = accounts(fresh_home)
    (fresh_home / "pricing.yaml").write_text("makers: {paid: {}}\n", "utf-8")
    purse = spending.purse("s1", False)
    purse.allow(PAID, "m")
    bill = purse.pay(PAID, "m", "t1", CALL, 1.0)
    assert bill.cost is None
    assert [code for code, _fields in bill.notices] == ["yaml_wrong_value"]
    assert [code for code, _fields in spending.notices()] == ["yaml_wrong_value"]
    assert spending.total("s1").calls == 1
    spending.close()


# --- caps ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cap", "other", "later"),
    [("daily_usd", "s2", DAY), ("monthly_usd", "s2", 15 * DAY), ("session_usd", "s1", 0.0)],
)
def test_a_cap_stops_the_next_call_and_says_so(fresh_home: Path, cap: str, other: str, later: float) -> None:
    clock = Clock()
    spending = accounts(fresh_home, clock, **{cap: 0.4})
    purse = spending.purse("s1", False)
    for _ in range(2):
        purse.allow(PAID, "m")
        purse.pay(PAID, "m", "t1", CALL, 1.0)
    error = refused(spending, other)
    assert (error.code, error.fault) == ("cap_reached", "user")
    assert (error.fields["spent"], error.fields["limit"]) == ("$0.40", "$0.40")
    assert error.fields["setting"] == f"spending.{cap}"
    clock.now += later
    if later:
        purse.allow(PAID, "m")
    else:
        spending.purse("s2", False).allow(PAID, "m")
    spending.close()


def test_without_caps_nothing_is_refused_and_nothing_is_read(fresh_home: Path) -> None:
    spending = accounts(fresh_home)
    (fresh_home / "usage.db").write_bytes(b"damaged" * 1000)
    spending.purse("s1", False).allow(Traits("strange", local=False), "m")
    spending.close()


def test_with_a_cap_a_model_of_unknown_price_is_refused(fresh_home: Path) -> None:
    spending = accounts(fresh_home, monthly_usd=5.0)
    error = refused(spending, traits=Traits("strange", local=False))
    assert error.code == "price_unknown"
    assert (error.fields["provider"], error.fields["model"]) == ("strange", "m")
    free = "makers:\n  strange:\n    models:\n      m: {input: 0, output: 0}\n"
    (fresh_home / "pricing.yaml").write_text(free, "utf-8")
    spending.purse("s1", False).allow(Traits("strange", local=False), "m")
    spending.close()


def test_with_a_cap_what_cannot_be_counted_is_not_asked(fresh_home: Path) -> None:
    spending = accounts(fresh_home, daily_usd=1.0)
    (fresh_home / "usage.db").write_bytes(b"damaged" * 1000)
    assert refused(spending).code == "usage_unusable"
    (fresh_home / "usage.db").unlink()
    (fresh_home / "pricing.yaml").write_text("version: [\n", "utf-8")
    assert refused(spending).code == "yaml_syntax"
    spending.close()


def test_a_call_that_could_not_be_written_is_written_later(fresh_home: Path) -> None:
    spending = accounts(fresh_home, daily_usd=0.1)
    (fresh_home / "usage.db").mkdir()
    bill = spending.purse("s1", False).pay(PAID, "m", "t1", CALL, 1.0)
    assert bill.cost == pytest.approx(0.2)
    assert [code for code, _fields in bill.notices] == ["usage_unusable"]
    assert refused(spending).code == "usage_unusable", "what is not written cannot be held against a cap"
    (fresh_home / "usage.db").rmdir()
    assert refused(spending).code == "cap_reached"
    assert spending.total("s1").calls == 1
    spending.close()


def test_near_a_cap_the_user_is_told_once(fresh_home: Path) -> None:
    spending = accounts(fresh_home, daily_usd=1.0, monthly_usd=100.0)
    purses = [spending.purse("s1", False), spending.purse("s2", False)]
    told = [purses[number % 2].pay(PAID, "m", "t1", CALL, 1.0).notices for number in range(5)]
    assert [[code for code, _fields in notices] for notices in told] == [[], [], [], ["cap_near"], []]
    assert told[3][0][1]["spent"] == "$0.80"
    spending.close()


def test_another_process_counts_too(fresh_home: Path) -> None:
    here, there = accounts(fresh_home, daily_usd=0.2), accounts(fresh_home, daily_usd=0.2)
    there.purse("s9", False).pay(PAID, "m", "t1", CALL, 1.0)
    assert refused(here).code == "cap_reached"
    here.close()
    there.close()


def test_the_report_tells_what_caps_have_left(fresh_home: Path) -> None:
    spending = accounts(fresh_home, daily_usd=1.0)
    spending.purse("s1", False).pay(PAID, "m", "t1", CALL, 1.0)
    found = spending.report("today")
    json.dumps(found)
    daily, monthly, session = found["caps"]
    assert (daily["setting"], daily["limit"]) == ("spending.daily_usd", 1.0)
    assert daily["spent"] == pytest.approx(0.2)
    assert [monthly["limit"], session["limit"]] == [0.0, 0.0]
    assert {made["provider"] for made in found["prices"]} == {"openai", "anthropic"}
    spending.close()


def test_a_guess_is_rather_too_high() -> None:
    request = Request(
        "s",
        "m",
        "You are helpful. " * 10,
        (
            UserMessage((Text("What is in this picture? " * 4), Image("image/png", "aGk="))),
            AssistantMessage("", (), (ToolCall("c", "look", {"at": "x" * 300}),)),
        ),
    )
    found = guess(request, "I see a cat. " * 10)
    assert found.prompt >= 1500 + (170 + 100 + 300) // 4
    assert found.completion >= 130 // 4
