"""Every call of a session is paid for, private ones without a name; an unknown price stays unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.chain import Link
from runtime.errors import OrionError
from runtime.messages import AssistantMessage, Image, Text, ToolCall, UserMessage
from runtime.profiles import Profile
from runtime.providers.provider import Request, Traits
from runtime.providers.scripted import Script, ScriptedProvider
from runtime.purse import Purse, guess, seller
from tests.runtime.paid_house import CALL, HERE, PAID, accounts


class Somewhere(ScriptedProvider):
    """A provider of which only the traits are asked."""

    def __init__(self, traits: Traits) -> None:
        super().__init__(Script(Path("none"), (), loop=False))
        self._traits = traits

    def traits(self, model: str) -> Traits:
        return self._traits


def test_a_call_has_its_price_and_adds_to_turn_and_session(fresh_home: Path) -> None:
    spending = accounts(fresh_home)
    purse = Purse(spending, "s1", False)
    bill = purse.pay(PAID, "m", "t1", CALL, 1.0)
    assert (bill.cost, bill.turn, bill.session) == pytest.approx((0.2, 0.2, 0.2))
    assert bill.notices == ()
    bill = purse.pay(PAID, "m", "t2", CALL, 1.0)
    assert (bill.cost, bill.turn, bill.session) == pytest.approx((0.2, 0.2, 0.4))
    spending.close()
    again = accounts(fresh_home)
    bill = Purse(again, "s1", False).pay(PAID, "m", "t2", CALL, 1.0)
    assert (bill.turn, bill.session) == pytest.approx((0.4, 0.6)), "a session goes on after a restart"
    again.close()


def test_a_model_on_this_machine_costs_nothing_and_is_counted(fresh_home: Path) -> None:
    spending = accounts(fresh_home, daily_usd=0.1)
    purse = Purse(spending, "s1", False)
    purse.pay(PAID, "m", "t1", CALL, 1.0)
    purse.allow(HERE, "small")
    bill = purse.pay(HERE, "small", "t2", CALL, 1.0)
    assert (bill.cost, bill.turn) == (0.0, 0.0)
    assert [made["calls"] for made in spending.report("all")["models"]] == [1, 1]
    spending.close()


def test_an_unknown_price_is_unknown_and_never_nothing(fresh_home: Path) -> None:
    spending = accounts(fresh_home)
    purse = Purse(spending, "s1", False)
    purse.pay(PAID, "m", "t1", CALL, 1.0)
    bill = purse.pay(Traits("strange", local=False), "m", "t1", CALL, 1.0)
    assert (bill.cost, bill.turn, bill.session) == (None, None, None)
    total = spending.report("all")["total"]
    assert (total["cost"], total["unknown"]) == (pytest.approx(0.2), 1)
    spending.close()


def test_a_private_session_is_counted_without_its_name(fresh_home: Path) -> None:
    spending = accounts(fresh_home, session_usd=0.3)
    one, other = Purse(spending, "private", True), Purse(spending, "private", True)
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
    purse = Purse(spending, "s1", False)
    purse.allow(PAID, "m")
    bill = purse.pay(PAID, "m", "t1", CALL, 1.0)
    assert bill.cost is None
    assert [code for code, _fields in bill.notices] == ["yaml_wrong_value"]
    assert [code for code, _fields in spending.notices()] == ["yaml_wrong_value"]
    assert spending.total("s1").calls == 1
    spending.close()


@pytest.mark.parametrize(
    ("provider", "base_url", "name"),
    [
        ("openai", "", "openai"),
        ("openai", "https://api.openai.com/v1/", "openai"),
        ("openai", "https://openrouter.ai/api/v1", "openrouter.ai"),
        ("openai", "http://192.168.1.7:1234/v1", "192.168.1.7"),
        ("anthropic", "https://gateway.example/anthropic", "gateway.example"),
        ("ollama", "https://ollama.com", "ollama.com"),
        ("paid", "", "paid"),
    ],
)
def test_another_address_is_another_seller(provider: str, base_url: str, name: str) -> None:
    profile = Profile(name="test", provider=provider, model="m", base_url=base_url)
    away, here = Somewhere(Traits(provider, local=False)), Somewhere(Traits(provider, local=True))
    assert seller(Link(profile, "m", away)).name == name
    assert seller(Link(profile, "m", here)).name == provider


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
