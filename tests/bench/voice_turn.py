"""One turn by voice: from the release of the key to the words and to the first sound, and from the next press
to silence."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tests.bench.figure import Figure, percentile
from tests.bench.voice_house import (
    first_sound,
    is_loud,
    last_sound,
    lone_pass,
    monitor_delay,
    pass_time,
    spread,
    stage,
)
from tests.sound_stage import Recording, SoundStage
from tests.voice.spoken import RATE, Samples, speech
from tests.voice.talk import Talk
from voice.events import Final, Spoken

TURNS, WARM = 8, 1
ASKED = (
    "Please open the window in the kitchen, and then tell me about the weather in London tomorrow morning."
)
ANSWER = (
    "It will be warm and sunny all day long, with a light wind from the west, and no rain is expected before "
    "Friday evening. On Saturday it will be cooler, and you may need an umbrella when you go out."
)
PACE = 0.015
"""Seconds between two words of the scripted answer."""


@dataclass
class Times:
    """Milliseconds of every turn."""

    final: list[float] = field(default_factory=list)
    lone: list[float] = field(default_factory=list)
    answer: list[float] = field(default_factory=list)
    silence: list[float] = field(default_factory=list)
    monitor: list[float] = field(default_factory=list)


def measure(*, peers: bool = False) -> list[Figure]:
    """Turns with an utterance of five seconds and a scripted answer, which the next press interrupts.

    The reference is one lone batch pass of faster-whisper over the same samples after each turn, with nobody
    else at work here.
    """
    del peers
    times = Times()
    with stage() as sound, sound.record() as recording:
        times.monitor = monitor_delay(recording)
        asyncio.run(_turns(sound, times))
    lone, final = spread("one lone batch pass", times.lone), spread("release to words", times.final)
    ratio = percentile(times.final, 50) / percentile(times.lone, 50)
    monitor = spread("the monitor's own delay", times.monitor)
    answer, silence = spread("release to sound", times.answer), spread("press to silence", times.silence)
    return [
        Figure("voice_final", percentile(times.final, 95), "ms", 400, "lower", final | lone),
        Figure("voice_final_ratio", ratio, "", 1.2, "lower"),
        Figure("voice_answer", percentile(times.answer, 50), "ms", 500, "lower", answer | monitor),
        Figure("voice_silence", percentile(times.silence, 95), "ms", 80, "lower", silence | monitor),
    ]


async def _turns(sound: SoundStage, times: Times) -> None:
    asked, pass_over = five_seconds(), lone_pass()
    async with Talk() as talk:
        for number in range(WARM + TURNS):
            found = Times()
            await _turn(sound, talk, asked, found)
            began = time.perf_counter()
            await asyncio.to_thread(pass_over, asked)
            found.lone.append(1000 * (time.perf_counter() - began))
            if number >= WARM:
                times.final += found.final
                times.lone += found.lone
                times.answer += found.answer
                times.silence += found.silence


async def _turn(sound: SoundStage, talk: Talk, asked: Samples, times: Times) -> None:
    talk.client.press()
    await talk.listening()
    released = await release_at_the_end(sound, talk, asked)
    with sound.record() as recording:
        await talk.until(Final)
        times.final.append(1000 * (talk.last_time - released))
        talk.client.expect()
        for word in ANSWER.split(" "):
            talk.client.say(word + " ")
            await pass_time(PACE)
        talk.client.end_of_answer()
        await _wait(recording, lambda: first_sound(recording, 0) is not None)
        heard = first_sound(recording, 0)
        assert heard is not None
        times.answer.append(1000 * (heard - released))
        await pass_time(0.5)
        await _wait(recording, lambda: is_loud(recording))
        pressed = time.monotonic()
        talk.client.press()
        await talk.until(Spoken)
        await pass_time(0.5)
        times.silence.append(1000 * max(0.0, last_sound(recording) - pressed))
    talk.client.cancel()
    talk.client.release()
    await talk.until(Final)


async def release_at_the_end(sound: SoundStage, talk: Talk, samples: Samples) -> float:
    """Play `samples` into the microphone and release the key as the last one enters it; when that was."""
    with sound.record("mic_sink.monitor") as entering:
        begin = len(entering.samples)
        await asyncio.to_thread(sound.say, samples, wait=False)
        await _wait(entering, lambda: first_sound(entering, begin) is not None)
        began = first_sound(entering, begin)
        assert began is not None
        loud = int(np.argmax(np.abs(samples) > 0.004))
        await pass_time(began + (len(samples) - loud) / RATE - time.monotonic())
        talk.client.release()
        return time.monotonic()


async def _wait(recording: Recording, ready: Callable[[], bool]) -> None:
    await asyncio.to_thread(recording.wait, ready, "sound")


def five_seconds() -> Samples:
    """An utterance of about five seconds."""
    return speech(ASKED)
