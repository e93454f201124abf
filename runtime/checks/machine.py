"""Checks of the machine: interpreter, processor, memory, and whether a window can open."""

from __future__ import annotations

import importlib.util
import os
import platform
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from resources.translation import _
from runtime.checks.check import Check

_OLDEST_PYTHON = (3, 11)
_LOW_MEMORY = 700_000_000
_QT_SECONDS = 30
_QT_TRIAL = "import PySide6.QtWidgets, PySide6; print(PySide6.__version__)"


def python() -> Check:
    """The interpreter is new enough."""
    what = f"{platform.python_implementation()} {platform.python_version()} ({platform.machine()})"
    if getattr(sys, "frozen", False):
        what += _(", built in")
    if sys.version_info < _OLDEST_PYTHON:
        return Check("python", "fail", what, _("Install Python 3.11 or newer and run make install again."))
    return Check("python", "ok", what)


def memory() -> Check:
    """Enough memory is free for the smallest model."""
    from models.hardware import look

    machine = look()
    what = _("{free} GB of {total} GB are free").format(
        free=f"{machine.memory_available / 1e9:.1f}", total=f"{machine.memory_total / 1e9:.1f}"
    )
    if machine.memory_available < _LOW_MEMORY:
        return Check("memory", "warn", what, _("Close other programs, or use a smaller model."))
    return Check("memory", "ok", what)


def processor() -> Check:
    """The processor can do what the engine was built for."""
    from models.hardware import missing_features, usable_cores

    if missing := missing_features():
        what = _("the processor lacks {features}").format(features=", ".join(missing))
        return Check(
            "processor", "fail", what, _("Use a provider on another machine, or build the engine here.")
        )
    return Check("processor", "ok", _("{count} cores to use").format(count=usable_cores()))


def qt() -> Check:
    """The window's libraries load. Tried in a child, because a broken library can end the process."""
    mend = _("Run make install; on Debian it installs the missing system libraries too.")
    if importlib.util.find_spec("PySide6") is None:
        return Check("window library", "fail", _("PySide6 is not installed"), mend)
    if getattr(sys, "frozen", False):
        return Check("window library", "ok", _("PySide6, built in"))
    try:
        tried = subprocess.run(
            [sys.executable, "-c", _QT_TRIAL],
            capture_output=True,
            text=True,
            timeout=_QT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Check(
            "window library", "fail", _("PySide6 does not load: {reason}").format(reason=error), mend
        )
    if tried.returncode != 0:
        last = (tried.stderr.strip() or _("it ended without a word")).splitlines()[-1]
        return Check("window library", "fail", _("PySide6 does not load: {reason}").format(reason=last), mend)
    return Check("window library", "ok", f"PySide6 {tried.stdout.strip()}")


def display(env: Mapping[str, str] | None = None) -> Check:
    """A display answers, so that the window has somewhere to open."""
    env = os.environ if env is None else env
    if sys.platform in ("win32", "darwin"):
        return Check("display", "ok", _("the desktop of the system"))
    mend = _("Start the program in a desktop session; orion ask and orion chat need none.")
    wayland = env.get("WAYLAND_DISPLAY")
    if wayland and _answers(Path(env.get("XDG_RUNTIME_DIR", "/")) / wayland):
        return Check("display", "ok", f"Wayland {wayland}")
    shown = env.get("DISPLAY")
    if not shown:
        return Check("display", "warn", _("neither DISPLAY nor WAYLAND_DISPLAY is set"), mend)
    host, _colon, number = shown.rpartition(":")
    local = Path("/tmp/.X11-unix") / f"X{number.split('.')[0]}"
    if host or _answers(local):
        return Check("display", "ok", f"X11 {shown}")
    return Check("display", "warn", _("the display {name} does not answer").format(name=shown), mend)


def _answers(path: Path) -> bool:
    """Whether something listens on the local socket `path`; X servers also listen under the abstract name."""
    for name in (str(path), "\0" + str(path)):
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(2.0)
            try:
                probe.connect(name)
            except OSError:
                continue
            return True
    return False
