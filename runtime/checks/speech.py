"""Checks of what talking with the agent needs: devices with their library, the recogniser, and a voice."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from resources.sentences import sentence
from resources.translation import _
from runtime.checks.check import Check
from runtime.errors import OrionError
from runtime.paths import Home

if TYPE_CHECKING:
    from runtime.settings import Settings
    from voice.device import Device


def speech(home: Home) -> Iterator[Check]:
    """All of them, with the settings of `home`; the recogniser is loaded, which takes a second or two."""
    yield portaudio()
    yield devices()
    try:
        settings = _settings(home)
    except OrionError as error:
        yield Check(
            "recogniser", "warn", sentence(error.code, **error.fields), _("See the other checks above.")
        )
        return
    yield recogniser(home, settings)
    yield voice(home, settings)


def portaudio(find: Callable[[str], str | None] | None = None) -> Check:
    """The library that opens sound devices is there; only on Linux it comes from the system."""
    from ctypes.util import find_library

    if not sys.platform.startswith("linux"):
        return Check("sound library", "ok", _("PortAudio, brought along"))
    if place := (find or find_library)("portaudio"):
        return Check("sound library", "ok", place)
    what = _("not set up yet: PortAudio is not installed")
    mend = _("Only needed for voice: install PortAudio (Debian: libportaudio2).")
    return Check("sound library", "warn", what, mend)


def devices(look: Callable[[], Iterable[Device]] | None = None) -> Check:
    """There is a microphone and a loudspeaker, by their names."""
    from voice.devices import devices as listed
    from voice.errors import VoiceError

    try:
        found = tuple((look or listed)())
    except VoiceError as error:
        return Check("sound devices", "warn", sentence(error.code, **error.fields))
    names = {
        kind: [device.name for device in found if device.kind == kind]
        for kind in ("microphone", "loudspeaker")
    }
    if all(names.values()):
        return Check("sound devices", "ok", ", ".join(many[0] for many in names.values()))
    codes = [f"{kind}_missing" for kind, many in names.items() if not many]
    code = codes[0] if len(codes) == 1 else "devices_missing"
    return Check("sound devices", "warn", sentence(code))


def recogniser(home: Home, settings: Settings) -> Check:
    """The model that the settings name can be loaded."""
    from runtime.voice_setup import recogniser_folder
    from voice.errors import VoiceError
    from voice.stt.recogniser import Recogniser

    folder = recogniser_folder(settings.voice.recogniser, home)
    model = Recogniser(folder)
    began = time.monotonic()
    try:
        model.load()
    except VoiceError as error:
        return Check("recogniser", "warn", sentence(error.code, **error.fields))
    finally:
        model.close()
    seconds = f"{time.monotonic() - began:.1f}"
    return Check(
        "recogniser", "ok", _("{model} loaded in {seconds} s").format(model=folder.name, seconds=seconds)
    )


def voice(home: Home, settings: Settings) -> Check:
    """A voice of this machine can speak; the one that would is named first."""
    from runtime.profiles import Profile
    from runtime.voice_setup import voice_config
    from voice.tts.choice import available

    nobody = Profile(name="none", provider="", model="")
    found = available(voice_config(settings, nobody, home, allowed=False))
    if not found:
        mend = _("Only needed for voice: install the program again, or add a Piper voice.")
        return Check("voice", "warn", _("not set up yet: there is no voice"), mend)
    return Check("voice", "ok", _("{voice}, of {count} here").format(voice=found[0].name, count=len(found)))


def _settings(home: Home) -> Settings:
    from runtime.settings import Settings, load_settings

    return load_settings(home.settings_file) if home.settings_file.exists() else Settings()
