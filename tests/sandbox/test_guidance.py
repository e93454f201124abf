"""Each system is told its own way to an engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox import guidance


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        ("ID=debian\n", "apt install docker.io"),
        ('ID=linuxmint\nID_LIKE="ubuntu debian"\n', "apt install docker.io"),
        ("ID=fedora\n", "dnf install podman"),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "dnf install podman"),
        ('ID="opensuse-tumbleweed"\nID_LIKE="opensuse suse"\n', "zypper install podman"),
        ("ID=manjaro\nID_LIKE=arch\n", "pacman -S docker"),
        ("ID=alpine\n", "apk add docker"),
        ("ID=plan9\n", "the package manager of your system"),
    ],
)
def test_a_linux_distribution_gets_its_own_command(tmp_path: Path, release: str, expected: str) -> None:
    (tmp_path / "os-release").write_text(release, encoding="utf-8")
    assert expected in guidance.installing("linux", tmp_path / "os-release")


def test_a_system_without_a_name_gets_general_advice(tmp_path: Path) -> None:
    assert "package manager" in guidance.installing("linux", tmp_path / "nothing")


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_desktops_get_a_desktop_program(platform: str) -> None:
    assert "Docker Desktop" in guidance.installing(platform)
    assert "Docker Desktop" in guidance.starting(platform, {"docker": True})
    assert "podman machine start" in guidance.starting(platform, {"podman": True})


def test_podman_is_started_by_its_socket_on_linux() -> None:
    assert "podman.socket" in guidance.starting("linux", {"podman": True})
    assert "systemctl start docker" in guidance.starting("linux", {"docker": True, "podman": True})
