"""The system's own voices, through programs that write a file."""

from __future__ import annotations

import sys
import tempfile
import threading
from pathlib import Path

import pytest

from tests.voice.tts import speaks_like_espeak
from tests.voice.tts.programs import program
from voice.errors import VoiceError
from voice.tts.system import SystemVoice, espeak_order, offered, sapi_order, say_order
from voice.tts.voice import Sound


@pytest.fixture
def espeak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program, alone on the path, and temporary files below `tmp_path`."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("PATH", str(tmp_path))
    return program(tmp_path, "espeak-ng", Path(speaks_like_espeak.__file__))


def calls(espeak: Path) -> str:
    path = Path(f"{espeak}.calls")
    return path.read_text() if path.exists() else ""


@pytest.mark.skipif(sys.platform != "linux", reason="espeak-ng is the system's voice on Linux")
def test_it_is_offered_where_it_is_found(espeak: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {voice.name: voice.languages for voice in offered()}
    assert found["system:de"] == ("de",)
    assert len(found) > 50
    monkeypatch.setenv("PATH", str(espeak.parent / "tmp"))
    assert offered() == []


def test_a_text_becomes_sound_and_no_file_stays(espeak: Path) -> None:
    said = list(SystemVoice(str(espeak), "no", espeak_order).speak("Hei [[h@]] på deg", 1.2))
    assert [(sound.rate, sound.words) for sound in said] == [(22_050, 4)]
    assert said[0].seconds == pytest.approx(0.4, abs=0.01)
    assert calls(espeak) == "nb 210 Hei h@ på deg"
    assert not list((espeak.parent / "tmp").iterdir())
    assert list(SystemVoice(str(espeak), "no", espeak_order).speak(" ", 1.0)) == []


def test_what_the_program_says_of_a_fault_is_told(espeak: Path) -> None:
    with pytest.raises(VoiceError) as raised:
        list(SystemVoice(str(espeak), "zh", espeak_order).speak("你好", 1.0))
    assert raised.value.code == "voice_broken"
    assert "does not exist" in str(raised.value.fields["reason"])
    with pytest.raises(VoiceError, match="voice_broken"):
        list(SystemVoice(str(espeak.parent / "none"), "en", espeak_order).speak("hi", 1.0))


def test_stop_ends_the_program(espeak: Path) -> None:
    voice = SystemVoice(str(espeak), "en", espeak_order)
    said: list[list[Sound]] = []
    thread = threading.Thread(target=lambda: said.append(list(voice.speak("hang on", 1.0))))
    thread.start()
    while not calls(espeak):
        thread.join(0.01)
    voice.stop()
    thread.join(5)
    voice.close()
    assert said == [[]]


def test_the_other_systems_get_what_their_programs_understand() -> None:
    mac = say_order("/usr/bin/say", "de", 1.0, Path("x.wav"))
    assert mac.arguments[:5] == ["/usr/bin/say", "-v", "Anna", "-r", "175"]
    assert mac.arguments[-2:] == ["-f", "-"]
    windows = sapi_order("powershell", "de", 2.0, Path("x.wav"))
    assert windows.environment == {
        "ORION_SAY_LANGUAGE": "de",
        "ORION_SAY_RATE": "10",
        "ORION_SAY_FILE": "x.wav",
    }
    assert sapi_order("powershell", "de", 0.5, Path("x.wav")).environment["ORION_SAY_RATE"] == "-10"
