"""A real Secret Service for one test: a message bus and gnome-keyring with an empty, unlocked keyring."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.conftest import missing

PROGRAMS = ("dbus-daemon", "gnome-keyring-daemon")


@contextmanager
def secret_service(folder: Path) -> Iterator[dict[str, str]]:
    """The environment in which programs find the service; `folder` holds its socket and its keyring."""
    for program in PROGRAMS:
        if shutil.which(program) is None:
            missing(program)
    for name in ("run", "data"):
        (folder / name).mkdir(parents=True, mode=0o700)
    env = {"XDG_RUNTIME_DIR": str(folder / "run"), "XDG_DATA_HOME": str(folder / "data")}
    bus = ["dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address=unix:dir={folder}"]
    with _running([*bus, "--print-address=1"], env) as daemon:
        assert daemon.stdout is not None
        env["DBUS_SESSION_BUS_ADDRESS"] = daemon.stdout.readline().decode().strip()
        # It makes and unlocks the keyring with the password it reads, then takes its name on the bus.
        unlock = ["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"]
        with _taken("org.freedesktop.secrets", env) as taken, _running(unlock, env) as keyring:
            assert keyring.stdin is not None
            keyring.stdin.write(b"the password of the test's keyring")
            keyring.stdin.close()
            taken()
            yield env


@contextmanager
def _taken(name: str, env: dict[str, str]) -> Iterator[Callable[[], None]]:
    """A function that waits until a program has `name` on the bus."""
    messages: Any = import_module("jeepney.bus_messages")
    blocking: Any = import_module("jeepney.io.blocking")
    rule = messages.MatchRule(type="signal", interface="org.freedesktop.DBus", member="NameOwnerChanged")
    rule.add_arg_condition(0, name)
    with (
        closing(blocking.open_dbus_connection(env["DBUS_SESSION_BUS_ADDRESS"])) as bus,
        bus.filter(rule) as signals,
    ):
        blocking.Proxy(messages.message_bus, bus).AddMatch(rule)

        def wait() -> None:
            bus.recv_until_filtered(signals, timeout=20)

        yield wait


@contextmanager
def _running(command: list[str], env: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command,
        env={**os.environ, **env},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(10)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
