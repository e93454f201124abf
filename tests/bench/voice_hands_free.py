"""Without a key, the loudspeaker in the microphone: it does not hear itself, and is interrupted soon."""

from __future__ import annotations

import asyncio

import numpy as np

from tests.bench.figure import Figure, percentile
from tests.bench.voice_house import LOUD, last_sound, monitor_delay, pass_time, spread, stage
from tests.bench.voice_turn import ANSWER
from tests.sound_stage import RATE as HEARD_RATE
from tests.sound_stage import Recording, SoundStage
from tests.voice.spoken import RATE, Samples, speech
from tests.voice.talk import Talk, bundled
from voice.events import Final, Speaking, Spoken, State

TIMES, WHOLE = 10, 3
GAIN_DB, DELAY_MS = -6.0, 80
SAID = ("Stop now, please, and listen to me.", "No, I meant the other one.", "What about tomorrow?")


def measure(*, peers: bool = False) -> list[Figure]:
    """From the first audible sample of a voice in the microphone to silence at the loudspeaker, whose echo is
    in the microphone all the time; and how many of some whole answers it interrupted by itself."""
    del peers
    with stage() as sound, sound.record() as recording:
        monitor = spread("the monitor's own delay", monitor_delay(recording))
        times, selves = asyncio.run(_conversation(sound))
    reference = spread("speech to silence", times) | monitor
    reference["not heard within the answer"] = float(TIMES - len(times))
    return [
        Figure("voice_barge_in", percentile(times, 95), "ms", 300, "lower", reference),
        Figure("voice_self_heard", selves, "", 0, "lower", {"whole answers": float(WHOLE)}),
    ]


async def _conversation(sound: SoundStage) -> tuple[list[float], int]:
    times: list[float] = []
    selves = 0
    async with Talk(bundled(hands_free=True)) as talk:
        await talk.until(State, lambda event: event.on)
        await asyncio.to_thread(sound.say, speech(SAID[0]))
        await talk.until(Final)
        with sound.loopback(GAIN_DB, DELAY_MS):
            for _ in range(WHOLE):
                _answer(talk)
                selves += not (await talk.until(Spoken)).whole
                await talk.state("idle")
            for number in range(TIMES):
                found = await _interrupt(sound, talk, speech(SAID[number % len(SAID)]), 0.6 + 0.23 * number)
                times += [] if found is None else [found]
    return times, selves


def _answer(talk: Talk) -> None:
    talk.client.expect()
    talk.client.say(ANSWER)
    talk.client.end_of_answer()


async def _interrupt(sound: SoundStage, talk: Talk, said: Samples, after: float) -> float | None:
    """Milliseconds from the onset of `said`, `after` seconds into an answer, to silence; None when it was not
    noticed."""
    _answer(talk)
    await talk.until(Speaking)
    await pass_time(after)
    with sound.record() as leaving, sound.record("mic_sink.monitor") as entering:
        begin = len(entering.samples)
        await asyncio.to_thread(sound.say, said)
        await pass_time(0.3)
        onset = entering.arrival(_place(entering, begin, said))
        spoken = await talk.until(Spoken)
        silent = last_sound(leaving)
    await talk.state("idle")
    return None if spoken.whole else 1000 * max(0.0, silent - onset)


def _place(entering: Recording, begin: int, said: Samples) -> int:
    """The sample at which `said` becomes audible in what entered the microphone, wherever the echo is."""
    step = HEARD_RATE // RATE
    heard = entering.samples[begin::step]
    size = 1 << (len(heard) + len(said)).bit_length()
    likeness = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(said, size)), size)
    loud = int(np.argmax(np.abs(said) > LOUD))
    return begin + step * (int(np.argmax(likeness[: len(heard)])) + loud)
