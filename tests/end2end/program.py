"""The program as a person has it: a process with a window on the test-bed's screen, a keyboard, and eyes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import desktop.launch
import installer

PICTURES = Path(installer.__file__).resolve().parent.parent / "build" / "screenshots"
PATIENCE = 60.0
_BRIGHT = bytes(range(128, 256))


def until(what: str, is_so: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Wait until `is_so` returns something true and return that; AssertionError naming `what` otherwise."""
    deadline, pause = time.monotonic() + seconds, threading.Event()
    while not (found := is_so()):
        assert time.monotonic() < deadline, f"waited {seconds:.0f} s in vain for {what}"
        pause.wait(0.02)
    return found


def xdotool(*arguments: str) -> str:
    """Run xdotool and return what it printed."""
    return subprocess.run(
        ["xdotool", *arguments], capture_output=True, text=True, check=True, timeout=30
    ).stdout.strip()


class Program:
    """A running window. `close` ends it the polite way; `kill` as a power cut would. `before` is a command
    that becomes the program."""

    def __init__(self, home: Path, before: Sequence[str] = (), **environment: str) -> None:
        self.home = home
        self._process = subprocess.Popen(
            [*before, sys.executable, desktop.launch.__file__],
            env=os.environ | {"ORION_HOME": str(home)} | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.window = until("the window", self._find_window)
        xdotool("windowactivate", "--sync", self.window)

    # --- hands ----------------------------------------------------------------------------------------

    def type(self, text: str) -> None:
        xdotool("type", "--delay", "12", text)

    def press(self, *keys: str) -> None:
        xdotool("key", "--delay", "40", *keys)

    def close(self) -> str:
        """End the program by its own key; returns what it printed."""
        self.press("ctrl+q")
        return self._ended()

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._ended()

    def _ended(self) -> str:
        output, _errors = self._process.communicate(timeout=PATIENCE)
        return output.decode("utf-8", "replace")

    # --- eyes -----------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        return xdotool("getwindowname", self.window)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        return self._process.returncode

    def picture(self, name: str = "") -> bytes:
        """The screen as PNG, also kept under `name` among the screenshots of the build."""
        shot = subprocess.run(
            ["import", "-window", "root", "png:-"], capture_output=True, check=True, timeout=30
        ).stdout
        if name:
            PICTURES.mkdir(parents=True, exist_ok=True)
            (PICTURES / f"{name}.png").write_bytes(shot)
        return shot

    def ink(self) -> int:
        """How much is written in the middle of the window: its dark colour values, in the light theme."""
        command = ["import", "-window", self.window, "-crop", "700x440+290+90", "-depth", "8", "rgb:-"]
        pixels = subprocess.run(command, capture_output=True, check=True, timeout=30).stdout
        return len(pixels.translate(None, delete=_BRIGHT))

    def records(self) -> list[dict[str, Any]]:
        """Every record of the newest session that says something, as it is on the disk now."""
        newest: list[dict[str, Any]] = []
        for path in sorted((self.home / "sessions").glob("*.jsonl"), key=lambda path: path.stat().st_mtime):
            lines = path.read_text(encoding="ascii").splitlines()
            found = [json.loads(line) for line in lines if line.endswith("}")]
            newest = found if any(record["type"] == "user" for record in found) else newest
        return newest

    def recorded(self, kind: str, count: int = 1) -> list[dict[str, Any]]:
        """The records of type `kind`, empty while there are fewer than `count`."""
        found = [record for record in self.records() if record["type"] == kind]
        return found if len(found) >= count else []

    def _find_window(self) -> str:
        assert self._process.poll() is None, self._ended()
        found = subprocess.run(
            ["xdotool", "search", "--all", "--onlyvisible", "--pid", str(self.pid), "--name", "Orion"],
            capture_output=True,
            text=True,
            check=False,
        ).stdout.split()
        return found[-1] if found else ""
