"""The checks of speech say what is there, and what to do where it is not."""

from __future__ import annotations

import sys
from pathlib import Path

from runtime.checks import speech
from runtime.paths import find_home
from runtime.settings import Settings, Voice
from voice.device import Device
from voice.errors import VoiceError

MICROPHONE = Device("pulse:desk", "Desk microphone", "microphone", 48_000, True)
LOUDSPEAKER = Device("pulse:room", "Room", "loudspeaker", 48_000, True)


def _refused() -> tuple[Device, ...]:
    raise VoiceError("sound_refused", reason="access denied")


def test_the_sound_library_is_looked_for_where_it_comes_from_the_system() -> None:
    assert speech.portaudio(lambda name: f"lib{name}.so.2").status == "ok"
    absent = speech.portaudio(lambda name: None)
    if sys.platform.startswith("linux"):
        assert (absent.status, "libportaudio2" in absent.mend) == ("warn", True)
    else:
        assert absent.status == "ok"


def test_devices_are_named_and_what_is_missing_is_said() -> None:
    both = speech.devices(lambda: (MICROPHONE, LOUDSPEAKER))
    assert (both.status, both.what) == ("ok", "Desk microphone, Room")
    deaf = speech.devices(lambda: (LOUDSPEAKER,))
    assert (deaf.status, "No microphone" in deaf.what) == ("warn", True)
    none = speech.devices(lambda: ())
    assert "neither a microphone nor a loudspeaker" in none.what
    assert "access denied" in speech.devices(_refused).what


def test_the_bundled_recogniser_and_voice_work(fresh_home: Path) -> None:
    home = find_home(fresh_home)
    heard = speech.recogniser(home, Settings())
    assert heard.status == "ok", heard.what
    assert heard.what.startswith("whisper-tiny.en loaded in ")
    said = speech.voice(home, Settings())
    assert said.status == "ok", said.what


def test_a_chosen_recogniser_that_is_not_there_is_a_sentence(fresh_home: Path) -> None:
    chosen = Settings(voice=Voice(recogniser="whisper-huge"))
    check = speech.recogniser(find_home(fresh_home), chosen)
    assert check.status == "warn"
    assert "whisper-huge" in check.what


def test_broken_settings_leave_the_rest_to_their_own_check(fresh_home: Path) -> None:
    home = find_home(fresh_home)
    home.create()
    home.settings_file.write_text("version: 1\nvoice: 3\n")
    assert [check.name for check in speech.speech(home)] == ["sound library", "sound devices", "recogniser"]
