"""From the release of the key to the first sound of the bundled language model's answer in a session."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from runtime.conversation import Conversation
from runtime.conversation_events import ConversationEvent
from tests.bench.figure import Figure, percentile
from tests.bench.local_house import PROFILE, local_house
from tests.bench.voice_house import first_sound, monitor_delay, spread, stage
from tests.sound_stage import SoundStage
from tests.voice.spoken import speech
from voice.events import Final, Spoken, State

TURNS, WARM, TOKENS = 6, 1, 24
ASKED = "Please tell me a short story about a small boat on the sea, and about the people who sail in it."


def measure(*, peers: bool = False) -> list[Figure]:
    """Turns of one chat, each with an utterance of five seconds and a short answer."""
    del peers
    with stage() as sound, sound.record() as recording:
        monitor = spread("the monitor's own delay", monitor_delay(recording))
        words, times = asyncio.run(_turns(sound))
    reference = spread("release to sound", times) | spread("release to words", words) | monitor
    return [Figure("voice_model", percentile(times, 50), "ms", 800, "lower", reference)]


async def _turns(sound: SoundStage) -> tuple[list[float], list[float]]:
    words: list[float] = []
    times: list[float] = []
    with tempfile.TemporaryDirectory(prefix="orion-bench-") as home:
        async with local_house(Path(home), {}, max_tokens=TOKENS) as runtime:
            house = _House()
            conversation = Conversation(runtime, house.take)
            try:
                session = await runtime.open(runtime.sessions.create(PROFILE))
                conversation.attach(session)
                for number in range(WARM + TURNS):
                    understood, sounded = await _turn(sound, conversation, house)
                    if number >= WARM:
                        words.append(understood)
                        times.append(sounded)
            finally:
                await conversation.close()
    return words, times


class _House:
    """What the conversation told, and when."""

    def __init__(self) -> None:
        self._events: asyncio.Queue[tuple[ConversationEvent, float]] = asyncio.Queue()

    def take(self, event: ConversationEvent) -> None:
        """Called by the conversation."""
        self._events.put_nowait((event, time.monotonic()))

    async def until(self, fits: Callable[[ConversationEvent], bool]) -> float:
        """When the next event that fits came."""
        async with asyncio.timeout(60):
            while True:
                event, moment = await self._events.get()
                if fits(event):
                    return moment


async def _turn(sound: SoundStage, conversation: Conversation, house: _House) -> tuple[float, float]:
    """Milliseconds from the release to the words and to the first sound of the answer."""
    said = speech(ASKED)
    with sound.record() as recording:
        await asyncio.to_thread(recording.wait_for_silence)
        await conversation.press()
        await house.until(lambda event: isinstance(event, State) and event.state == "hearing" and event.open)
        await asyncio.to_thread(sound.say, said)
        begin = len(recording.samples)
        released = time.monotonic()
        await conversation.release()
        understood = await house.until(lambda event: isinstance(event, Final))
        await asyncio.to_thread(
            recording.wait, lambda: first_sound(recording, begin) is not None, "sound", 60.0
        )
        heard = first_sound(recording, begin)
        assert heard is not None
    await house.until(lambda event: isinstance(event, Spoken))
    return 1000 * (understood - released), 1000 * (heard - released)
