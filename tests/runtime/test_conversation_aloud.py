"""A conversation with everything real but the model: spoken into a microphone, answered on a loudspeaker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from runtime.conversation import Conversation
from runtime.conversation_events import ConversationEvent
from runtime.exchange import INTERRUPTED
from tests.runtime.scripted_house import Steps, Watch, call, talking
from tests.sound_stage import SoundStage
from tests.voice.conftest import stage
from tests.voice.spoken import missing, speech
from voice.events import Speaking, Spoken, State, Trouble

PATIENCE = 40
ASKED = "Please tell me about the weather in London tomorrow morning."
ANSWER = (
    "The weather will be sunny and warm. In the evening there may be some rain. Take your umbrella with you."
)


@pytest.fixture
def sound(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[SoundStage]:
    """A fresh sound server for one test."""
    yield from stage(tmp_path_factory.mktemp("sound"), monkeypatch)


class Talker:
    """A person with a key, and what the conversation tells meanwhile."""

    def __init__(self, sound: SoundStage, watch: Watch) -> None:
        self.watch = watch
        self.conversation: Conversation
        self._sound = sound
        self._events: list[ConversationEvent] = []
        self.spoken: list[Spoken] = []
        self._arrived = asyncio.Event()

    def take(self, event: ConversationEvent) -> None:
        self._events.append(event)
        if isinstance(event, Spoken):
            self.spoken.append(event)
        self._arrived.set()

    async def next(self, kind: type, **fields: Any) -> Any:
        """The next event of this kind; those before it are done with."""
        async with asyncio.timeout(PATIENCE):
            while True:
                while self._events:
                    event = self._events.pop(0)
                    assert not isinstance(event, Trouble), event
                    if isinstance(event, kind) and all(getattr(event, k) == v for k, v in fields.items()):
                        return event
                self._arrived.clear()
                await self._arrived.wait()

    async def say(self, text: str) -> None:
        """Hold the key and say `text`."""
        await self.conversation.press()
        await self.next(State, open=True)
        await asyncio.to_thread(self._sound.say, speech(text))
        await self.conversation.release()


@asynccontextmanager
async def talker(home: Path, sound: SoundStage, steps: Steps) -> AsyncIterator[tuple[Talker, Any]]:
    async with talking(home, steps) as (runtime, session, watch):
        talker = Talker(sound, watch)
        talker.conversation = runtime.conversation(talker.take)
        talker.conversation.attach(session)
        yield talker, session


def test_an_answer_is_interrupted_and_the_session_keeps_what_was_heard(
    fresh_home: Path, sound: SoundStage
) -> None:
    async def run() -> None:
        steps: Steps = [{"say": ANSWER}, {"say": "You are welcome."}]
        async with talker(fresh_home, sound, steps) as (person, session):
            await person.say(ASKED)
            await person.next(Speaking)
            await person.next(Speaking)
            await person.say("Thank you very much, that is enough for today.")
            await person.next(Spoken, whole=True)
            cut, welcome = person.spoken
            assert (cut.whole, welcome.whole) == (False, True)
            assert ANSWER.startswith(cut.heard.rstrip())
            first, again = [row for row in session.rows() if row["kind"] == "user"]
            answer = next(row for row in session.rows() if row["kind"] == "assistant")
            assert missing(ASKED, first["text"]) <= 1
            assert missing("Thank you very much, that is enough for today", again["text"]) <= 1
            assert 0 < answer["heard"] == len(cut.heard.rstrip()) < len(ANSWER)
            cut_short = f"{cut.heard.rstrip()} {INTERRUPTED}"
            assert session._transcript.messages[1].text == cut_short

    asyncio.run(run())


def test_a_call_is_allowed_by_really_saying_its_key_words(fresh_home: Path, sound: SoundStage) -> None:
    async def run() -> None:
        steps = [call("write_file", path="notes/garden.md", text="roses\n"), {"say": "It is written."}]
        async with talker(fresh_home, sound, steps) as (person, session):
            await person.say("Please write roses into my notes about the garden.")
            await person.next(Spoken, whole=True)
            await person.say("Yes, write notes garden.")
            assert (await person.next(Spoken, whole=True)).heard.startswith("It is written.")
            assert person.watch.of("approval_received")[0].door == "voice"
            assert (fresh_home / "workspace/notes/garden.md").read_text() == "roses\n"
            assert len([row for row in session.rows() if row["kind"] == "user"]) == 1

    asyncio.run(run())
