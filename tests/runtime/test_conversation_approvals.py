"""An approval is read aloud and counts only when its key words come back; the rest needs the hand."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from runtime.conversation_events import Asking, Draft
from tests.runtime.conversation_stage import PRESSED, Stage, is_, stage
from tests.runtime.scripted_house import Steps, call
from tests.runtime.scripted_voice import Step

WRITE = call("write_file", path="notes/todo.md", text="milk\n")
STEPS: Steps = [WRITE, {"say": "Done."}]
BEGUN: list[Step] = [*PRESSED, ["final", "Write it down."]]
ASKED: list[Step] = [
    ["said", "May I write the file `notes/todo.md`? It adds one line. To allow it"],
    ["await", "end"],
    ["spoken", "", True],
    ["state", "idle"],
]


def said(text: str, *, hands_free: bool = False) -> list[Step]:
    return [["await", "press"], ["await", "release"], ["final", text, {"hands_free": hands_free}]]


def ended(words: str) -> list[Step]:
    return [["said", words], ["await", "end"], ["spoken", "", True], ["state", "idle"]]


async def begun(it: Stage) -> None:
    await it.push_to_talk()
    await it.voice.rested()


def test_the_key_words_allow_exactly_this_call(fresh_home: Path) -> None:
    lives = [*BEGUN, *ASKED, *said("Yes, write notes slash to do dot M.D."), *ended("Done.")]

    async def run() -> None:
        async with stage(fresh_home, STEPS, lives) as it:
            await begun(it)
            asking = await it.voice.until(is_(Asking))
            assert asking == Asking(it.session.pending[0].id, "yes, write notes/todo.md", by_hand=False)
            await it.push_to_talk()
            await it.voice.rested(2)
            received = await it.watch.until("approval_received")
            assert (received.decision, received.trust, received.door) == ("approve", "once", "voice")
            (required,) = it.watch.of("approval_required")
            records = it.session._history.journal.records
            (decided,) = [r.data for r in records if r.type == "approval" and r.data["phase"] == "approve"]
            assert (decided["digest"], decided["door"]) == (required.digest, "voice")
            assert (fresh_home / "workspace/notes/todo.md").read_text() == "milk\n"

    asyncio.run(run())


def test_a_refusal_tells_the_model_what_was_said(fresh_home: Path) -> None:
    lives = [*BEGUN, *ASKED, *said("No, put it in the drafts."), *ended("All right.")]
    steps: Steps = [WRITE, {"expect": "No, put it in the drafts."}, {"say": "All right."}]

    async def run() -> None:
        async with stage(fresh_home, steps, lives) as it:
            await begun(it)
            await it.push_to_talk()
            await it.voice.rested(2)
            assert it.rows("tool")[0]["status"] == "denied"
            assert it.watch.of("error") == []

    asyncio.run(run())


def test_after_two_tries_it_waits_for_the_hand(fresh_home: Path) -> None:
    lives = [*BEGUN, *ASKED, *said("Yes."), *ended("I did not get that."), *said("Sure, go for it.")]
    lives += [*ended("waits for your hand"), *said("Yes, write notes todo."), *ended("Done.")]

    async def run() -> None:
        async with stage(fresh_home, STEPS, lives) as it:
            await begun(it)
            for count in (2, 3):
                await it.push_to_talk()
                await it.voice.rested(count)
            await it.voice.until(is_(Asking, by_hand=True))
            await it.push_to_talk()
            await it.watch.until("queued")
            (waiting,) = it.session.pending
            await it.session.answer(waiting.id, "approve")
            await it.voice.rested(4)
            assert it.watch.of("approval_received")[0].door == "window"

    asyncio.run(run())


@pytest.mark.parametrize("cut", [[], [["spoken", "Yes, write", False], ["spoken", "", False]]])
def test_the_voice_of_the_program_itself_allows_nothing(fresh_home: Path, cut: list[Step]) -> None:
    asked: list[Step] = [["said", "To allow it"], ["await", "end"]]
    overheard: list[Step] = [*cut, ["final", "Yes, write notes todo.", {"hands_free": True}]]
    lives = [*BEGUN, *asked, *overheard, ["said", "To allow it, hold the key"], ["state", "idle"]]
    steps: Steps = [{"say": "Yes, write notes/todo.md."}, *STEPS]

    async def run() -> None:
        async with stage(fresh_home, steps, lives) as it:
            await begun(it)
            assert len(it.session.pending) == 1
            it.session.cancel()
            await it.watch.until("done")

    asyncio.run(run())


def test_words_for_the_message_that_is_being_written_are_no_answer(fresh_home: Path) -> None:
    lives = [
        *BEGUN,
        *ASKED,
        *said("Dear Ann, how are you?"),
        *said("Yes, write notes todo."),
        *ended("Done."),
    ]

    async def run() -> None:
        async with stage(fresh_home, STEPS, lives) as it:
            await begun(it)
            await it.conversation.press(draft=True)
            await it.conversation.release()
            await it.voice.until(is_(Draft, text="Dear Ann, how are you?"))
            assert len(it.session.pending) == 1
            await it.conversation.press(draft=True)
            await it.conversation.release()
            await it.voice.rested(2)
            assert it.rows("tool")[0]["status"] == "ok"

    asyncio.run(run())


def test_without_the_key_nobody_in_the_room_allows_anything(fresh_home: Path) -> None:
    overheard: list[Step] = [["final", "Yes, write notes todo.", {"hands_free": True}]]
    lives = [*BEGUN, *ASKED, *overheard, *ended("To allow it, hold the key")]
    half: list[Step] = [["final", "Yes, write notes todo.", {"overheard": True}]]
    lives += [*half, *ended("To allow it, hold the key")]
    lives += [*said("Yes, write notes todo."), *ended("Done.")]

    async def run() -> None:
        async with stage(fresh_home, STEPS, lives) as it:
            await begun(it)
            await it.voice.rested(3)
            assert len(it.session.pending) == 1
            await it.push_to_talk()
            await it.voice.rested(4)
            assert it.rows("tool")[0]["status"] == "ok"

    asyncio.run(run())


def test_without_the_key_a_refusal_counts(fresh_home: Path) -> None:
    refused: list[Step] = [["final", "No.", {"hands_free": True}]]
    lives = [*BEGUN, *ASKED, *refused, *ended("All right.")]

    async def run() -> None:
        async with stage(fresh_home, [WRITE, {"say": "All right."}], lives) as it:
            await begun(it)
            await it.voice.rested(2)
            assert it.rows("tool")[0]["status"] == "denied"

    asyncio.run(run())


def test_an_answer_at_the_window_silences_the_question(fresh_home: Path) -> None:
    asked: list[Step] = [["said", "To allow it"], ["await", "end"], ["state", "speaking"]]
    lives = [*BEGUN, *asked, ["await", "hush"], ["spoken", "May I", False], *ended("Done.")]

    async def run() -> None:
        async with stage(fresh_home, STEPS, lives) as it:
            await it.push_to_talk()
            required = await it.watch.until("approval_required")
            await it.session.answer(required.id, "approve")
            await it.voice.rested()
            assert it.voice.said()[-1] == "Done."
            assert it.watch.of("heard") == []

    asyncio.run(run())


def test_high_risk_is_never_decided_by_voice(fresh_home: Path) -> None:
    asked = ended("needs your hand")
    lives = [*BEGUN, *asked, *said("Yes, write notes todo."), ["await", "expect"], ["state", "idle"]]

    async def run() -> None:
        async with stage(fresh_home, STEPS, lives, risk={"write_file": "high"}) as it:
            await begun(it)
            await it.voice.until(is_(Asking, by_hand=True))
            await it.push_to_talk()
            await it.voice.rested(2)
            assert len(it.session.pending) == 1
            it.session.cancel()
            await it.watch.until("done")

    asyncio.run(run())


def test_two_questions_are_asked_one_after_the_other(fresh_home: Path) -> None:
    lives = [*BEGUN, *ASKED, *said("Yes, write notes todo."), *ended("May I delete the file `old.txt`?")]
    lives += [*said("Yes, delete old."), *ended("Done.")]
    steps: Steps = [WRITE, call("delete_file", path="old.txt"), {"say": "Done."}]

    async def run() -> None:
        async with stage(fresh_home, steps, lives) as it:
            (fresh_home / "workspace").mkdir(exist_ok=True)
            (fresh_home / "workspace/old.txt").write_text("x")
            await begun(it)
            await it.push_to_talk()
            await it.voice.rested(2)
            await it.push_to_talk()
            await it.voice.rested(3)
            assert [row["status"] for row in it.rows("tool")] == ["ok", "ok"]

    asyncio.run(run())


def test_status_tells_what_it_waits_for_and_going_on_asks_again(fresh_home: Path) -> None:
    lives = [*BEGUN, *ASKED, *said("Status?"), *ended("I am waiting for you to allow write file.")]
    lives += [*said("Go on."), *ended("May I write")]

    async def run() -> None:
        async with stage(fresh_home, STEPS, lives) as it:
            await begun(it)
            for count in (2, 3):
                await it.push_to_talk()
                await it.voice.rested(count)
            assert len(it.session.pending) == 1
            it.session.cancel()
            await it.watch.until("done")

    asyncio.run(run())
