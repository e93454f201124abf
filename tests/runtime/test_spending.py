"""A cap forbids the next call, says so, and holds against what cannot be counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runtime.errors import OrionError
from runtime.providers.provider import Traits
from runtime.purse import Purse
from runtime.spending import Spending
from tests.runtime.paid_house import CALL, HERE, PAID, Clock, accounts, set_caps

DAY = 86_400.0


def refused(spending: Spending, session: str = "s1", model: str = "m", traits: Traits = PAID) -> OrionError:
    with pytest.raises(OrionError) as caught:
        Purse(spending, session, False).allow(traits, model)
    return caught.value


@pytest.mark.parametrize(
    ("cap", "other", "later"),
    [("daily_usd", "s2", DAY), ("monthly_usd", "s2", 15 * DAY), ("session_usd", "s1", 0.0)],
)
def test_a_cap_stops_the_next_call_and_says_so(fresh_home: Path, cap: str, other: str, later: float) -> None:
    clock = Clock()
    spending = accounts(fresh_home, clock, **{cap: 0.4})
    purse = Purse(spending, "s1", False)
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
        Purse(spending, "s2", False).allow(PAID, "m")
    spending.close()


def test_a_cap_holds_from_the_moment_it_is_written(fresh_home: Path) -> None:
    spending = accounts(fresh_home)
    purse = Purse(spending, "s1", False)
    purse.pay(PAID, "m", "t1", CALL, 1.0)
    purse.allow(PAID, "m")
    set_caps(fresh_home, daily_usd=0.1)
    assert refused(spending).code == "cap_reached"
    set_caps(fresh_home, daily_usd=10.0)
    purse.allow(PAID, "m")
    spending.close()


def test_while_the_caps_cannot_be_read_nothing_is_spent(fresh_home: Path) -> None:
    spending = accounts(fresh_home)
    (fresh_home / "settings.yaml").write_text("spending:\n  daily_usd: much\n", "utf-8")
    error = refused(spending)
    assert (error.code, error.fields["line"]) == ("yaml_wrong_value", 2)
    Purse(spending, "s1", False).allow(HERE, "small")
    spending.close()


def test_without_caps_nothing_is_refused_and_nothing_is_read(fresh_home: Path) -> None:
    spending = accounts(fresh_home)
    (fresh_home / "usage.db").write_bytes(b"damaged" * 1000)
    Purse(spending, "s1", False).allow(Traits("strange", local=False), "m")
    spending.close()


def test_with_a_cap_a_model_of_unknown_price_is_refused(fresh_home: Path) -> None:
    spending = accounts(fresh_home, monthly_usd=5.0)
    error = refused(spending, traits=Traits("strange", local=False))
    assert error.code == "price_unknown"
    assert (error.fields["provider"], error.fields["model"]) == ("strange", "m")
    free = "makers:\n  strange:\n    models:\n      m: {input: 0, output: 0}\n"
    (fresh_home / "pricing.yaml").write_text(free, "utf-8")
    Purse(spending, "s1", False).allow(Traits("strange", local=False), "m")
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
    bill = Purse(spending, "s1", False).pay(PAID, "m", "t1", CALL, 1.0)
    assert bill.cost == pytest.approx(0.2)
    assert [code for code, _fields in bill.notices] == ["usage_unusable"]
    assert refused(spending).code == "usage_unusable", "what is not written cannot be held against a cap"
    (fresh_home / "usage.db").rmdir()
    assert refused(spending).code == "cap_reached"
    assert spending.total("s1").calls == 1
    spending.close()


def test_near_a_cap_the_user_is_told_once(fresh_home: Path) -> None:
    spending = accounts(fresh_home, daily_usd=1.0, monthly_usd=100.0)
    purses = [Purse(spending, "s1", False), Purse(spending, "s2", False)]
    told = [purses[number % 2].pay(PAID, "m", "t1", CALL, 1.0).notices for number in range(5)]
    assert [[code for code, _fields in notices] for notices in told] == [[], [], [], ["cap_near"], []]
    assert told[3][0][1]["spent"] == "$0.80"
    spending.close()


def test_another_process_counts_too(fresh_home: Path) -> None:
    here, there = accounts(fresh_home, daily_usd=0.2), accounts(fresh_home, daily_usd=0.2)
    Purse(there, "s9", False).pay(PAID, "m", "t1", CALL, 1.0)
    assert refused(here).code == "cap_reached"
    here.close()
    there.close()


def test_the_report_tells_what_caps_have_left(fresh_home: Path) -> None:
    spending = accounts(fresh_home, daily_usd=1.0)
    Purse(spending, "s1", False).pay(PAID, "m", "t1", CALL, 1.0)
    found = spending.report("today")
    json.dumps(found)
    daily, monthly, session = found["caps"]
    assert (daily["setting"], daily["limit"]) == ("spending.daily_usd", 1.0)
    assert daily["spent"] == pytest.approx(0.2)
    assert [monthly["limit"], session["limit"]] == [0.0, 0.0]
    assert {made["provider"] for made in found["prices"]} == {"openai", "anthropic"}
    spending.close()
