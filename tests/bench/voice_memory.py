"""What the voice child keeps of fifty turns."""

from __future__ import annotations

import asyncio

import psutil

from tests.bench.figure import Figure
from tests.bench.voice_house import stage
from tests.sound_stage import SoundStage
from tests.voice.spoken import speech
from tests.voice.talk import Talk
from voice.events import Final, Spoken

TURNS, SETTLED, GOAL_MB = 50, 15, 20.0


def measure(*, peers: bool = False) -> list[Figure]:
    """Resident memory of the child after fifty turns, less that after the first few."""
    del peers
    with stage() as sound:
        early, late = asyncio.run(_turns(sound))
    reference = {f"after {SETTLED} turns": early, f"after {TURNS} turns": late}
    return [Figure("voice_memory", late - early, "MB", GOAL_MB, "lower", reference)]


async def _turns(sound: SoundStage) -> tuple[float, float]:
    early = 0.0
    said = speech("Yes, please do that.")
    async with Talk() as talk:
        for number in range(TURNS):
            talk.client.press()
            await talk.listening()
            await asyncio.to_thread(sound.say, said)
            talk.client.release()
            await talk.until(Final)
            talk.client.expect()
            talk.client.say(f"All right, this is number {number}.")
            talk.client.end_of_answer()
            await talk.until(Spoken)
            if number + 1 == SETTLED:
                early = _resident(talk.client.pid)
        return early, _resident(talk.client.pid)


def _resident(pid: int) -> float:
    return float(psutil.Process(pid).memory_info().rss) / 1e6
