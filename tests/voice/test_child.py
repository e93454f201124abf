"""The real child over real sound: what is spoken into the microphone becomes words, and words are heard."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr

from resources import weights_dir
from tests.sound_stage import RATE as HEARD_RATE
from tests.sound_stage import Recording, SoundStage
from tests.voice.spoken import RATE, Samples, missing, speech
from tests.voice.talk import Talk, bundled
from voice.events import Devices, Final, Level, Partial, Speaking, Spoken, State, Trouble
from voice.stt.recogniser import Recogniser

ASKED = "Please open the window and tell me about the weather in London tomorrow morning."
ANSWER = (
    "The weather will be sunny and warm. In the evening there may be some rain. Take your umbrella with you."
)


@cache
def recogniser() -> Recogniser:
    return Recogniser(weights_dir() / "whisper-tiny.en", 2)


def heard(recording: Recording, begin: int = 0) -> str:
    """The words that the loudspeaker was heard with from sample `begin` on."""
    samples: Samples = soxr.resample(recording.samples[begin:], HEARD_RATE, RATE).astype(np.float32)
    return recogniser().transcribe(samples, "en").text


async def speak(sound: SoundStage, talk: Talk, text: str) -> None:
    """Press, say `text` into the microphone, release."""
    samples = speech(text)
    talk.client.press()
    await talk.listening()
    await asyncio.to_thread(sound.say, samples)
    talk.client.release()


async def warm(talk: Talk) -> None:
    """Wait until the child has loaded everything, which on a busy machine leaves it deaf for moments."""
    talk.client.press()
    await talk.listening()
    talk.client.release()
    await talk.until(Final)
    talk.client.say("Ready.")
    talk.client.end_of_answer()
    await talk.until(Spoken)
    await talk.state("idle")


def run(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(test())  # type: ignore[arg-type]


def test_what_is_said_while_the_key_is_held_becomes_words(sound: SoundStage) -> None:
    async def story() -> None:
        async with Talk() as talk:
            await speak(sound, talk, ASKED)
            final = await talk.until(Final)
            await talk.state("idle")
        assert missing(ASKED, final.text) <= 1
        assert final.language == "en"
        assert not final.hands_free
        assert len(speech(ASKED)) / RATE < final.seconds < len(speech(ASKED)) / RATE + 2
        partials = [event for event in talk.events if isinstance(event, Partial)]
        assert partials, talk.told()
        assert max(event.level for event in talk.events if isinstance(event, Level)) > 0.4
        states = [event.state for event in talk.events if isinstance(event, State)]
        assert list(dict.fromkeys(states)) == ["hearing", "thinking", "idle"]
        assert talk.troubles() == []

    run(story)


def test_the_first_syllable_after_a_press_is_not_lost(sound: SoundStage) -> None:
    async def story() -> None:
        async with Talk() as talk:
            talk.client.press()
            await talk.listening()
            talk.client.release()
            await talk.until(Final)
            said = sound.say(speech(ASKED), wait=False)
            await talk.until(Level, lambda event: event.level > 0.2)  # the first syllable has begun already
            talk.client.press()
            await asyncio.to_thread(said.wait)
            talk.client.release()
            final = await talk.until(Final)
        assert final.text.lower().startswith("please")

    run(story)


def test_an_answer_is_heard_and_told_clause_by_clause(sound: SoundStage) -> None:
    async def story() -> None:
        async with Talk() as talk:
            with sound.record() as recording:
                talk.client.expect()
                for word in ANSWER.split(" "):
                    talk.client.say(word + " ")
                talk.client.end_of_answer()
                spoken = await talk.until(Spoken)
                await talk.state("idle")
                recording.wait_for_silence()
            assert spoken == Spoken(ANSWER + " ", whole=True)
            assert "".join(event.text for event in talk.events if isinstance(event, Speaking)) == spoken.heard
            assert missing(ANSWER, await asyncio.to_thread(heard, recording)) <= 2

    run(story)


def test_a_press_silences_the_answer_and_what_was_heard_is_told(sound: SoundStage) -> None:
    async def story() -> None:
        async with Talk() as talk:
            with sound.record() as recording:
                talk.client.expect()
                talk.client.say(ANSWER)
                await talk.until(Speaking, lambda event: "evening" in event.text)
                talk.client.press()
                pressed = time.monotonic()
                await talk.state("interrupted")
                await talk.listening()
                talk.client.say(" This is never heard.")
                talk.client.end_of_answer()
                recording.wait_for_silence(0.5)
                loud = np.flatnonzero(np.abs(recording.samples) > 0.01)[-1]
                assert recording.arrival(int(loud)) - pressed < 0.3
            (spoken,) = [event for event in talk.events if isinstance(event, Spoken)]
            assert not spoken.whole
            assert ANSWER.startswith(spoken.heard)
            assert spoken.heard.startswith("The weather will be sunny and warm.")
            await asyncio.to_thread(sound.say, speech(ASKED))
            talk.client.release()
            assert missing(ASKED, (await talk.until(Final)).text) <= 1
            talk.client.expect()
            talk.client.say("All right.")
            talk.client.end_of_answer()
            assert await talk.until(Spoken) == Spoken("All right.", whole=True)

    run(story)


def test_a_tap_stops_the_speech_and_says_nothing(sound: SoundStage) -> None:
    async def story() -> None:
        async with Talk() as talk:
            talk.client.expect()
            talk.client.say(ANSWER)
            talk.client.end_of_answer()
            await talk.until(Speaking)
            talk.client.press()
            talk.client.release()
            assert not (await talk.until(Spoken)).whole
            assert await talk.until(Final) == Final("")
            await talk.state("idle")
        assert talk.finals() == [""]

    run(story)


def test_without_a_word_nothing_is_heard(sound: SoundStage) -> None:
    async def story() -> None:
        noise = np.random.default_rng(0).normal(0, 0.01, RATE).astype(np.float32)
        async with Talk() as talk:
            talk.client.press()
            await talk.listening()
            await asyncio.to_thread(sound.say, noise)
            talk.client.release()
            assert (await talk.until(Final)).text == ""

    run(story)


def test_an_utterance_that_is_thrown_away_says_nothing(sound: SoundStage) -> None:
    async def story() -> None:
        async with Talk() as talk:
            talk.client.press()
            await talk.listening()
            await asyncio.to_thread(sound.say, speech("Delete all my files."))
            talk.client.cancel()
            assert (await talk.until(Final)).text == ""
            await talk.state("idle")
            talk.client.release()
            await speak(sound, talk, ASKED)
            assert missing(ASKED, (await talk.until(Final, lambda event: bool(event.text))).text) <= 1
        assert len(talk.finals()) == 2

    run(story)


def test_hands_free_it_hears_by_itself_and_is_interrupted_by_speech(sound: SoundStage) -> None:
    async def story() -> None:
        async with Talk(bundled(hands_free=True)) as talk:
            await talk.until(State, lambda event: event.on)
            await warm(talk)
            await asyncio.to_thread(sound.say, speech(ASKED))
            final = await talk.until(Final)
            assert missing(ASKED, final.text) <= 1
            assert final.hands_free
            talk.client.expect()
            talk.client.say(ANSWER)
            talk.client.end_of_answer()
            await talk.until(Speaking)
            await asyncio.to_thread(sound.say, speech("Stop now, please, and listen to me."))
            assert not (await talk.until(Spoken)).whole
            assert missing("stop now please and listen to me", (await talk.until(Final)).text) <= 1

    run(story)


def test_hands_free_it_does_not_hear_itself(sound: SoundStage) -> None:
    async def story() -> None:
        async with Talk(bundled(hands_free=True)) as talk:
            await talk.until(State, lambda event: event.on)
            with sound.loopback(-6.0, 80):
                await warm(talk)
                talk.client.expect()
                talk.client.say(ANSWER)
                talk.client.end_of_answer()
                assert (await talk.until(Spoken)).whole
                await talk.state("idle")
        assert talk.finals() == [""]

    run(story)


def test_recordings_are_kept_only_where_the_user_asked_for_it(sound: SoundStage, tmp_path: Path) -> None:
    async def story() -> None:
        folder = tmp_path / "kept"
        async with Talk(bundled(keep_folder=str(folder))) as talk:
            await speak(sound, talk, ASKED)
            final = await talk.until(Final)
            (file,) = folder.iterdir()
            samples, rate = soundfile.read(file, dtype="float32")
        assert (rate, file.suffix) == (RATE, ".wav")
        assert abs(len(samples) / RATE - final.seconds) < 0.05
        assert missing(ASKED, recogniser().transcribe(samples, "en").text) <= 1

    run(story)


# --- devices that are not there -----------------------------------------------------------------------------


def test_without_a_microphone_it_says_so_once_a_press_and_goes_on_speaking(sound: SoundStage) -> None:
    async def story() -> None:
        sound.unplug("microphone")
        async with Talk() as talk:
            for number in (1, 2):
                talk.client.press()
                trouble = await talk.until(Trouble)
                assert trouble.code.startswith("microphone_")
                await talk.until(Final)
                talk.client.release()
                assert len(talk.troubles()) == number
            talk.client.say("I can still speak.")
            talk.client.end_of_answer()
            assert (await talk.until(Spoken)).whole

    run(story)


def test_a_microphone_that_is_pulled_out_leaves_what_was_said(sound: SoundStage) -> None:
    async def story() -> None:
        async with Talk() as talk:
            talk.client.press()
            await talk.listening()
            await asyncio.to_thread(sound.say, speech(ASKED))
            sound.unplug("microphone")
            final = await talk.until(Final)
            assert missing(ASKED, final.text) <= 1
            assert len(talk.troubles()) == 1
            sound.plug("microphone")
            await talk.until(Devices, lambda event: bool(event.microphones))
            talk.client.release()
            await speak(sound, talk, ASKED)
            assert missing(ASKED, (await talk.until(Final)).text) <= 1
            assert len(talk.troubles()) == 1

    run(story)


def test_a_loudspeaker_that_is_pulled_out_leaves_what_was_heard(sound: SoundStage) -> None:
    async def story() -> None:
        async with Talk() as talk:
            talk.client.expect()
            talk.client.say(ANSWER)
            talk.client.end_of_answer()
            await talk.until(Speaking, lambda event: "evening" in event.text)
            sound.unplug("loudspeaker")
            spoken = await talk.until(Spoken)
            await talk.state("idle")
            assert ANSWER.startswith(spoken.heard)
            assert len(talk.troubles()) <= 1
            sound.plug("loudspeaker")
            await talk.until(Devices, lambda event: bool(event.loudspeakers))
            talk.client.say("Here I am again.")
            talk.client.end_of_answer()
            assert (await talk.until(Spoken)).whole

    run(story)


def test_an_online_voice_that_cannot_be_reached_is_told_once_and_no_word_is_lost(sound: SoundStage) -> None:
    async def story() -> None:
        nobody = "http://127.0.0.1:9"
        async with Talk(bundled(voice="en-US-AriaNeural", online_voices=True, proxy=nobody)) as talk:
            with sound.record() as recording:
                for _ in range(2):
                    talk.client.expect()
                    talk.client.say(ANSWER)
                    talk.client.end_of_answer()
                    assert await talk.until(Spoken) == Spoken(ANSWER, whole=True)
                recording.wait_for_silence()
            assert len(talk.troubles()) == 1
            assert missing(f"{ANSWER} {ANSWER}", await asyncio.to_thread(heard, recording)) <= 4

    run(story)


@pytest.mark.parametrize("recogniser_folder", ["", "nowhere"])
def test_without_a_recogniser_it_says_so_and_goes_on_speaking(
    sound: SoundStage, tmp_path: Path, recogniser_folder: str
) -> None:
    async def story() -> None:
        folder = str(tmp_path / recogniser_folder) if recogniser_folder else ""
        async with Talk(bundled(recogniser=folder)) as talk:
            await speak(sound, talk, "Hello.")
            assert (await talk.until(Final)).text == ""
            assert talk.troubles() == ["recogniser_unusable"]
            talk.client.say("I can still speak.")
            talk.client.end_of_answer()
            assert (await talk.until(Spoken)).whole

    run(story)
