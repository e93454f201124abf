"""Builds what the voice child is told from the settings, the profile and what the user allowed."""

from __future__ import annotations

from pathlib import Path

import resources
from models.hardware import usable_cores
from runtime.metering import proxy_for
from runtime.paths import Home
from runtime.profiles import Profile
from runtime.settings import Settings
from runtime.voice_entries import ONLINE_HOST
from voice.config import VoiceConfig

SLOWEST, FASTEST = 0.25, 4.0
LOUDEST = 2.0
PIPER = "piper"
"""The program of the user that says other languages, if it is installed."""
PIPER_VOICES = "piper"
RECORDINGS = "recordings"


def voice_config(
    settings: Settings,
    profile: Profile,
    home: Home,
    *,
    allowed: bool,
    hands_free: bool | None = None,
    hints: tuple[str, ...] = (),
) -> VoiceConfig:
    """The configuration for a chat with `profile`. `allowed` is whether anything may be sent to ONLINE_HOST;
    `hands_free` stands over the setting where it is not None."""
    voice = settings.voice
    online = voice.online_voices and allowed
    return VoiceConfig(
        microphone=voice.input_device,
        loudspeaker=voice.output_device,
        recogniser=str(recogniser_folder(voice.recogniser, home)),
        language=voice.language,
        voice=profile.voice.name or (profile.edge_voice if online else "") or voice.voice,
        rate=min(max(voice.rate * profile.voice.rate, SLOWEST), FASTEST),
        volume=min(voice.volume * profile.voice.volume, LOUDEST),
        hands_free=voice.hands_free if hands_free is None else hands_free,
        online_voices=online,
        proxy=proxy_for("https", ONLINE_HOST) if online else "",
        piper=PIPER,
        piper_voices=str(home.weights / PIPER_VOICES),
        threads=settings.local_model.threads or usable_cores(),
        keep_folder=str(home.root / RECORDINGS) if voice.keep_audio else "",
        hints=hints,
    )


def recogniser_folder(chosen: str, home: Home) -> Path:
    """Where the recogniser `chosen` is: a folder, or a name among the user's models or the bundled ones; the
    bundled one where nothing is chosen."""
    if not chosen:
        return resources.recogniser_dir()
    places = (Path(chosen).expanduser(), home.weights / chosen, resources.weights_dir() / chosen)
    return next((place for place in places if place.is_absolute() and place.is_dir()), home.weights / chosen)
