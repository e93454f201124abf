"""Another model answers while the first cannot be reached, and everybody is told."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from runtime.sessions import SessionStore
from tests.runtime.scripted_house import Steps, Watch, call, talking, write_profile

CUT = {"error": {"code": "provider_unreachable", "host": "example.org", "problem": "no route"}}


def answer(home: Path, first: Steps, second: Steps, text: str = "Hi") -> tuple[Watch, list[Any], list[Any]]:
    """A turn whose first model has another one behind it: events, rows, and rows after opening it anew."""

    async def main() -> tuple[Watch, list[Any], list[Any]]:
        write_profile(home, second, name="spare")
        async with talking(home, first, fallback=["gone", "spare"]) as (runtime, session, watch):
            await session.submit(text)
            await session.idle()
            rows = session.rows()
            await session.close()
            again = await runtime.open(session.id)
            return watch, rows, again.rows()

    return asyncio.run(main())


def test_a_model_that_cannot_be_reached_gives_way_to_the_next(fresh_home: Path) -> None:
    watch, rows, again = answer(fresh_home, [CUT], [{"say": "Good day."}])
    (change,) = watch.of("fallback")
    assert (change.old, change.new) == ("scripted/test.script", "scripted/spare.script")
    assert change.code == "provider_unreachable"
    assert watch.text == "Good day."
    assert watch.of("done")[0].reason == "complete"
    assert watch.of("done")[0].model == "spare.script"
    assert not watch.of("error")
    assert [row["kind"] for row in rows] == ["user", "notice", "assistant"]
    assert rows == again


def test_a_cut_in_the_middle_keeps_what_was_said_and_begins_again(fresh_home: Path) -> None:
    watch, rows, again = answer(fresh_home, [{"say": "Once upon"}, CUT], [{"say": "A whole tale."}])
    (change,) = watch.of("fallback")
    assert change.text == "Once upon"
    assert [row.get("text") for row in rows if row["kind"] == "assistant"] == ["Once upon", "A whole tale."]
    assert rows[1]["partial"]
    assert rows[1]["stop_reason"] == "replaced"
    assert rows[2]["fields"]["reason_code"] == "provider_unreachable"
    assert not rows[3]["partial"]
    assert rows == again


def test_the_model_that_takes_over_never_sees_the_broken_answer(fresh_home: Path) -> None:
    second: Steps = [{"expect": "Hi"}, call("echo", text="x"), {"expect": "x"}, {"say": "Done."}]
    watch, _rows, _again = answer(fresh_home, [{"say": "Once upon"}, CUT], second)
    assert watch.of("done")[0].reason == "complete"
    assert len(watch.of("fallback")) == 1, "who stepped in answers until the turn ends"


def test_a_fault_that_another_model_cannot_mend_ends_the_turn(fresh_home: Path) -> None:
    refused = {"error": {"code": "key_rejected", "provider": "x", "problem": "no"}}
    watch, _rows, _again = answer(fresh_home, [refused], [{"say": "Good day."}])
    assert not watch.of("fallback")
    assert watch.of("error")[0].code == "key_rejected"
    assert watch.of("done")[0].reason == "error"


def test_without_another_model_the_turn_ends_with_the_fault(fresh_home: Path) -> None:
    watch, rows, _again = answer(fresh_home, [{"say": "Once upon"}, CUT], [CUT])
    assert len(watch.of("fallback")) == 1
    assert watch.of("error")[0].code == "provider_unreachable"
    assert rows[-1]["code"] == "provider_unreachable"


def test_the_next_turn_asks_the_first_model_again(fresh_home: Path) -> None:
    async def main() -> Watch:
        write_profile(fresh_home, [{"say": "Here."}], name="spare", loop=True)
        steps: Steps = [CUT, {"say": "Back again."}]
        async with talking(fresh_home, steps, fallback=["spare"]) as (_, session, watch):
            await session.submit("One")
            await session.idle()
            await session.submit("Two")
            await session.idle()
            return watch

    watch = asyncio.run(main())
    assert watch.text == "Here.Back again."


def test_an_export_holds_the_broken_answer(fresh_home: Path) -> None:
    _watch, rows, _again = answer(fresh_home, [{"say": "Once upon"}, CUT], [{"say": "A whole tale."}])
    assert rows
    store = SessionStore(fresh_home / "sessions", fresh_home / "index.db", "test")
    try:
        text = store.export(store.list(1)[0]["id"], "markdown")
    finally:
        store.close()
    assert "Once upon" in text
    assert "A whole tale." in text
    assert "example.org" in text
