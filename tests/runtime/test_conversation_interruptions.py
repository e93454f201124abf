"""Whoever interrupts is heard, and the session keeps what was heard of the answer."""

from __future__ import annotations

import asyncio
from pathlib import Path

from runtime.conversation_events import Understood
from runtime.exchange import INTERRUPTED
from tests.runtime.conversation_stage import ANSWER, PRESSED, is_, stage
from tests.runtime.scripted_house import Steps, call, talking
from tests.runtime.scripted_voice import Step


def interrupted(heard: str) -> list[Step]:
    """An answer of which `heard` was heard when the user pressed the key again."""
    return [
        *PRESSED,
        ["final", "Count, please."],
        ["said", "three."],
        ["await", "end"],
        ["await", "press"],
        ["state", "interrupted"],
        ["spoken", heard, False],
        ["await", "release"],
    ]


def test_an_interrupted_answer_ends_for_the_model_where_it_was_heard(fresh_home: Path) -> None:
    lives = [
        *interrupted("One is one. Two"),
        ["final", "Thank you for that."],
        ["said", "Welcome"],
        ["await", "end"],
        ["spoken", "", True],
        ["state", "idle"],
    ]

    async def run() -> str:
        async with stage(fresh_home, [{"say": ANSWER}, {"say": "You are Welcome."}], lives) as it:
            await it.push_to_talk()
            await it.watch.until("done")
            await it.push_to_talk()
            await it.voice.rested()
            (told,) = it.watch.of("heard")
            first, second = it.rows("assistant")
            assert (told.id, told.text, told.whole) == (first["id"], "One is one. Two", False)
            assert (first["text"], first["heard"], second.get("heard")) == (ANSWER, 15, None)
            assert f"*{'Interrupted after'} “One is one. Two”" in it.runtime.sessions.export(it.session.id)
            forked = await it.runtime.open(it.runtime.sessions.fork(it.session.id, first["id"]))
            assert forked.rows()[1]["heard"] == 15
            return it.session.id

    async def reopened(session: str) -> None:
        async with talking(fresh_home, []) as (runtime, _other, _watch):
            again = await runtime.open(session)
            texts = [message.text for message in again._transcript.messages]
            assert texts == [
                "Count, please.",
                f"One is one. Two {INTERRUPTED}",
                "Thank you for that.",
                "You are Welcome.",
            ]

    asyncio.run(reopened(asyncio.run(run())))


def test_going_on_says_the_rest_and_takes_the_cut_back(fresh_home: Path) -> None:
    lives = [
        *interrupted("One is one."),
        ["final", "Go on."],
        ["await", "expect"],
        ["said", "three."],
        ["await", "end"],
        ["spoken", "", True],
        ["state", "idle"],
    ]

    async def run() -> None:
        async with stage(fresh_home, [{"say": ANSWER}], lives) as it:
            await it.push_to_talk()
            await it.watch.until("done")
            await it.push_to_talk()
            await it.voice.rested()
            await it.voice.until(is_(Understood, word="go_on"))
            assert it.voice.said() == [ANSWER, "Two is two. Three is three."]
            assert [(told.text, told.whole) for told in it.watch.of("heard")] == [
                ("One is one.", False),
                (ANSWER, True),
            ]
            assert it.rows("assistant")[0]["heard"] is None
            assert it.session._transcript.messages[-1].text == ANSWER
            assert len(it.rows("user")) == 1

    asyncio.run(run())


def test_speaking_while_the_model_still_talks_cuts_it_off(fresh_home: Path) -> None:
    lives = [
        *PRESSED,
        ["final", "Tell me a story."],
        ["said", "Once upon a time."],
        ["await", "press"],
        ["state", "interrupted"],
        ["spoken", "Once", False],
        ["await", "release"],
        ["final", "A shorter one."],
        ["said", "The end."],
        ["await", "end"],
        ["spoken", "", True],
        ["state", "idle"],
    ]
    steps: Steps = [{"say": "Once upon a time. "}, {"wait": 600}, {"say": "The end."}]

    async def run() -> None:
        async with stage(fresh_home, steps, lives) as it:
            await it.push_to_talk()
            await it.watch.until(lambda body: "time." in it.watch.text)
            await it.push_to_talk()
            await it.voice.rested()
            assert [done.reason for done in it.watch.of("done")] == ["cancelled", "complete"]
            first, second = it.rows("assistant")
            assert (first["partial"], first["heard"], second["text"]) == (True, 4, "The end.")
            assert it.session._transcript.messages[1].text == f"Once {INTERRUPTED}"

    asyncio.run(run())


def test_a_tap_stops_the_speech_and_not_the_turn(fresh_home: Path) -> None:
    lives = [
        *PRESSED,
        ["final", "Count."],
        ["said", "One is one."],
        ["await", "press"],
        ["state", "interrupted"],
        ["spoken", "One is", False],
        ["await", "release"],
        ["final", ""],
        ["state", "idle"],
    ]

    async def run() -> None:
        async with stage(fresh_home, [{"say": {"text": ANSWER, "delay": 0.02}}], lives) as it:
            await it.push_to_talk()
            await it.watch.until(lambda body: "One is one." in it.watch.text)
            await it.push_to_talk()
            done = await it.watch.until("done")
            await it.voice.rested()
            assert done.reason == "complete"
            assert it.rows("assistant")[0]["heard"] == 6
            assert len(it.rows("user")) == 1

    asyncio.run(run())


def test_stop_ends_turn_and_speech_and_is_no_message(fresh_home: Path) -> None:
    lives = [
        *PRESSED,
        ["final", "Tell me a story."],
        ["said", "Once upon a time."],
        ["final", "Stop!", {"hands_free": True}],
        ["await", "hush"],
        ["spoken", "Once", False],
        ["state", "idle"],
    ]

    async def run() -> None:
        async with stage(fresh_home, [{"say": "Once upon a time. "}, {"wait": 600}], lives) as it:
            await it.push_to_talk()
            await it.voice.until(is_(Understood, word="stop"))
            await it.voice.rested()
            assert (await it.watch.until("done")).reason == "cancelled"
            await it.watch.until("heard")
            assert len(it.rows("user")) == 1
            assert it.rows("assistant")[0]["heard"] == 4

    asyncio.run(run())


def test_status_is_answered_by_the_program_while_the_model_works(fresh_home: Path) -> None:
    lives = [
        *PRESSED,
        ["final", "Tell me a story."],
        ["await", "expect"],
        ["final", "What are you doing?", {"hands_free": True}],
        ["await", "expect"],
        ["said", "I am thinking"],
        ["state", "idle"],
    ]

    async def run() -> None:
        async with stage(fresh_home, [{"wait": 600}, {"say": "Never."}], lives) as it:
            await it.push_to_talk()
            await it.voice.rested()
            assert it.session.busy
            assert it.voice.said()[0].startswith("I am thinking, for")
            assert len(it.rows("user")) == 1
            it.session.cancel()

    asyncio.run(run())


def test_wait_pauses_and_go_on_says_what_came_meanwhile(fresh_home: Path) -> None:
    lives = [
        *PRESSED,
        ["final", "Count."],
        ["said", "One is one."],
        ["final", "Wait a moment.", {"hands_free": True}],
        ["await", "hush"],
        ["spoken", "One", False],
        ["state", "idle"],
        *PRESSED,
        ["final", "Okay, continue."],
        ["await", "expect"],
        ["said", "three."],
        ["await", "end"],
        ["spoken", "", True],
        ["state", "idle"],
    ]

    async def run() -> None:
        async with stage(fresh_home, [{"say": {"text": ANSWER, "delay": 0.02}}], lives) as it:
            await it.push_to_talk()
            await it.voice.rested()
            await it.watch.until("done")
            assert [paused.paused for paused in it.watch.of("paused")] == [True, False]
            await it.push_to_talk()
            await it.voice.rested(2)
            assert it.voice.said()[1] == "is one. Two is two. Three is three."
            assert it.rows("assistant")[0].get("heard") is None

    asyncio.run(run())


def test_what_is_said_while_a_call_waits_for_the_hand_steers_the_turn(fresh_home: Path) -> None:
    lives = [
        *PRESSED,
        ["final", "Write it down."],
        ["said", "needs your hand"],
        ["await", "end"],
        ["spoken", "", True],
        ["state", "idle"],
        *PRESSED,
        ["final", "And say thanks afterwards."],
        ["await", "expect"],
        ["said", "Thanks"],
        ["await", "end"],
        ["spoken", "", True],
        ["state", "idle"],
    ]
    steps = [call("write_file", path="a.txt", text="x"), {"expect": "thanks"}, {"say": "Thanks to you."}]

    async def run() -> None:
        async with stage(fresh_home, steps, lives, risk={"write_file": "high"}) as it:
            await it.push_to_talk()
            asked = await it.watch.until("approval_required")
            await it.voice.rested()
            await it.push_to_talk()
            await it.watch.until("queued")
            await it.session.answer(asked.id, "approve")
            await it.voice.rested(2)
            assert [row["text"] for row in it.rows("user")] == [
                "Write it down.",
                "And say thanks afterwards.",
            ]
            assert it.rows("tool")[0]["status"] == "ok"

    asyncio.run(run())
