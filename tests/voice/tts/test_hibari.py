"""The bundled voice: what it says, what it refuses, and that it writes and fetches nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from voice.errors import VoiceError
from voice.tts.hibari import HibariVoice, offered


@pytest.fixture(scope="module")
def heart() -> Iterator[HibariVoice]:
    voice = HibariVoice()
    voice.load()
    yield voice
    voice.close()


def test_it_speaks_a_sentence_at_a_time_and_counts_its_words(heart: HibariVoice) -> None:
    sounds = list(heart.speak("Hello there, my friend. How are you?", 1.0))
    assert [sound.words for sound in sounds] == [4, 7]
    assert all(sound.rate == 24_000 and sound.samples.dtype == np.float32 for sound in sounds)
    assert 0.8 < sounds[0].seconds < 3.0
    assert 0.05 < np.abs(sounds[0].samples).max() <= 1.0


def test_the_rate_is_the_pace(heart: HibariVoice) -> None:
    def seconds(rate: float) -> float:
        return sum(sound.seconds for sound in heart.speak("This is how fast I speak.", rate))

    assert seconds(2.0) < 0.7 * seconds(1.0) < 0.7 * 0.8 * seconds(0.6)
    assert seconds(9.0) == pytest.approx(seconds(2.0), rel=0.05)


@pytest.mark.parametrize("text", ["To refuse it, say {}", "Is it so? {} It is not.", "The answer is {}"])
def test_a_no_at_the_end_is_no_number(heart: HibariVoice, text: str) -> None:
    def samples(word: str) -> list[int]:
        return [len(sound.samples) for sound in heart.speak(text.format(word), 1.0)]

    assert samples("no.") == samples("No.")
    assert samples("no.") != samples("number.")


@pytest.mark.parametrize(
    "text",
    [
        "9" * 6000,
        "x" * 3000,
        "1,000,000,000,000,000,000,000,000,000",
        "[x](/həlˈO/)",
        "naïve café, Grüße",
        "Ω is 5",
        "...",
        "",
    ],
)
def test_no_text_breaks_it(heart: HibariVoice, text: str) -> None:
    for sound in heart.speak(text, 1.0):
        assert np.isfinite(sound.samples).all()


@pytest.mark.parametrize("text", ["Привет, мир", "你好", "שלום"])
def test_another_script_is_refused(heart: HibariVoice, text: str) -> None:
    with pytest.raises(VoiceError, match="voice_language"):
        list(heart.speak(text, 1.0))


def test_only_what_is_on_this_machine_is_offered(tmp_path: Path) -> None:
    assert offered("") == ["heart"]
    assert offered(str(tmp_path)) == ["heart"]
    (tmp_path / "bf_emma.int8.onnx").write_bytes(b"no voice")
    assert offered(str(tmp_path)) == ["heart", "emma"]
    with pytest.raises(VoiceError, match="not the voice"):
        HibariVoice("emma", str(tmp_path)).load()
    with pytest.raises(VoiceError, match="voice_broken"):
        HibariVoice("kore", str(tmp_path)).load()
    with pytest.raises(VoiceError, match="voice_unknown"):
        HibariVoice("nobody").load()


def test_it_writes_nothing(heart: HibariVoice, fresh_home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    list(heart.speak("Say this.", 1.0))
    assert capfd.readouterr() == ("", "")
    assert not [name for _, _, names in os.walk(fresh_home.parent) for name in names]
