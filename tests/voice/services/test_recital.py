"""A text becomes one file, whichever voices say its parts, and says what could not be said."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from voice.errors import VoiceError
from voice.services.encoding import RATE
from voice.services.recital import Recital
from voice.services.speakers import Speakers
from voice.tts.voice import Sound

PITCH = 440.0


class Whistler:
    """A voice that whistles a second for each word, at `rate` samples a second; it can fail after a word."""

    languages = ("en",)

    def __init__(self, name: str, rate: int, fails_after: int = -1) -> None:
        self.name = name
        self.asked: list[tuple[str, float]] = []
        self._rate = rate
        self._left = fails_after

    def load(self) -> None:
        pass

    def speak(self, text: str, rate: float) -> Iterator[Sound]:
        self.asked.append((text, rate))
        for number, _word in enumerate(text.split(), 1):
            if self._left == 0:
                raise VoiceError("voice_broken", voice=self.name, reason="it has a cold")
            self._left -= 1
            times = np.arange(int(self._rate / rate)) / self._rate
            tone = 0.3 * np.sin(2 * np.pi * PITCH * times)
            yield Sound(tone.astype(np.float32), self._rate, number)

    def stop(self) -> None:
        pass

    def close(self) -> None:
        pass


def read(text: str, *voices: Whistler, voice: str = "", speed: float = 1.0) -> list[bytes]:
    work = Recital(Speakers(voices), text, voice, speed, "pcm")
    pieces = []
    try:
        while True:
            pieces.append(work.__next__())
    except StopIteration:
        return pieces
    finally:
        work.close()


def seconds(pieces: list[bytes]) -> float:
    return len(b"".join(pieces)) / 2 / RATE


@pytest.mark.parametrize("rate", [16_000, 22_050, 24_000, 48_000])
def test_every_rate_of_a_voice_becomes_the_one_that_is_sent(rate: int) -> None:
    pieces = read("One. Two. Three.", Whistler("a", rate))
    samples = np.frombuffer(b"".join(pieces), "<i2").astype(np.float64)
    assert len(samples) / RATE == pytest.approx(3, abs=0.01)
    strongest = float(np.abs(np.fft.rfft(samples)).argmax()) * RATE / len(samples)
    assert strongest == pytest.approx(PITCH, abs=1)


def test_each_step_says_one_clause() -> None:
    pieces = read("The first sentence is here. Then comes the second one.", Whistler("a", RATE))
    assert [round(len(piece) / 2 / RATE) for piece in pieces if piece] == [5, 5]


def test_a_voice_that_fails_is_followed_by_the_next_without_losing_a_word() -> None:
    first, second = Whistler("a", 22_050, fails_after=2), Whistler("b", 16_000)
    assert seconds(read("one two three four five.", first, second)) == pytest.approx(5, abs=0.02)
    assert second.asked == [("three four five.", 1.0)]


def test_the_voice_that_is_named_comes_first() -> None:
    first, second = Whistler("a", RATE), Whistler("b", RATE)
    read("Hello.", first, second, voice="b")
    assert (first.asked, len(second.asked)) == ([], 1)


@pytest.mark.parametrize(("speed", "asked"), [(0.25, 0.5), (0.8, 0.8), (4.0, 2.0)])
def test_a_speed_that_no_voice_has_is_made_of_the_sound(speed: float, asked: float) -> None:
    voice = Whistler("a", RATE)
    assert seconds(read("one two three four.", voice, speed=speed)) == pytest.approx(4 / speed, rel=0.1)
    assert voice.asked[0][1] == asked


@pytest.mark.parametrize("text", ["***", "— … !?", "\n\n", "###"])
def test_nothing_to_say(text: str) -> None:
    with pytest.raises(VoiceError) as caught:
        read(text, Whistler("a", RATE))
    assert caught.value.code == "speech_nothing_to_say"


def test_a_text_that_no_voice_could_say_raises_what_went_wrong() -> None:
    with pytest.raises(VoiceError) as caught:
        read("Hello there.", Whistler("a", RATE, fails_after=0))
    assert caught.value.code.startswith("voice_")


def test_every_word_of_code_is_read() -> None:
    voice = Whistler("a", RATE)
    read("```\nalpha beta\n```\n\n    gamma\n\tdelta\n~~~ python\nepsilon\n~~~\n", voice)
    said = " ".join(text for text, _rate in voice.asked)
    assert all(word in said for word in ("alpha", "beta", "gamma", "delta", "epsilon"))
    assert "block" not in said


def test_closing_early_says_no_more() -> None:
    voice = Whistler("a", RATE)
    work = Recital(
        Speakers([voice]), "The first sentence is here. Then comes the second one.", "", 1.0, "mp3"
    )
    work.__next__()
    work.close()
    with pytest.raises(StopIteration):
        work.__next__()
    assert len(voice.asked) == 1
