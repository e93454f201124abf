"""A conversation with a model that costs money: what is told of it, what is stored, where it stops."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import apsw
import pytest

from runtime.assemble import assemble
from tests.runtime.paid_house import PaidProvider, paid_profile, set_caps
from tests.runtime.scripted_house import Steps, Watch, write_profile


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


def test_a_model_that_steps_in_meets_the_cap_too(fresh_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> Watch:
        paid_profile(monkeypatch, fresh_home, [{"say": "one"}, {"say": "two"}])
        cut = {"error": {"code": "provider_unreachable", "host": "example.org", "problem": "no route"}}
        write_profile(fresh_home, [cut], loop=True, name="first", fallback=["test"])
        set_caps(fresh_home, daily_usd=0.0001)
        async with assemble(fresh_home) as runtime:
            session = await runtime.open(profile="first")
            watch = Watch(session)
            for text in ("first", "second"):
                await session.submit(text)
                await session.idle()
            return watch

    watch = asyncio.run(main())
    assert watch.text == "one"
    assert len(watch.of("fallback")) == 2
    assert [error.code for error in watch.of("error")] == ["cap_reached"]


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


def test_the_warning_of_a_cap_follows_the_answer(fresh_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> tuple[list[str], list[Any], list[Any]]:
        paid_profile(monkeypatch, fresh_home, [{"say": "one"}, {"say": "two"}])
        set_caps(fresh_home, session_usd=0.0001)
        async with assemble(fresh_home) as runtime:
            session = await runtime.open(profile="test")
            watch = Watch(session)
            await session.submit("first")
            await session.idle()
            rows = session.rows()
            await session.close()
            again = await runtime.open(session.id)
            return watch.types, rows, again.rows()

    types, rows, again = asyncio.run(main())
    assert types.index("response_complete") < types.index("usage") < types.index("notice")
    assert [row.get("text") or row.get("code") for row in rows] == ["first", "one", "cap_near"]
    assert rows == again


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


def test_an_answer_of_which_the_service_does_not_tell_the_tokens_is_counted_by_a_guess(
    fresh_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some services count nothing; a cap must hold for them too."""

    async def main() -> tuple[dict[str, Any], Watch]:
        paid_profile(monkeypatch, fresh_home, [{"say": "one"}, {"say": "two"}])
        monkeypatch.setattr(PaidProvider, "counts", False)
        set_caps(fresh_home, session_usd=0.0001)
        async with assemble(fresh_home) as runtime:
            session = await runtime.open(profile="test")
            watch = Watch(session)
            for text in ("first", "second"):
                await session.submit(text)
                await session.idle()
            report: dict[str, Any] = runtime.spending.report("all")
            return report["total"], watch

    total, watch = asyncio.run(main())
    assert (total["calls"], total["estimated"], total["unknown"]) == (1, 1, 0)
    assert total["cost"] > 0
    assert [error.code for error in watch.of("error")] == ["cap_reached"]
    assert [report.prompt for report in watch.of("usage")] == [total["prompt"]]
    assert watch.of("done")[0].usage["prompt"] == total["prompt"], "the budget of a turn counts it too"


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
