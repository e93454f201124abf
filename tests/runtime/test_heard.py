"""What was heard of a spoken answer is folded into what the model, the window and an export show."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from runtime.exchange import INTERRUPTED
from runtime.export import as_markdown
from runtime.journal import DURABLE, Journal
from runtime.rows import Rows
from runtime.sessions import SessionStore
from runtime.transcript import Transcript
from tests.runtime.scripted_house import talking

ANSWER = "One is one. Two is two."


def answered(journal: Journal, text: str = ANSWER, **changes: Any) -> str:
    journal.append("user", text="Count", source="voice")
    data: dict[str, Any] = {
        "text": text,
        "reasoning": [],
        "calls": [],
        "complete": True,
        "stop_reason": "stop",
    } | changes
    return journal.append("assistant", **data).id


def seen(journal: Journal) -> list[str]:
    return [message.text for message in Transcript(journal.chain()).messages]


def row(journal: Journal) -> dict[str, Any]:
    return next(row for row in Rows(journal.chain()).settle(False) if row["kind"] == "assistant")


def test_the_record_is_durable() -> None:
    assert "heard" in DURABLE


def test_a_cut_a_later_cut_and_all_of_it(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "s.jsonl")
    answer = answered(journal)
    assert "heard" not in row(journal)
    for text, whole, model, shown in (
        ("One is one.", False, f"One is one. {INTERRUPTED}", 11),
        ("", False, INTERRUPTED, 0),
        ("One is one. Two", False, f"One is one. Two {INTERRUPTED}", 15),
        (ANSWER, True, ANSWER, None),
    ):
        journal.append("heard", of=answer, text=text, whole=whole)
        assert seen(journal) == ["Count", model]
        assert row(journal)["heard"] == shown
    journal.close()
    again = Journal(tmp_path / "s.jsonl")
    assert (seen(again), again.damage) == (["Count", ANSWER], [])
    again.close()


def test_a_cut_of_an_answer_that_is_not_there_is_passed_over() -> None:
    journal = Journal(None)
    answered(journal)
    journal.append("heard", of="gone", text="One", whole=False)
    journal.append("heard", of=journal.records[0].id, text="One", whole=False)
    assert seen(journal) == ["Count", ANSWER]


def test_a_partial_answer_and_one_with_calls_are_cut_too() -> None:
    journal = Journal(None)
    partial = answered(journal, complete=False, stop_reason="cancelled")
    journal.append("heard", of=partial, text="One", whole=False)
    call = {"id": "c", "name": "echo", "arguments": {}}
    calling = answered(journal, "Let me look.", calls=[call])
    journal.append("heard", of=calling, text="Let me", whole=False)
    messages = Transcript(journal.chain()).messages
    assert messages[1].text == f"One {INTERRUPTED}"
    assert messages[3].text == f"Let me {INTERRUPTED}"
    assert getattr(messages[3], "calls")[0].id == "c"  # noqa: B009


def test_compaction_keeps_the_cut_and_outlives_what_it_dropped() -> None:
    journal = Journal(None)
    old = answered(journal)
    journal.append("done", reason="complete")
    keep = journal.append("user", text="More", source="voice").id
    journal.append("heard", of=old, text="One", whole=False)
    journal.append("compaction", keep=keep, limit=100, before=2, after=1, summary="Before.")
    journal.append("heard", of=old, text=ANSWER, whole=True)
    assert seen(journal) == ["Before.\n\nMore"]


def test_the_export_says_where_it_ended() -> None:
    journal = Journal(None)
    journal.append("heard", of=answered(journal), text="One is one. Two", whole=False)
    text = as_markdown("T", Rows(journal.chain()).settle(False))
    assert f"{ANSWER}\n\n*Interrupted after “One is one. Two”; the rest was not heard.*" in text


def test_fork_export_and_import_keep_it(tmp_path: Path) -> None:
    store = SessionStore(tmp_path, tmp_path / "index.db", "test")
    session = store.create("test")
    journal, lock = store.open(session)
    answer = answered(journal)
    journal.append("done", reason="complete")
    journal.append("heard", of=answer, text="One is one.", whole=False)
    journal.append("heard", of=answer, text="One", whole=False)
    later = journal.append("user", text="Go on", source="voice").id
    journal.close()
    lock.release()
    for copy in (
        store.fork(session, answer),
        store.fork(session, later),
        store.import_(store.export(session, "json")),
    ):
        opened, held = store.open(copy)
        assert row(opened)["heard"] == 3
        assert seen(opened)[1] == f"One {INTERRUPTED}"
        opened.close()
        held.release()
    kinds = [record["type"] for record in json.loads(store.export(session, "json"))["records"]]
    assert kinds.count("heard") == 2
    store.close()


def test_editing_and_answering_again_begin_without_it(fresh_home: Path) -> None:
    async def run() -> None:
        async with talking(fresh_home, [{"say": ANSWER}], loop=True) as (_runtime, session, watch):
            asked = await session.submit("Count", source="voice")
            await watch.until("done")
            session.heard(session.last_answer, "One", whole=False)
            (told,) = watch.of("heard")
            assert (told.id, told.text, told.whole) == (session.last_answer, "One", False)
            await session.retry()
            await watch.until("done", 2)
            assert [row.get("heard") for row in session.rows() if row["kind"] == "assistant"] == [None]
            await session.edit(asked, "Count again")
            await watch.until("done", 3)
            assert [message.text for message in session._transcript.messages] == ["Count again", ANSWER]

    asyncio.run(run())


def test_the_last_answer_is_that_to_the_last_message(fresh_home: Path) -> None:
    async def run() -> None:
        async with talking(fresh_home, [{"say": ANSWER}, {"think": "So"}, {"wait": 600}]) as (
            _runtime,
            session,
            watch,
        ):
            assert session.last_answer == ""
            await session.submit("Count")
            await watch.until("done")
            assert session.last_answer == session.rows()[-1]["id"]
            await session.submit("More")
            await watch.until("thinking_start")
            assert session.last_answer == ""
            session.cancel()
            await watch.until("done", 2)

    asyncio.run(run())
