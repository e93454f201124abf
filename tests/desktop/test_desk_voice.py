"""What the window asks of the voice reaches a real conversation, whose child plays a script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from desktop import desk_voice
from desktop.desk import Desk
from desktop.desk_voice import DeskVoice
from runtime.conversation_events import Draft
from runtime.session import Session
from tests.runtime.scripted_house import Steps, talking
from tests.runtime.scripted_voice import Step, Voice
from voice.events import Devices, Final, Trouble

HEARD: list[Step] = [["await", "press"], ["state", "hearing"], ["await", "release"], ["final", "Hello there"]]


class Stage:
    """A desk with a scripted voice and one open session."""

    def __init__(self, desk: Desk, session: Session, voice: Voice) -> None:
        self.desk = desk
        self.session = session
        self.voice = voice

    def said(self) -> list[str]:
        return [row["text"] for row in self.session.rows() if row["kind"] == "user"]


@asynccontextmanager
async def stage(home: Path, steps: Steps, *lives: list[Step]) -> AsyncIterator[Stage]:
    async with talking(home, steps) as (runtime, session, _watch):
        voice = Voice(home.parent / "voice")
        desk = Desk(runtime, lambda _event: None)
        desk.voice = DeskVoice(runtime, voice.take, voice.command(*lives))
        await desk.open(session.id)
        await desk_voice.attach(desk, session.id)
        try:
            yield Stage(desk, session, voice)
        finally:
            await desk.close()


def test_nothing_is_started_before_the_first_use(fresh_home: Path) -> None:
    async def run() -> None:
        async with stage(fresh_home, []) as it:
            await desk_voice.hush(it.desk)
            await desk_voice.cancel(it.desk)
            await it.desk.save_settings({"voice.rate": 1.5})
            assert not it.desk.voice.used
            assert it.voice.orders() == []
            await desk_voice.wake(it.desk)
            assert it.desk.voice.used

    asyncio.run(run())


def test_what_is_said_is_sent_and_its_answer_spoken(fresh_home: Path) -> None:
    lives = [*HEARD, ["said", "Good day"], ["await", "end"], ["spoken", None, True], ["state", "idle"]]

    async def run() -> None:
        async with stage(fresh_home, [{"say": "Good day."}], lives) as it:
            await desk_voice.press(it.desk)
            await desk_voice.release(it.desk)
            await it.voice.rested()
            assert it.said() == ["Hello there"]
            assert it.voice.said() == ["Good day."]
            await desk_voice.read_aloud(it.desk, "Once *more*.")
            await desk_voice.hands_free(it.desk, True)
            await it.desk.save_settings({"voice.hands_free": False})

    asyncio.run(run())


def test_trying_the_microphone_sends_nothing_and_then_all_is_as_before(fresh_home: Path) -> None:
    after = [["await", "press"], ["await", "release"], ["final", "For you"], ["await", "end"]]
    lives = [*HEARD, *after, ["spoken", None, True], ["state", "idle"]]

    async def run() -> None:
        async with stage(fresh_home, [{"say": "Yes."}], lives) as it:
            await desk_voice.try_microphone(it.desk, True)
            await desk_voice.try_microphone(it.desk, False)
            await it.voice.until(lambda event: isinstance(event, Final))
            await it.desk.voice.settled()
            assert it.said() == []
            await desk_voice.press(it.desk)
            await desk_voice.release(it.desk)
            await it.voice.rested()
            assert it.said() == ["For you"]
            assert not [event for event in it.voice.events if isinstance(event, Draft)]

    asyncio.run(run())


def test_a_trial_in_which_nothing_was_said_ends_too(fresh_home: Path) -> None:
    lives: list[Step] = [["await", "press"], ["await", "release"], ["final", ""], ["state", "idle"]]

    async def run() -> None:
        async with stage(fresh_home, [], lives) as it:
            await desk_voice.try_microphone(it.desk, True)
            await desk_voice.try_microphone(it.desk, False)
            await it.voice.rested()
            await it.desk.voice.settled()

    asyncio.run(run())


def test_voices_are_listed_without_a_child(fresh_home: Path) -> None:
    async def run() -> None:
        async with stage(fresh_home, []) as it:
            found = await it.desk.settings()
            voice = found["schema"]["$defs"]["Voice"]["properties"]
            assert {"const": "heart", "title": "heart (en)"} in voice["voice"]["oneOf"]
            assert voice["input_device"]["oneOf"] == []
            assert not it.desk.voice.used
            await desk_voice.wake(it.desk)
            it.desk.voice.on_event(Devices((("usb", "A headset"),), ()))
            assert await it.desk.voice.choices("microphones") == [("usb", "A headset")]

    asyncio.run(run())


def test_a_closed_chat_is_let_go(fresh_home: Path) -> None:
    async def run() -> None:
        async with stage(fresh_home, []) as it:
            await desk_voice.wake(it.desk)
            await it.desk.close_session(it.session.id)
            await desk_voice.attach(it.desk, "")

    asyncio.run(run())


def test_a_host_that_is_allowed_is_used_at_once(fresh_home: Path) -> None:
    async def run() -> None:
        async with stage(fresh_home, []) as it:
            await it.desk.save_settings({"voice.online_voices": True})
            await desk_voice.wake(it.desk)
            trouble = await it.voice.until(lambda event: isinstance(event, Trouble))
            assert isinstance(trouble, Trouble)
            assert trouble.code == "voice_host_refused"
            await desk_voice.allow_host(it.desk, str(trouble.fields["host"]))
            assert it.desk.runtime.network.permits(str(trouble.fields["host"]))
            await desk_voice.hands_free(it.desk, False)

    asyncio.run(run())
