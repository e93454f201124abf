"""Every model call is paid for, private ones without their name, and a cap stops before the next one."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw
import pytest

from runtime.assemble import assemble
from runtime.errors import OrionError
from runtime.messages import AssistantMessage, Image, Text, ToolCall, Usage, UserMessage
from runtime.paths import Home
from runtime.providers.provider import Request, Traits
from runtime.settings import Caps
from runtime.spending import Spending, guess
from tests.runtime.paid_house import PRICES, paid_profile, set_caps
from tests.runtime.scripted_house import Steps, Watch, write_profile

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


# --- in a conversation --------------------------------------------------------------------------------


def reports(watch: Watch) -> list[tuple[float | None, float | None, float | None]]:
    return [(one.cost, one.turn_cost, one.session_cost) for one in watch.of("usage")]


def journal(home: Path) -> list[dict[str, Any]]:
    (path,) = (home / "sessions").glob("*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_cap_stops_a_conversation_before_the_call(
    fresh_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: Steps = [{"say": "one"}, {"say": "two"}, {"say": "three"}]

    async def main() -> tuple[Watch, list[Any]]:
        paid_profile(monkeypatch, fresh_home, steps)
        write_profile(fresh_home, [{"say": "From here."}], name="spare")
        profile = fresh_home / "profiles" / "test.yaml"
        profile.write_text(profile.read_text() + "fallback: [spare]\n")
        set_caps(fresh_home, session_usd=0.0001)
        async with assemble(fresh_home) as runtime:
            session = await runtime.open(profile="test")
            watch = Watch(session)
            for text in ("first", "second"):
                await session.submit(text)
                await session.idle()
            return watch, session.rows()

    watch, rows = asyncio.run(main())
    assert watch.text == "one", "the second answer was never asked for, nor given by another model"
    assert not watch.of("fallback")
    (error,) = watch.of("error")
    assert error.code == "cap_reached"
    assert error.fields["setting"] == "spending.session_usd"
    assert [done.reason for done in watch.of("done")] == ["complete", "error"]
    assert rows[-1]["code"] == "cap_reached"


def test_raising_the_cap_lets_the_conversation_go_on(
    fresh_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> Watch:
        paid_profile(monkeypatch, fresh_home, [{"say": "one"}, {"say": "two"}])
        set_caps(fresh_home, daily_usd=0.0001)
        async with assemble(fresh_home) as runtime:
            session = await runtime.open(profile="test")
            watch = Watch(session)
            for text in ("first", "second"):
                await session.submit(text)
                await session.idle()
            runtime.save_settings({"spending.daily_usd": 100.0})
            await session.retry()
            await session.idle()
            return watch

    watch = asyncio.run(main())
    assert watch.text == "onetwo"
    assert [error.code for error in watch.of("error")] == ["cap_reached"]


def test_events_and_journal_carry_the_cost(fresh_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: Steps = [{"call": {"name": "echo", "arguments": {"text": "x"}}}, {"say": "Done now."}]

    async def main() -> Watch:
        paid_profile(monkeypatch, fresh_home, steps)
        async with assemble(fresh_home) as runtime:
            session = await runtime.open(profile="test")
            watch = Watch(session)
            await session.submit("Do it")
            await session.idle()
            return watch

    watch = asyncio.run(main())
    used = watch.of("usage")
    costs = [(one.prompt * 1000 + one.completion * 2000) / 1e6 for one in used]
    assert [one[0] for one in reports(watch)] == pytest.approx(costs)
    assert reports(watch)[1][1:] == pytest.approx((sum(costs), sum(costs)))
    stored = [record["cost"] for record in journal(fresh_home) if record["type"] == "assistant"]
    assert stored == pytest.approx(costs)
    database = apsw.Connection(str(fresh_home / "usage.db"), flags=apsw.SQLITE_OPEN_READONLY)
    turns = {row[0] for row in database.execute("SELECT turn FROM calls")}
    database.close()
    assert turns == {next(record["id"] for record in journal(fresh_home) if record["type"] == "user")}


def test_a_model_here_is_told_to_cost_nothing(fresh_home: Path) -> None:
    async def main() -> Watch:
        write_profile(fresh_home, [{"say": "Hello."}])
        async with assemble(fresh_home) as runtime:
            session = await runtime.open(profile="test")
            watch = Watch(session)
            await session.submit("Hi")
            await session.idle()
            return watch

    assert reports(asyncio.run(main())) == [(0.0, 0.0, 0.0)]


def test_an_answer_that_broke_off_is_counted_by_a_guess(
    fresh_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = {"error": {"code": "reply_cut_short", "model": "m"}}
    stop = {"wait": 60}
    steps: Steps = [{"say": "Once upon a time"}, cut, {"say": {"text": "And then", "delay": 0}}, stop]

    async def main() -> dict[str, Any]:
        paid_profile(monkeypatch, fresh_home, steps)
        async with assemble(fresh_home) as runtime:
            session = await runtime.open(profile="test")
            watch = Watch(session)
            await session.submit("Tell")
            await session.idle()
            await session.submit("Tell more")
            await watch.until(lambda body: body.type == "response_chunk" and "And" in body.text)
            session.cancel()
            await session.idle()
            report: dict[str, Any] = runtime.spending.report("all")
            return report

    total = asyncio.run(main())["total"]
    assert (total["calls"], total["estimated"], total["unknown"]) == (2, 2, 0)
    assert total["cost"] > 0


def test_a_call_that_failed_before_it_said_anything_costs_nothing(
    fresh_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> int:
        refusal = {"error": {"code": "key_rejected", "provider": "paid", "problem": "no"}}
        paid_profile(monkeypatch, fresh_home, [refusal])
        async with assemble(fresh_home) as runtime:
            session = await runtime.open(profile="test")
            await session.submit("Hi")
            await session.idle()
            return int(runtime.spending.report("all")["total"]["calls"])

    assert asyncio.run(main()) == 0


def test_a_record_that_cannot_be_written_does_not_stop_a_conversation(
    fresh_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> Watch:
        paid_profile(monkeypatch, fresh_home, [{"say": "one"}, {"say": "two"}])
        (fresh_home / "usage.db").write_bytes(b"damaged" * 1000)
        async with assemble(fresh_home) as runtime:
            session = await runtime.open(profile="test")
            watch = Watch(session)
            for text in ("first", "second"):
                await session.submit(text)
                await session.idle()
            return watch

    watch = asyncio.run(main())
    assert watch.text == "onetwo"
    assert [notice.code for notice in watch.of("notice")] == ["usage_unusable"], "said once"
    assert reports(watch)[0][0] is not None


def test_wrong_prices_are_a_notice_when_the_program_starts(fresh_home: Path) -> None:
    async def main() -> list[Any]:
        fresh_home.mkdir(parents=True)
        (fresh_home / "pricing.yaml").write_text("makers: 7\n", "utf-8")
        async with assemble(fresh_home) as runtime:
            return runtime.health()

    (found,) = [fields for code, fields in asyncio.run(main()) if code == "yaml_wrong_value"]
    assert str(found["path"]).endswith("pricing.yaml")
