"""What is said becomes a message, what is answered is spoken, and the session keeps what was heard."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from runtime.assemble import Runtime
from runtime.conversation import Conversation
from runtime.conversation_events import Caption, ConversationEvent, Draft, Understood
from runtime.exchange import INTERRUPTED
from runtime.session import Session
from runtime.voice_entries import ONLINE_HOST
from tests.runtime.scripted_house import Steps, Watch, call, talking
from tests.runtime.scripted_voice import Step, Voice
from voice.events import Trouble

PRESSED: list[Step] = [["await", "press"], ["state", "hearing"], ["await", "release"]]
ANSWER = "One is one. Two is two. Three is three."


class Stage:
    """A conversation with a scripted voice, over a session with a scripted model."""

    def __init__(
        self, runtime: Runtime, session: Session, watch: Watch, voice: Voice, conversation: Conversation
    ) -> None:
        self.runtime = runtime
        self.session = session
        self.watch = watch
        self.voice = voice
        self.conversation = conversation

    async def push_to_talk(self) -> None:
        await self.conversation.press()
        await self.conversation.release()

    def rows(self, kind: str) -> list[dict[str, Any]]:
        return [row for row in self.session.rows() if row["kind"] == kind]


@asynccontextmanager
async def stage(
    home: Path, steps: Steps, *lives: list[Step], settings: dict[str, object] | None = None, **profile: Any
) -> AsyncIterator[Stage]:
    async with talking(home, steps, **profile) as (runtime, session, watch):
        runtime.save_settings(settings or {})
        voice = Voice(home.parent / "voice")
        conversation = Conversation(runtime, voice.take, command=voice.command(*lives))
        conversation.attach(session)
        try:
            yield Stage(runtime, session, watch, voice, conversation)
        finally:
            await conversation.close()


def is_(kind: type, **fields: Any) -> Any:
    def holds(event: ConversationEvent) -> bool:
        return isinstance(event, kind) and all(getattr(event, key) == value for key, value in fields.items())

    return holds


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
            await it.push_to_talk()
            await it.voice.rested(2)
            assert it.voice.said()[1] == "is one. Two is two. Three is three."
            assert it.rows("assistant")[0].get("heard") is None
            assert [paused.paused for paused in it.watch.of("paused")] == [True, False]

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
