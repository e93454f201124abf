"""`orion sandbox` builds, starts, looks at and removes a real machine."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from resources.sentences import sentence
from runtime.cli.exit_codes import ExitCode
from runtime.paths import find_home
from sandbox.audit import AuditLog
from tests.runtime.cli.commands import Here
from tests.sandbox.conftest import config, engine, image

__all__ = ["config", "engine", "image"]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Here:
    return Here(monkeypatch)


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch, image: str, here: Here) -> Iterator[str]:
    """The name of a machine of this test's own, removed in the end."""
    name = f"orion-test-{os.getpid()}-cli"
    monkeypatch.setenv("COMPUTER_USE_CONTAINER", name)
    monkeypatch.setenv("COMPUTER_USE_IMAGE", image)
    monkeypatch.setenv("ORION_SANDBOX_MARK", str(os.getpid()))
    yield name
    assert here.run("sandbox", "reset", "--yes").code == ExitCode.OK


def _status(here: Here) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(here.run("sandbox", "status", "--json").out)
    return shown


def test_a_machine_from_start_to_reset(named: str, here: Here, tmp_path: Path) -> None:
    assert _status(here)["phase"] == "absent"
    started = here.run("sandbox", "start")
    assert started.code == ExitCode.OK
    assert "running" in started.out
    first = _status(here)["container"]
    assert first

    picture = tmp_path / "screen.png"
    assert here.run("sandbox", "screenshot", "-o", str(picture)).code == ExitCode.OK
    assert picture.read_bytes().startswith(b"\x89PNG")
    again = here.run("sandbox", "screenshot", "-o", str(picture))
    assert again.code == ExitCode.FAILED
    assert sentence("cli_file_exists", path=str(picture)) in again.err

    assert here.run("sandbox", "logs", "--json").code == ExitCode.OK
    assert _status(here)["container"] == first
    assert here.run("sandbox", "restart").code == ExitCode.OK
    assert _status(here)["container"] not in ("", first)
    assert "not started" in here.run("sandbox", "stop").out
    after = _status(here)
    assert (after["phase"], after["volume_present"]) == ("absent", True)
    assert json.loads(here.run("sandbox", "reset", "--yes", "--json").out)["volume_present"] is False
    gone = here.run("sandbox", "screenshot", "-o", str(tmp_path / "other.png"))
    assert sentence("not_running", name=named) in gone.err


def test_nothing_is_removed_without_a_yes(named: str, here: Here) -> None:
    assert here.run("sandbox", "start").code == ExitCode.OK
    asked = here.run("sandbox", "reset")
    assert asked.code == ExitCode.APPROVAL
    assert _status(here)["phase"] == "running"


def test_building_again_takes_no_time_and_says_the_name(
    named: str, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    from installer.containers import BASE

    built = here.run("sandbox", "build", "--base", BASE, "--network", "host", "--json")
    assert json.loads(built.out)["image"] == _status(here)["image"]


def test_a_shell_at_a_terminal(named: str, here: Here) -> None:
    """Typed on a real terminal, answered from inside; the size of the window goes along."""
    assert here.run("sandbox", "start").code == ExitCode.OK
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "desktop.launch", "sandbox", "shell"]
    shell = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    try:
        _until(ours, b"$ ")
        os.write(ours, b"whoami; stty size; echo ready-$((40+2))\n")
        said = _until(ours, b"ready-42")
        assert b"orion" in said
        os.write(ours, b"exit 0\n")
        assert shell.wait(20) == ExitCode.OK
    finally:
        shell.kill()
        shell.wait()
        os.close(ours)


def _until(terminal: int, wanted: bytes) -> bytes:
    said, deadline = b"", time.monotonic() + 30
    while wanted not in said:
        left = deadline - time.monotonic()
        assert left > 0, said
        if select.select([terminal], [], [], left)[0]:
            said += os.read(terminal, 4096)
    return said


def test_a_shell_needs_a_terminal(here: Here) -> None:
    refused = here.run("sandbox", "shell")
    assert refused.code == ExitCode.USAGE
    assert sentence("cli_shell_terminal_needed") in refused.err


def test_without_an_engine_every_command_says_what_to_do(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"unix://{tmp_path}/docker.sock"
    monkeypatch.setenv("DOCKER_HOST", address)
    for command in ("build", "start", "stop", "restart", "status", "logs"):
        refused = here.run("sandbox", command)
        assert refused.code == ExitCode.FAILED
        assert sentence("engine_unreachable", host=address) in refused.err


def test_a_changed_record_is_found(here: Here) -> None:
    assert here.run("sandbox", "verify-log").code == ExitCode.NOT_FOUND
    home = find_home()
    home.create()
    place = home.audit / "computer_use_log.jsonl"
    log = AuditLog(place)
    for number in range(3):
        log.append({"action": "left_click", "number": number})
    sound = here.run("sandbox", "verify-log", "--json")
    assert (sound.code, json.loads(sound.out)["records"]) == (ExitCode.OK, 3)
    lines = place.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b"left", b"loft")
    place.write_bytes(b"".join(lines))
    broken = here.run("sandbox", "verify-log")
    assert broken.code == ExitCode.FAILED
    assert "line 2" in broken.err


def test_the_compose_file_is_printed_or_written(here: Here, tmp_path: Path) -> None:
    shown = here.run("sandbox", "compose")
    assert 'network_mode: "none"' in shown.out
    place = tmp_path / "compose.yaml"
    assert here.run("sandbox", "compose", "-o", str(place)).code == ExitCode.OK
    assert place.read_text(encoding="utf-8") == shown.out
    assert here.run("sandbox", "compose", "-o", str(place)).code == ExitCode.FAILED
