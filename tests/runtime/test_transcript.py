"""The fold gives a conversation a model can read, wherever the journal ends."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from runtime.exchange import UNKNOWN
from runtime.journal import Journal
from runtime.messages import AssistantMessage, ToolMessage, UserMessage
from runtime.rows import Rows
from runtime.transcript import Transcript


def said(journal: Journal, text: str, **extra: Any) -> str:
    return journal.append("user", text=text, source="test", **extra).id


def replied(journal: Journal, text: str, *calls: str) -> str:
    found = [{"id": call, "name": "t", "arguments": {}, "error": ""} for call in calls]
    return journal.append(
        "assistant", text=text, reasoning=[], calls=found, complete=True, stop_reason="stop"
    ).id


def began(journal: Journal, call: str) -> None:
    journal.append("tool_intent", call=call, name="t")


def ended(journal: Journal, call: str, text: str = "ok") -> None:
    parts = [{"type": "text", "text": text}]
    journal.append("tool_result", call=call, ok=True, kind="", parts=parts, details={}, seconds=0.1)


def long_turn() -> Journal:
    """Calls, approvals, a message in between, an undo, a second turn."""
    journal = Journal(None)
    journal.append("session", title="")
    said(journal, "go")
    replied(journal, "", "a", "b")
    journal.append("approval", call="a", phase="asked")
    began(journal, "b")
    queued = journal.append("queued", text="hurry", source="test")
    ended(journal, "b")
    journal.append("approval", call="a", phase="approve", trust="once", door="test", note="")
    began(journal, "a")
    journal.append("note", text="something happened")
    ended(journal, "a")
    said(journal, "hurry", queued=queued.id)
    replied(journal, "done")
    journal.append("done", reason="complete")
    journal.append("undo", change="c", files=["x"])
    said(journal, "again")
    replied(journal, "sure")
    journal.append("done", reason="complete")
    return journal


@given(st.integers(1, 30))
def test_wherever_the_journal_ends_the_conversation_is_well_formed(end: int) -> None:
    journal = long_turn()
    records = journal.records[:end]
    transcript = Transcript(records)
    wanted: list[str] = []
    previous = ""
    for message in transcript.messages:
        match message:
            case UserMessage():
                assert previous != "user"
                assert not wanted
            case AssistantMessage():
                assert not wanted
                wanted = [call.id for call in message.calls]
            case ToolMessage():
                wanted.remove(message.call_id)
        previous = message.role
    assert wanted == list(transcript.open_calls) or set(wanted) == set(transcript.open_calls)
    assert Rows(records).settle(False) is not None


@given(st.sets(st.integers(0, 18)))
def test_when_the_messages_are_looked_at_makes_no_difference(looks: set[int]) -> None:
    transcript, at_once = Transcript(), Transcript(long_turn().records)
    for number, record in enumerate(long_turn().records):
        transcript.apply(record)
        if number in looks:
            assert transcript.size() >= 0
    assert transcript.messages == at_once.messages
    assert (bool(transcript.turn), transcript.iterations) == (bool(at_once.turn), at_once.iterations)


def test_a_queued_message_waits_until_it_enters_and_is_not_lost() -> None:
    journal = long_turn()
    position = next(n for n, record in enumerate(journal.records) if record.type == "queued")
    transcript = Transcript(journal.records[: position + 1])
    assert [stimulus.text for stimulus in transcript.queued.values()] == ["hurry"]
    assert not Transcript(journal.records).queued
    rows = Rows(journal.records[: position + 1]).settle(False)
    assert rows[-1]["queued"]


def test_calls_left_open_at_the_end_of_a_turn_are_answered() -> None:
    journal = Journal(None)
    said(journal, "go")
    replied(journal, "", "a", "b")
    began(journal, "a")
    journal.append("done", reason="error")
    transcript = Transcript(journal.records)
    texts = [message.text for message in transcript.messages if isinstance(message, ToolMessage)]
    assert texts == [UNKNOWN, "This call was not run."]
    assert [row["status"] for row in Rows(journal.records).settle(False) if row["kind"] == "tool"] == [
        "unknown",
        "denied",
    ]


def test_text_reaches_a_model_without_lone_surrogates() -> None:
    journal = Journal(None)
    said(journal, "a\ud800b")
    (message,) = Transcript(journal.records).messages
    assert message.text == "a?b"
    assert Rows(journal.records).settle(True)[0]["text"] == "a\ud800b"


def test_shortening_keeps_the_end_and_the_stored_conversation() -> None:
    journal = Journal(None)
    for number in range(5):
        said(journal, f"question {number} " + "x" * 100)
        replied(journal, f"answer {number}")
        journal.append("done", reason="complete")
    last = said(journal, "y" * 1000)
    journal.append("compaction", keep=last, limit=200, before=2000, after=200)
    transcript = Transcript(journal.records)
    (message,) = transcript.messages
    assert "characters left out" in message.text
    assert len(message.text) < 260
    replied(journal, "short")
    assert len(Transcript(journal.records).messages) == 2
    assert sum(row["kind"] == "user" for row in Rows(journal.records).settle(True)) == 6
