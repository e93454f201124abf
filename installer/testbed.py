"""Runs a command inside a private desktop with a container engine, then removes all of it."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import Any

import psutil

from installer import containers, system

SCREEN = "1280x800x24"
PATIENCE = 20.0
"""Seconds a service of the test-bed may take to come up."""

_OF_THE_USER = ("WAYLAND_DISPLAY", "XAUTHORITY", "PULSE_", "PIPEWIRE_", "ALSA_")
"""Beginnings of the variables that lead to the user's own screen and loudspeakers."""

_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36


class TestbedError(Exception):
    """The test-bed could not be made; the text says which part and why."""


def main(command: list[str]) -> int:
    """Run `command` in a test-bed and return its exit code; nothing it started is left alive."""
    absent = system.missing(system.TESTBED)
    if absent and os.environ.get("CI"):
        print(f"The test-bed lacks packages: {system.install_command(absent)}", file=sys.stderr)
        return 1
    if absent or not sys.platform.startswith("linux"):
        print(
            f"No test-bed; end-to-end tests skip. For it: {system.install_command(absent)}", file=sys.stderr
        )
        return subprocess.call(command)
    _prctl(_SET_CHILD_SUBREAPER, 1)
    with ExitStack() as stack:
        stack.callback(_end_everything)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="orion-testbed-")))
        try:
            environment = _desktop(folder)
            environment |= containers.engine(stack, environment, folder)
        except (TestbedError, containers.EngineError) as problem:
            print(problem, file=sys.stderr)
            return 1
        return _call(command, environment)


def _desktop(folder: Path) -> dict[str, str]:
    """Start the services and return the environment in which programs find them."""
    folder.chmod(0o700)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_OF_THE_USER)}
    # A test that wants sound starts a server of its own; no program finds, or starts, that of the user.
    environment |= {"PULSE_SERVER": f"unix:{folder}/no-sound-server"}
    environment |= {"XDG_RUNTIME_DIR": str(folder), "TESTBED": "1"}
    private = {"XDG_CONFIG_HOME": str(folder / "config"), "XDG_CACHE_HOME": str(folder / "cache")}

    xvfb = ["Xvfb", "-screen", "0", SCREEN, "-dpi", "96", "-nolisten", "tcp", "-noreset", "-displayfd"]
    environment["DISPLAY"] = ":" + _announced(xvfb, environment, folder)
    bus = [
        "dbus-daemon",
        "--session",
        "--nofork",
        "--nopidfile",
        f"--address=unix:dir={folder}",
        "--print-address",
    ]
    environment["DBUS_SESSION_BUS_ADDRESS"] = _announced(bus, environment, folder, separator="=")
    _start(["/usr/libexec/at-spi-bus-launcher", "--launch-immediately"], environment | private, folder)
    _start(["openbox", "--sm-disable"], environment | private, folder)
    _until(
        "the window manager",
        lambda: _succeeds(["xprop", "-root", "_NET_SUPPORTING_WM_CHECK"], environment, "#"),
    )
    set_status = ["dbus-send", "--session", "--print-reply", "--dest=org.a11y.Bus", "/org/a11y/bus"]
    set_status += ["org.freedesktop.DBus.Properties.Set", "string:org.a11y.Status", "string:IsEnabled"]
    set_status += ["variant:boolean:true"]
    _until("the screen-reader bus", lambda: _succeeds(set_status, environment, "method return"))
    return environment


def _call(command: list[str], environment: dict[str, str]) -> int:
    """Run the command, and meanwhile bury every orphan that it leaves, as the init process would."""
    child = subprocess.Popen(command, env=environment, preexec_fn=_begin_command)

    def pass_on(number: int, frame: FrameType | None) -> None:
        del frame
        child.send_signal(number)

    signal.signal(signal.SIGTERM, pass_on)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to the command as well
    ended, status = 0, 0
    while ended != child.pid:
        ended, status = os.wait()
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


# --- services -----------------------------------------------------------------------------------------


def _start(command: list[str], environment: dict[str, str], folder: Path, **options: Any) -> None:
    with (folder / f"{Path(command[0]).name}.log").open("ab") as log:
        subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=_die_with_parent,
            **options,
        )


def _announced(command: list[str], environment: dict[str, str], folder: Path, separator: str = " ") -> str:
    """Start a service that is told a file descriptor on which it says, in one line, where it is reached."""
    read, write = os.pipe()
    told = [*command, str(write)] if separator == " " else [*command[:-1], f"{command[-1]}{separator}{write}"]
    _start(told, environment, folder, pass_fds=(write,))
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as answer:
        line = answer.readline().strip()
    if not line:
        log = (folder / f"{command[0]}.log").read_text(encoding="utf-8", errors="replace")
        raise TestbedError(f"{command[0]} did not start: {log.strip()[-500:]}")
    return line


def _until(what: str, is_up: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_up():
        if time.monotonic() > deadline:
            raise TestbedError(f"The test-bed waited {PATIENCE:.0f} s in vain for {what}.")
        time.sleep(0.05)


def _succeeds(command: list[str], environment: dict[str, str], said: str) -> bool:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode == 0 and said in done.stdout


def _begin_command() -> None:
    _die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a job in the background inherits a deaf one


def _die_with_parent() -> None:
    _prctl(_SET_PDEATHSIG, signal.SIGTERM)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _end_everything() -> None:
    """Orphans of the command come to this process (it is their subreaper) and end here with the services."""
    for stop in (psutil.Process.terminate, psutil.Process.kill):
        left = psutil.Process().children(recursive=True)
        for process in left:
            try:
                stop(process)
            except psutil.NoSuchProcess:
                continue
        psutil.wait_procs(left, timeout=3)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
