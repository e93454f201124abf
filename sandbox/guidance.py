"""What a person does to get a container engine, on this operating system."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from resources.translation import _

_FAMILIES = {
    "debian": "sudo apt install docker.io && sudo usermod -aG docker $USER",
    "ubuntu": "sudo apt install docker.io && sudo usermod -aG docker $USER",
    "fedora": "sudo dnf install podman && systemctl --user enable --now podman.socket",
    "rhel": "sudo dnf install podman && systemctl --user enable --now podman.socket",
    "arch": "sudo pacman -S docker && sudo systemctl enable --now docker && sudo usermod -aG docker $USER",
    "suse": "sudo zypper install podman && systemctl --user enable --now podman.socket",
    "alpine": "sudo apk add docker && sudo rc-service docker start && sudo addgroup $USER docker",
}
"""Commands by the family of the Linux distribution (ID and ID_LIKE of os-release)."""


def installing(platform: str = sys.platform, os_release: Path = Path("/etc/os-release")) -> str:
    """How an engine is installed here, without the last full stop."""
    if platform == "darwin":
        return _("Install Docker Desktop or Podman Desktop and open it once")
    if platform == "win32":
        return _("Install Docker Desktop or Podman Desktop (with WSL 2) and open it once")
    command = _command(os_release)
    if command:
        return _("In a terminal: {command}. Then log in again").format(command=command)
    return _("Install Docker or Podman with the package manager of your system, then log in again")


def starting(platform: str = sys.platform, which: Mapping[str, bool] | None = None) -> str:
    """How an engine that is installed is started here."""
    here = which if which is not None else {name: bool(shutil.which(name)) for name in ("docker", "podman")}
    if platform in ("darwin", "win32"):
        if here.get("podman") and not here.get("docker"):
            return _("In a terminal: podman machine start")
        return _("Open Docker Desktop and wait until it says that it runs")
    if here.get("podman") and not here.get("docker"):
        return _("In a terminal: systemctl --user enable --now podman.socket")
    return _("In a terminal: sudo systemctl start docker")


def allowing(platform: str = sys.platform) -> str:
    """How a user gets the right to use the engine here."""
    if platform in ("darwin", "win32"):
        return _("Open Docker Desktop as this user, or ask whoever set it up")
    return _("In a terminal: sudo usermod -aG docker $USER. Then log in again")


def delegating() -> str:
    """How an engine without rights gets the control groups that it keeps limits with."""
    return _("Run the engine as root, or on a system that delegates control groups (version 2) to its user")


def _command(os_release: Path) -> str:
    try:
        lines = os_release.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    facts = dict(line.split("=", 1) for line in lines if "=" in line)
    names = " ".join(facts.get(key, "").strip('"') for key in ("ID", "ID_LIKE")).lower().split()
    for name in names:
        for family, command in _FAMILIES.items():
            if name == family or (family in ("suse", "rhel") and family in name):
                return command
    return ""
