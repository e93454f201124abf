"""What is said becomes a message, and what is answered is spoken."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from runtime.conversation_events import Caption, Draft, Understood
from runtime.voice_entries import ONLINE_HOST
from tests.runtime.conversation_stage import ANSWER, PRESSED, is_, stage
from tests.runtime.scripted_voice import Step
from voice.events import State, Trouble


def test_an_utterance_is_a_message_and_its_answer_is_spoken(fresh_home: Path) -> None:
    lives: list[Step] = [
        *PRESSED,
        ["final", " What is two and two? "],
        ["await", "expect"],
        ["said", "Four."],
        ["await", "end"],
        ["speaking", "Two and two is Four."],
        ["spoken", "", True],
        ["state", "idle"],
    ]

    async def run() -> None:
        async with stage(fresh_home, [{"think": "Easy."}, {"say": "Two and two is Four."}], lives) as it:
            await it.push_to_talk()
            await it.voice.rested()
            (user,) = it.rows("user")
            (answer,) = it.rows("assistant")
            assert (user["text"], user["source"]) == ("What is two and two?", "voice")
            assert (answer["text"], answer.get("heard")) == ("Two and two is Four.", None)
            assert it.voice.said() == ["Two and two is Four."]
            captions = [event for event in it.voice.events if isinstance(event, Caption)]
            assert captions == [Caption("", "Two and two is Four."), Caption("", "")]

    asyncio.run(run())


def test_a_typed_message_is_answered_in_silence(fresh_home: Path) -> None:
    async def run() -> None:
        async with stage(fresh_home, [{"say": "Hello."}], []) as it:
            await it.conversation.start()
            await it.session.submit("Hi")
            await it.watch.until("done")
            assert it.voice.said() == []

    asyncio.run(run())


def test_without_sending_at_once_the_words_go_to_the_composer(fresh_home: Path) -> None:
    lives = [*PRESSED, ["final", "Dear Ann, stop"], ["final", "Wait."], ["state", "idle"]]

    async def run() -> None:
        async with stage(fresh_home, [], lives, settings={"voice.send_at_once": False}) as it:
            await it.push_to_talk()
            await it.voice.until(is_(Draft), 2)
            assert [event for event in it.voice.events if isinstance(event, Draft)] == [
                Draft("Dear Ann, stop"),
                Draft("Wait."),
            ]
            assert it.session.rows() == []

    asyncio.run(run())


def test_a_draft_that_was_looked_over_is_answered_aloud(fresh_home: Path) -> None:
    lives = [*PRESSED, ["final", "good morning"], ["said", "."], ["await", "end"], ["state", "idle"]]

    async def run() -> None:
        async with stage(fresh_home, [{"say": "Bonjour."}], lives) as it:
            await it.conversation.press(draft=True)
            await it.conversation.release()
            await it.voice.until(is_(Draft))
            assert it.session.rows() == []
            await it.conversation.send("In French: good morning")
            await it.voice.rested()
            (asked,) = it.rows("user")
            assert (asked["text"], asked["source"]) == ("In French: good morning", "voice")
            (said,) = it.voice.said()
            assert said.strip() == "Bonjour."

    asyncio.run(run())


def test_an_error_is_said_in_one_sentence(fresh_home: Path) -> None:
    lives = [*PRESSED, ["final", "Hi"], ["said", "."], ["await", "end"], ["state", "idle"]]

    async def run() -> None:
        async with stage(fresh_home, [{"error": {"code": "rate_limited", "provider": "X"}}], lives) as it:
            await it.push_to_talk()
            await it.voice.rested()
            (said,) = it.voice.said()
            assert said.endswith(".")
            assert said.count(". ") == 0

    asyncio.run(run())


def test_reading_aloud_and_hushing_store_nothing(fresh_home: Path) -> None:
    lives: list[Step] = [
        ["said", "One is one"],
        ["await", "end"],
        ["await", "hush"],
        ["spoken", "One", False],
        ["state", "idle"],
    ]

    async def run() -> None:
        async with stage(fresh_home, [{"say": ANSWER}], lives) as it:
            await it.session.submit("Count.")
            await it.watch.until("done")
            await it.conversation.read_aloud(ANSWER)
            await it.conversation.hush()
            await it.voice.rested()
            assert it.watch.of("heard") == []
            assert it.voice.said() == [ANSWER]

    asyncio.run(run())


def test_a_dead_child_is_told_once_and_the_next_words_are_heard(fresh_home: Path) -> None:
    lives: list[Step] = [
        *PRESSED,
        ["final", "Count."],
        ["said", "three."],
        ["state", "speaking"],
        ["speaking", "One is one. "],
        ["speaking", "Two is two. "],
        ["die"],
    ]
    again: list[Step] = [
        ["state", "idle"],
        *PRESSED,
        ["final", "Once more."],
        ["said", "Again."],
        ["spoken", "", True],
    ]

    async def run() -> None:
        async with stage(fresh_home, [{"say": ANSWER}, {"say": "Again."}], lives, again) as it:
            await it.push_to_talk()
            trouble = await it.voice.until(is_(Trouble))
            assert isinstance(trouble, Trouble)
            assert trouble.code == "voice_child_ended"
            heard = await it.watch.until("heard")
            assert heard.text == "One is one."
            await it.voice.rested(2)
            await it.push_to_talk()
            assert (await it.voice.spoken(2)).whole
            assert len([event for event in it.voice.events if isinstance(event, Trouble)]) == 1

    asyncio.run(run())


def test_an_online_voice_needs_a_permission_and_leaves_an_entry(fresh_home: Path) -> None:
    lives: list[Step] = [
        *PRESSED,
        ["final", "Hello"],
        ["said", "Grüß dich."],
        ["await", "end"],
        ["spoken", "", True],
        ["state", "idle"],
    ]
    settings: dict[str, object] = {"voice.online_voices": True}

    async def run() -> None:
        async with stage(fresh_home, [{"say": "Grüß dich."}], lives, settings=settings) as it:
            await it.conversation.start()
            refused = await it.voice.until(is_(Trouble, code="voice_host_refused"))
            assert isinstance(refused, Trouble)
            it.runtime.network.allow(ONLINE_HOST, "test")
            await it.conversation.configure()
            await it.push_to_talk()
            await it.voice.rested()
            (entry,) = it.runtime.network.entries()
            assert (entry.host, entry.purpose, entry.open) == (ONLINE_HOST, "voice", False)
            assert entry.sent == len("Grüß dich.\n\n".encode())
            assert [config["online_voices"] for config in it.voice.configurations()][:2] == [False, True]

    asyncio.run(run())


def test_names_of_files_and_of_the_chat_are_hints(fresh_home: Path) -> None:
    (fresh_home / "workspace" / "recipes").mkdir(parents=True)
    (fresh_home / "workspace" / "recipes" / "zwetschgen_kuchen.md").write_text("x")
    lives = [*PRESSED, ["final", "I met Iolanthe today."], ["said", "Nice."], ["state", "idle"]]

    async def run() -> None:
        async with stage(fresh_home, [{"say": "Nice."}], lives) as it:
            await it.push_to_talk()
            await it.voice.rested()
            assert {"recipes", "zwetschgen kuchen"} <= {*it.voice.configurations()[0]["hints"]}
            assert it.voice.configurations()[-1]["hints"][0] == "Iolanthe"

    asyncio.run(run())


def test_what_was_spoken_to_the_chat_before_is_not_sent_to_the_next(fresh_home: Path) -> None:
    left: list[Step] = [*PRESSED, ["state", "thinking"], ["await", "hush"], ["final", "Delete it all."]]
    lives: list[Step] = [*left, *PRESSED, ["final", "Hello."], ["await", "expect"], ["state", "idle"]]

    async def run() -> None:
        async with stage(fresh_home, [{"say": "Hi."}], lives) as it:
            await it.conversation.press()
            await it.voice.until(is_(State, state="hearing"))
            await it.conversation.release()
            await it.voice.until(is_(State, state="thinking"))
            it.conversation.attach(None)
            it.conversation.attach(it.session)
            assert await it.voice.until(is_(Draft)) == Draft("Delete it all.")
            await it.push_to_talk()
            await it.voice.rested()
            assert [row["text"] for row in it.rows("user")] == ["Hello."]

    asyncio.run(run())


def test_leaving_the_chat_silences_it(fresh_home: Path) -> None:
    lives: list[Step] = [
        *PRESSED,
        ["final", "Count."],
        ["said", "three."],
        ["await", "hush"],
        ["state", "idle"],
    ]

    async def run() -> None:
        async with stage(fresh_home, [{"say": ANSWER}], lives) as it:
            await it.push_to_talk()
            await it.watch.until("done")
            it.conversation.attach(None)
            await it.voice.rested()
            assert it.watch.of("heard") == []

    asyncio.run(run())


@pytest.mark.parametrize("text", ["", "   "])
def test_silence_is_no_message(fresh_home: Path, text: str) -> None:
    lives: list[Step] = [*PRESSED, ["final", text], ["state", "idle"]]

    async def run() -> None:
        async with stage(fresh_home, [], lives) as it:
            await it.push_to_talk()
            await it.voice.rested()
            assert it.session.rows() == []

    asyncio.run(run())


def test_words_spoken_long_ago_and_edited_by_hand_are_answered_in_silence(fresh_home: Path) -> None:
    lives: list[Step] = [
        *PRESSED,
        ["final", "Hello"],
        ["said", "Hi."],
        ["await", "end"],
        ["spoken", "", True],
        ["state", "idle"],
    ]

    async def run() -> None:
        async with stage(fresh_home, [{"say": "Hi."}], lives, loop=True) as it:
            await it.push_to_talk()
            await it.voice.rested()
            await it.session.edit(it.rows("user")[0]["id"], "Hello again")
            await it.watch.until("done", 2)
            assert it.rows("user")[0]["source"] == "voice"
            assert it.voice.said() == ["Hi."]

    asyncio.run(run())


def test_a_release_never_overtakes_the_press_that_starts_the_voice(fresh_home: Path) -> None:
    lives: list[Step] = [["await", "press"], ["await", "release"], ["state", "idle"]]

    async def run() -> None:
        async with stage(fresh_home, [], lives) as it:
            await asyncio.gather(it.conversation.press(), it.conversation.release())
            await it.voice.rested()
            keys = [order["do"] for order in it.voice.orders() if order["t"] == "key"]
            assert keys == ["press", "release"]

    asyncio.run(run())


def test_an_idle_program_answers_for_its_status_and_has_nothing_to_stop(fresh_home: Path) -> None:
    lives: list[Step] = [
        *PRESSED,
        ["final", "Stop."],
        ["final", "Status?"],
        ["said", "I am not working on anything."],
        ["await", "end"],
        ["spoken", "", True],
        ["state", "idle"],
    ]

    async def run() -> None:
        async with stage(fresh_home, [], lives) as it:
            await it.push_to_talk()
            await it.voice.rested()
            assert [e.word for e in it.voice.events if isinstance(e, Understood)] == ["stop", "status"]
            assert it.session.rows() == []

    asyncio.run(run())
