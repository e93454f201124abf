"""Who speaks, and that no word is lost when a voice fails in the middle."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from tests.wire.edge import EdgeService
from voice.clauses import Clause
from voice.config import VoiceConfig
from voice.errors import VoiceError
from voice.tts.choice import Speaker, available, choose
from voice.tts.voice import ANY, Sound

RATE = 1000


class Spoken:
    """A voice that notes its words and makes 0.4 s of sound for each; it fails before the word `fails`."""

    def __init__(self, name: str, *languages: str, fails: int | None = None, counts: bool = True) -> None:
        self.name = name
        self.languages = languages
        self.said: list[str] = []
        self.asked: list[str] = []
        self.closed = self.loaded = 0
        self.fails = fails
        self._counts = counts
        self._stopped = threading.Event()

    def load(self) -> None:
        self.loaded += 1
        if self.fails == -1:
            raise VoiceError("voice_broken", voice=self.name, reason="no file")

    def speak(self, text: str, rate: float) -> Iterator[Sound]:
        self._stopped.clear()
        self.asked.append(text)
        for number, word in enumerate(text.split()):
            if number == self.fails:
                raise VoiceError("voice_edge_cut", voice=self.name)
            if self._stopped.is_set():
                return
            self.said.append(word)
            samples = np.zeros(int(0.4 * RATE / rate), np.float32)
            yield Sound(samples, RATE, number + 1 if self._counts else None)

    def stop(self) -> None:
        self._stopped.set()

    def close(self) -> None:
        self.closed += 1


def say(speaker: Speaker, text: str) -> list[Sound]:
    return list(speaker.speak(Clause(text, text)))


def speaker(*voices: Spoken, rate: float = 1.0) -> tuple[Speaker, list[VoiceError]]:
    troubles: list[VoiceError] = []
    return Speaker(voices, troubles.append, rate), troubles


TEXT = "one two three four five six seven eight"


@pytest.mark.parametrize("fails", range(9))
def test_the_next_voice_goes_on_with_the_next_word(fails: int) -> None:
    first, second = Spoken("a", "en", fails=fails), Spoken("b", "en")
    both, troubles = speaker(first, second)
    say(both, TEXT)
    assert first.said + second.said == TEXT.split()
    assert [error.code for error in troubles] == (["voice_edge_cut"] if fails < 8 else [])


@pytest.mark.parametrize("fails", range(1, 8))
def test_a_voice_that_does_not_count_loses_no_word_all_the_same(fails: int) -> None:
    first, second = Spoken("a", "en", fails=fails, counts=False), Spoken("b", "en")
    both, _ = speaker(first, second)
    say(both, TEXT)
    words = TEXT.split()
    resumed = words.index(second.said[0])
    assert second.said == words[resumed:]
    assert fails - 2 <= resumed <= fails


def test_three_voices_share_a_sentence() -> None:
    voices = Spoken("a", "en", fails=2), Spoken("b", "en", fails=3), Spoken("c", ANY)
    three, troubles = speaker(*voices)
    say(three, TEXT)
    assert [word for voice in voices for word in voice.said] == TEXT.split()
    assert len(troubles) == 2


def test_a_failed_voice_rests_and_is_told_once() -> None:
    first, second = Spoken("a", "en", fails=1), Spoken("b", "en")
    both, troubles = speaker(first, second)
    say(both, TEXT)
    say(both, "again")
    assert first.asked == [TEXT]
    assert second.said == [*TEXT.split()[1:], "again"]
    assert len(troubles) == 1


def test_what_no_voice_can_say_is_passed_over_with_one_trouble() -> None:
    english = Spoken("a", "en")
    one, troubles = speaker(english)
    assert say(one, "Привет, мир") == []
    assert say(one, "Ещё раз") == []
    assert [(error.code, error.fields) for error in troubles] == [("voice_none", {"language": "ru"})]
    assert say(one, "But this is said.")
    assert english.said == ["But", "this", "is", "said."]


def test_the_language_chooses_and_short_words_stay_with_it() -> None:
    english, german = Spoken("a", "en"), Spoken("b", "de")
    both, troubles = speaker(english, german)
    say(both, "This is what it was.")
    say(both, "Das ist nicht gut und das weiß ich.")
    say(both, "Adele Bloch.")
    assert english.asked == ["This is what it was."]
    assert german.asked[1] == "Adele Bloch."
    assert troubles == []


def test_nothing_to_say_asks_nobody() -> None:
    voice = Spoken("a", "en")
    one, _ = speaker(voice)
    assert list(one.speak(Clause("***", ""))) == []
    assert voice.asked == []


def test_stop_ends_a_clause_and_nobody_takes_over() -> None:
    first, second = Spoken("a", "en"), Spoken("b", "en")
    both, troubles = speaker(first, second)
    sounds = both.speak(Clause(TEXT, TEXT))
    next(sounds)
    both.stop()
    assert list(sounds) == []
    assert second.asked == []
    assert troubles == []


def test_warming_loads_the_first_voice_that_can_and_the_next_one() -> None:
    broken, good = Spoken("a", "en", fails=-1), Spoken("b", "en")
    foreign, next_one, last = Spoken("c", "de"), Spoken("d", "en"), Spoken("e", "en")
    three, troubles = speaker(broken, good, foreign, next_one, last)
    three.warm()
    assert [voice.loaded for voice in (good, foreign, next_one, last)] == [1, 0, 1, 0]
    assert len(troubles) == 1
    three.close()
    assert good.closed == 1


def test_nothing_online_is_offered_without_permission(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    names = [voice.name for voice in available(VoiceConfig(voice="edge:de-DE-KatjaNeural"))]
    assert names == ["heart"]
    allowed = [voice.name for voice in available(VoiceConfig(voice="de-DE-ConradNeural", online_voices=True))]
    assert allowed[0] == "edge:de-DE-ConradNeural"
    assert allowed[-1] == "heart"
    assert len(allowed) == len(set(allowed)) > 40
    profile = available(VoiceConfig(voice="fable", online_voices=True))
    assert profile[0].name == "edge:en-GB-SoniaNeural"
    assert available(VoiceConfig(voice="heart", online_voices=True))[0].name == "heart"


def test_the_network_breaks_in_a_sentence_and_the_bundled_voice_ends_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    troubles: list[VoiceError] = []
    with EdgeService("cut") as service:
        speaking = choose(VoiceConfig(online_voices=True), troubles.append, service.endpoint)
        sounds = say(speaking, TEXT)
        speaking.close()
    online = sum(sound.words is not None and sound.rate == 24_000 for sound in sounds)
    assert [error.code for error in troubles] == ["voice_edge_cut"]
    assert sounds[-1].words is not None
    cut_after = max(sound.words or 0 for sound in sounds[:-1])
    assert cut_after + sounds[-1].words == 8
    assert online
