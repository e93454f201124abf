"""Checks of parts the program can do without: keyring and sound. They look and set nothing up."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from resources.translation import _
from runtime.checks.check import Check


def keyring(env: Mapping[str, str] | None = None) -> Check:
    """A keyring of the system is there to keep secrets such as API keys."""
    env = os.environ if env is None else env
    if sys.platform == "win32":
        return Check("keyring", "ok", _("the credential store of Windows"))
    if sys.platform == "darwin":
        return Check("keyring", "ok", _("the keychain of macOS"))
    services = ("gnome-keyring-daemon", "kwalletd5", "kwalletd6", "keepassxc")
    found = [name for name in services if shutil.which(name)]
    if found and env.get("DBUS_SESSION_BUS_ADDRESS"):
        return Check("keyring", "ok", ", ".join(found))
    missing = _("no session bus") if found else _("no keyring service found")
    mend = _(
        "Only needed for keys of online providers: install gnome-keyring or KWallet and log in to a desktop."
    )
    return Check("keyring", "warn", _("not set up yet: {reason}").format(reason=missing), mend)


def audio(env: Mapping[str, str] | None = None, cards: Path = Path("/proc/asound/cards")) -> Check:
    """A sound server or a sound card is there for talking with the agent."""
    env = os.environ if env is None else env
    if sys.platform in ("win32", "darwin"):
        return Check("sound", "ok", _("the sound system of the desktop"))
    runtime = Path(env.get("XDG_RUNTIME_DIR") or "/nonexistent")
    server = env.get("PULSE_SERVER")
    if server or (runtime / "pulse" / "native").exists():
        return Check("sound", "ok", _("a sound server at {place}").format(place=server or runtime / "pulse"))
    if (runtime / "pipewire-0").exists():
        return Check("sound", "ok", "PipeWire")
    try:
        listed = cards.read_text("utf-8", "replace")
    except OSError:
        listed = ""
    if "]:" in listed:
        return Check("sound", "ok", listed.partition("]:")[2].strip().splitlines()[0])
    mend = _("Only needed for voice: start PulseAudio or PipeWire, or connect a sound device.")
    return Check("sound", "warn", _("not set up yet: no sound server and no sound card found"), mend)
