"""Word errors of recordings played into the microphone with the key held, beside the engine alone."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from tests.bench.figure import Figure
from tests.bench.voice_house import lone_pass, stage
from tests.bench.word_errors import VARIABLE, Recording, distance, recordings, words
from tests.sound_stage import SoundStage
from tests.voice.talk import Talk
from voice.events import Final

GOAL_PERCENT, GOAL_MORE = 5.0, 3.0


def measure(*, peers: bool = False) -> list[Figure]:
    """The recordings in the folder named by ORION_BENCH_SPEECH, one utterance each."""
    del peers
    folder = os.environ.get(VARIABLE, "")
    if not folder:
        print(f"voice_words needs recordings: set {VARIABLE} to a folder with a manifest.json")
        return []
    spoken, alone = recordings(Path(folder)), lone_pass()
    said = [words(recording.text) for recording in spoken]
    count = sum(map(len, said))
    lone = sum(
        distance(one, words(alone(recording.samples))) for one, recording in zip(said, spoken, strict=True)
    )
    with stage() as sound:
        heard = asyncio.run(_heard(sound, spoken))
    errors = [distance(one, words(text)) for one, text in zip(said, heard, strict=True)]
    for wrong, recording, text in zip(errors, spoken, heard, strict=True):
        if wrong:
            print(f"    {wrong} in {recording.name}: {text}")
    reference = {"words": float(count), "wrong": float(sum(errors)), "wrong, engine alone": float(lone)}
    return [
        Figure("voice_word_errors", 100 * sum(errors) / count, "%", GOAL_PERCENT, "lower", reference),
        Figure("voice_words_more", sum(errors) - lone, "words", GOAL_MORE, "lower"),
    ]


async def _heard(sound: SoundStage, spoken: list[Recording]) -> list[str]:
    texts = []
    async with Talk() as talk:
        for recording in spoken:
            talk.client.press()
            await talk.listening()
            await asyncio.to_thread(sound.say, recording.samples)
            talk.client.release()
            texts.append((await talk.until(Final)).text)
            await talk.state("idle")
    return texts
