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
    with private_bus(folder) as env:
        # It makes and unlocks the keyring with the password it reads, then takes its name on the bus.
        unlock = ["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"]
        with _taken("org.freedesktop.secrets", env) as taken, _running(unlock, env) as keyring:
            assert keyring.stdin is not None
            keyring.stdin.write(b"the password of the test's keyring")
            keyring.stdin.close()
            taken()
            yield env


@contextmanager
def mute_service(folder: Path) -> Iterator[tuple[dict[str, str], Callable[[], None]]]:
    """A bus on which somebody has the service's name and never answers, as a locked keyring does; and a
    function that waits until it was asked something."""
    if shutil.which(PROGRAMS[0]) is None:
        missing(PROGRAMS[0])
    messages: Any = import_module("jeepney.bus_messages")
    blocking: Any = import_module("jeepney.io.blocking")
    with (
        private_bus(folder) as env,
        closing(blocking.open_dbus_connection(env["DBUS_SESSION_BUS_ADDRESS"])) as bus,
    ):
        blocking.Proxy(messages.message_bus, bus).RequestName("org.freedesktop.secrets")

        def wait() -> None:
            while bus.receive(timeout=20).header.message_type.name != "method_call":
                pass

        yield env, wait


@contextmanager
def private_bus(folder: Path) -> Iterator[dict[str, str]]:
    """A message bus whose socket lies in `folder`."""
    env = {"XDG_RUNTIME_DIR": str(folder / "run"), "XDG_DATA_HOME": str(folder / "data")}
    for name in ("run", "data"):
        (folder / name).mkdir(parents=True, mode=0o700)
    bus = ["dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address=unix:dir={folder}"]
    with _running([*bus, "--print-address=1"], env) as daemon:
        assert daemon.stdout is not None
        yield env | {"DBUS_SESSION_BUS_ADDRESS": daemon.stdout.readline().decode().strip()}


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
