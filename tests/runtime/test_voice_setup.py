"""The voice child is told what settings, profile and permissions say together."""

from __future__ import annotations

from pathlib import Path

import resources
from runtime.paths import Home
from runtime.profiles import Profile
from runtime.profiles import Voice as ProfileVoice
from runtime.settings import LocalModel, Settings, Voice
from runtime.voice_setup import recogniser_folder, voice_config
from voice.config import VoiceConfig


def config(home: Home, voice: Voice, profile: Profile | None = None, *, allowed: bool = False) -> VoiceConfig:
    settings = Settings(voice=voice, local_model=LocalModel(threads=3))
    return voice_config(
        settings, profile or Profile(name="p", provider="local", model="m"), home, allowed=allowed
    )


def test_the_settings_alone(tmp_path: Path) -> None:
    home = Home(tmp_path, tmp_path / "workspace")
    made = config(home, Voice(input_device="mic", language="de", rate=1.5, hands_free=True, keep_audio=True))
    assert made == VoiceConfig(
        microphone="mic",
        recogniser=str(resources.recogniser_dir()),
        language="de",
        rate=1.5,
        hands_free=True,
        piper="piper",
        piper_voices=str(tmp_path / "weights" / "piper"),
        threads=3,
        keep_folder=str(tmp_path / "recordings"),
    )


def test_online_voices_need_setting_and_permission(tmp_path: Path) -> None:
    home = Home(tmp_path, tmp_path / "workspace")
    profile = Profile(name="p", provider="local", model="m", edge_voice="fable")
    for wanted, allowed in ((False, False), (False, True), (True, False)):
        made = config(home, Voice(online_voices=wanted, voice="heart"), profile, allowed=allowed)
        assert (made.online_voices, made.voice) == (False, "heart")
    made = config(home, Voice(online_voices=True, voice="heart"), profile, allowed=True)
    assert (made.online_voices, made.voice) == (True, "fable")


def test_a_profile_has_its_own_voice_within_limits(tmp_path: Path) -> None:
    home = Home(tmp_path, tmp_path / "workspace")
    own = ProfileVoice(name="piper:de", rate=3.0, volume=1.5)
    profile = Profile(name="p", provider="local", model="m", voice=own)
    made = config(home, Voice(voice="heart", rate=2.0, volume=2.0), profile)
    assert (made.voice, made.rate, made.volume) == ("piper:de", 4.0, 2.0)


def test_a_recogniser_is_a_folder_or_a_name(tmp_path: Path) -> None:
    home = Home(tmp_path, tmp_path / "workspace")
    mine = tmp_path / "weights" / "whisper-small"
    mine.mkdir(parents=True)
    assert recogniser_folder("", home) == resources.recogniser_dir()
    assert recogniser_folder(str(mine), home) == mine
    assert recogniser_folder("whisper-small", home) == mine
    assert recogniser_folder("gone", home) == tmp_path / "weights" / "gone"
