"""What the operating system must provide: each thing is looked for itself, with its package."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Need:
    """A Debian package and what it brings: a shared library, a command or, after a slash, a file pattern."""

    package: str
    thing: str

    def is_met(self) -> bool:
        """Whether the thing is here, wherever it came from."""
        if self.thing.startswith("/"):
            return any(Path("/").glob(self.thing.lstrip("/")))
        if ".so" in self.thing:
            return _loads(self.thing)
        return shutil.which(self.thing) is not None


BUILD = (Need("g++", "c++"), Need("ca-certificates", "/etc/ssl/certs/ca-certificates.crt"))
"""Compiles the engine of the language model and reaches the package index."""

WINDOW = (
    Need("libegl1", "libEGL.so.1"),
    Need("libgl1", "libGL.so.1"),
    Need("libglib2.0-0", "libgthread-2.0.so.0"),
    Need("libdbus-1-3", "libdbus-1.so.3"),
    Need("libfontconfig1", "libfontconfig.so.1"),
    Need("libx11-xcb1", "libX11-xcb.so.1"),
    Need("libxkbcommon-x11-0", "libxkbcommon-x11.so.0"),
    Need("libxcb-cursor0", "libxcb-cursor.so.0"),
    Need("libxcb-glx0", "libxcb-glx.so.0"),
    Need("libxcb-icccm4", "libxcb-icccm.so.4"),
    Need("libxcb-image0", "libxcb-image.so.0"),
    Need("libxcb-keysyms1", "libxcb-keysyms.so.1"),
    Need("libxcb-randr0", "libxcb-randr.so.0"),
    Need("libxcb-render-util0", "libxcb-render-util.so.0"),
    Need("libxcb-shape0", "libxcb-shape.so.0"),
    Need("libxcb-sync1", "libxcb-sync.so.1"),
    Need("libxcb-xfixes0", "libxcb-xfixes.so.0"),
    Need("libxcb-xkb1", "libxcb-xkb.so.1"),
    Need("fonts-dejavu-core", "/usr/share/fonts/**/*.[to]tf"),
)
"""What Qt needs to open a window on X11."""

VOICE = (
    Need("libportaudio2", "libportaudio.so.2"),
    Need("libpulse0", "libpulse.so.0"),
    Need("libasound2-plugins", "/usr/lib/**/alsa-lib/libasound_module_pcm_pulse.so"),
)
"""What speaking and listening need: PortAudio, the devices of the sound server, ALSA's way to them."""

_NAME = f"libpython{sys.version_info.major}.{sys.version_info.minor}"
_LIBPYTHON = (Need(_NAME, f"{_NAME}.so.1.0"),) if sys.base_prefix == "/usr" else ()
"""The distribution's own Python keeps its library, which a frozen program carries, in a package apart."""

TESTBED = (
    Need("xvfb", "Xvfb"),
    Need("openbox", "openbox"),
    Need("xdotool", "xdotool"),
    Need("x11-utils", "xprop"),
    Need("imagemagick", "import"),
    Need("dbus-daemon", "dbus-run-session"),
    Need("gnome-keyring", "gnome-keyring-daemon"),
    Need("at-spi2-core", "/usr/libexec/at-spi-bus-launcher"),
    Need("gir1.2-atspi-2.0", "/usr/lib/**/girepository-1.0/Atspi-2.0.typelib"),
    Need("python3-gi", "/usr/lib/python3/dist-packages/gi/__init__.py"),
    Need("fonts-inter", "/usr/share/fonts/**/Inter*"),
    Need("pulseaudio", "pulseaudio"),
    Need("pulseaudio-utils", "pactl"),
    Need("ffmpeg", "ffprobe"),
    Need("curl", "curl"),
    Need("procps", "ps"),
    Need("binutils", "objdump"),
    Need("docker.io", "/usr/sbin/dockerd"),
    Need("podman", "podman"),
    Need("catatonit", "catatonit"),
    Need("openssh-client", "ssh"),
    Need("openssh-server", "/usr/sbin/sshd"),
    Need("iproute2", "/usr/sbin/ip"),
    Need("mmdebstrap", "mmdebstrap"),
    *_LIBPYTHON,
)
"""What end-to-end tests and the frozen build need besides: a screen, a hand, a screen reader, a keyring,
a sound server, a judge of sound files, a client of the speech services, container engines with the
Debian that their images begin with, and the way to those of other machines."""


def missing(needs: Iterable[Need]) -> list[str]:
    """The Debian packages of those needs that are not met; nothing is asked of systems that are not Linux."""
    if not sys.platform.startswith("linux"):
        return []
    return [need.package for need in needs if not need.is_met()]


def install_command(packages: list[str]) -> str:
    """What a person with administrator rights types to get `packages`."""
    sudo = "" if os.geteuid() == 0 else "sudo "
    return f"{sudo}apt-get install --no-install-recommends {' '.join(packages)}"


def install(packages: list[str]) -> bool:
    """Install `packages` with apt where no password is needed; False when that is not possible or fails."""
    rights = _rights()
    if rights is None or shutil.which("apt-get") is None:
        return False
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    quiet = [*rights, "apt-get", "-qq", "-o=Dpkg::Use-Pty=0", "-o=DPkg::Lock::Timeout=300"]
    for command in ([*quiet, "update"], [*quiet, "install", "-y", "--no-install-recommends", *packages]):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            print((done.stdout + done.stderr).strip()[-2000:], file=sys.stderr)
            return False
    return True


def _rights() -> list[str] | None:
    if os.geteuid() == 0:
        return []
    sudo = shutil.which("sudo")
    if sudo and subprocess.run([sudo, "-n", "true"], capture_output=True, check=False).returncode == 0:
        return [sudo, "-n", "--preserve-env=DEBIAN_FRONTEND"]
    return None


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
