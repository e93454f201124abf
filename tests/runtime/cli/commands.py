"""Runs the command line of the program, in this process or as a child with or without a terminal."""

from __future__ import annotations

import codecs
import io
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from runtime.cli import main
from tests.runtime.cli.streams import plain

LAUNCH = Path(__file__).resolve().parents[3] / "desktop" / "launch.py"
PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str


class Here:
    """Runs commands in this process, where a failure shows its traceback."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def run(self, *arguments: str, typed: bytes = b"") -> Ran:
        """Run `orion` with `typed` on a standard input that is no terminal."""
        out, err = _Bytes(), _Bytes()
        with self._monkeypatch.context() as patched:
            patched.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed), "utf-8"))
            patched.setattr(sys, "stdout", out)
            patched.setattr(sys, "stderr", err)
            code = main(list(arguments))
        return Ran(code, out.text(), err.text())


class _Bytes(io.TextIOWrapper):
    def __init__(self) -> None:
        self._bytes = io.BytesIO()
        super().__init__(self._bytes, "utf-8", newline="")

    def text(self) -> str:
        return self._bytes.getvalue().decode()


def command(*arguments: str) -> list[str]:
    """The command line of the program as a child of this one."""
    return [sys.executable, str(LAUNCH), *arguments]


class Typist:
    """A program on a terminal of its own: types, and waits for what it shows."""

    def __init__(self, master: int, child: subprocess.Popen[bytes]) -> None:
        self._master = master
        self.child = child
        self.raw = ""
        self._seen = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def type(self, text: str) -> None:
        """Press the keys of `text`; "\\x03" is Ctrl-C, "\\x04" Ctrl-D."""
        os.write(self._master, text.encode())

    def until(self, wanted: str) -> str:
        """Read until `wanted` is shown after what was waited for last; returns what came up to it."""
        deadline = time.monotonic() + PATIENCE
        while wanted not in plain(self.raw)[self._seen :]:
            if not self._read(deadline):
                raise AssertionError(f"{wanted!r} was not shown; shown was:\n{plain(self.raw)[self._seen :]}")
        start = self._seen
        self._seen = plain(self.raw).index(wanted, start) + len(wanted)
        return plain(self.raw)[start : self._seen]

    def ended(self) -> int:
        """Read to the end and return the exit code."""
        deadline = time.monotonic() + PATIENCE
        while self._read(deadline):
            pass
        return self.child.wait(PATIENCE)

    def _read(self, deadline: float) -> bool:
        if not select.select([self._master], [], [], max(deadline - time.monotonic(), 0))[0]:
            return False
        try:
            piece = os.read(self._master, 65536)
        except OSError:
            return False
        self.raw += self._decoder.decode(piece).replace("\r\n", "\n")
        return bool(piece)


@contextmanager
def typist(*arguments: str, **env: str) -> Iterator[Typist]:
    """The program started on a new terminal of 100 columns; killed at the end if it still runs."""
    import fcntl
    import struct
    import termios

    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    surroundings = os.environ | {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"} | env
    child = subprocess.Popen(
        ["setsid", "--ctty", *command(*arguments)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=surroundings,
    )
    os.close(slave)
    try:
        yield Typist(master, child)
    finally:
        child.kill()
        child.wait()
        os.close(master)
