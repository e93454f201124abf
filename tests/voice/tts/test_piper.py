"""Piper as a program of its own, spoken to as both of its versions want it."""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.voice.tts import speaks_like_piper
from tests.voice.tts.programs import program
from voice.errors import VoiceError
from voice.tts.piper import PiperVoice, offered
from voice.tts.voice import Sound


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of voices, and one that temporary files go to."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    voices = tmp_path / "voices"
    voices.mkdir()
    for name, told in (
        ("de_DE-thorsten-medium", {"language": {"code": "de_DE", "family": "de"}}),
        ("en-older", {"espeak": {"voice": "en-us"}}),
    ):
        (voices / f"{name}.onnx").write_bytes(b"weights")
        (voices / f"{name}.onnx.json").write_text(json.dumps(told))
    (voices / "alone.onnx").write_bytes(b"weights")
    (voices / "broken.onnx").write_bytes(b"weights")
    (voices / "broken.onnx.json").write_text("[")
    return voices


@pytest.fixture(params=["piper", "piper-old"])
def voice(request: pytest.FixtureRequest, folder: Path) -> Iterator[PiperVoice]:
    made = program(folder.parent, request.param, Path(speaks_like_piper.__file__))
    german = next(found for found in offered(str(made), str(folder)) if found.languages == ("de",))
    yield german
    german.close()
    assert not list((folder.parent / "tmp").iterdir())


def calls(folder: Path) -> list[str]:
    return (folder / "de_DE-thorsten-medium.onnx.calls").read_text().splitlines()


def test_voices_are_files_with_their_description(folder: Path) -> None:
    made = str(program(folder.parent, "piper", Path(speaks_like_piper.__file__)))
    found = {voice.name: voice.languages for voice in offered(made, str(folder))}
    assert found == {"piper:de_DE-thorsten-medium": ("de",), "piper:en-older": ("en",)}
    assert offered("", str(folder)) == []
    assert offered(made, "") == []
    assert offered(str(folder / "nothing"), str(folder)) == []
    assert offered(made, str(folder / "nowhere")) == []


def test_one_process_says_every_text_and_leaves_no_file(voice: PiperVoice, folder: Path) -> None:
    first = list(voice.speak("Guten Tag,\nliebe Welt.", 1.0))
    second = list(voice.speak("Noch eins.", 1.0))
    assert [(sound.rate, sound.words) for sound in first + second] == [(22_050, 4), (22_050, 2)]
    assert first[0].seconds == pytest.approx(0.4, abs=0.01)
    assert 0.2 < abs(first[0].samples).max() < 0.4
    assert calls(folder) == ["began 1.0", "Guten Tag, liebe Welt.", "Noch eins."]
    assert list(voice.speak("  \n", 1.0)) == []


def test_another_pace_is_another_process(voice: PiperVoice, folder: Path) -> None:
    list(voice.speak("eins", 1.0))
    fast = list(voice.speak("zwei drei", 2.0))
    assert fast[0].seconds == pytest.approx(0.1, abs=0.01)
    assert calls(folder) == ["began 1.0", "eins", "ended", "began 0.5", "zwei drei"]


def test_a_crash_is_told_with_its_words_and_the_next_text_starts_anew(voice: PiperVoice) -> None:
    with pytest.raises(VoiceError) as raised:
        list(voice.speak("bitte crash", 1.0))
    assert raised.value.code == "voice_piper_ended"
    assert "no such phoneme" in str(raised.value.fields["reason"])
    assert len(list(voice.speak("wieder da", 1.0))) == 1


def test_stop_gives_up_what_is_being_made(voice: PiperVoice, folder: Path) -> None:
    list(voice.speak("eins", 1.0))
    said: list[list[Sound]] = []
    thread = threading.Thread(target=lambda: said.append(list(voice.speak("hang hier", 1.0))))
    thread.start()
    while "hang hier" not in calls(folder):
        thread.join(0.01)
    voice.stop()
    thread.join(5)
    assert said == [[]]


def test_a_stop_in_between_does_not_hold_up_the_next_text(voice: PiperVoice) -> None:
    list(voice.speak("eins", 1.0))
    voice.stop()
    assert len(list(voice.speak("zwei drei", 1.0))) == 1


def test_a_program_that_is_none_is_told(folder: Path) -> None:
    bad = folder.parent / "piper"
    bad.write_bytes(b"\x7fELF nonsense")
    bad.chmod(0o755)
    voice = offered(str(bad), str(folder))[0]
    with pytest.raises(VoiceError, match="voice_piper_ended"):
        list(voice.speak("eins", 1.0))
    voice.close()
    voice.close()
