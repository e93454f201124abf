"""`orion sandbox shell`: the user's own terminal, connected with a shell in the computer."""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from resources.translation import _
from runtime.cli.exit_codes import ExitCode
from runtime.cli.sandbox_commands import done, with_machine
from runtime.cli.terminal import Terminal
from runtime.errors import OrionError
from sandbox.errors import SandboxError

if TYPE_CHECKING:
    from sandbox.machine import Machine

_CHUNK = 32_768


def shell(terminal: Terminal) -> ExitCode:
    """Run a shell in the computer until it ends; its exit code decides between OK and FAILED.

    Raises OrionError `cli_shell_terminal_needed` where nobody sits at a terminal, `not_running`.
    """
    if sys.platform == "win32" or not (sys.stdin.isatty() and terminal.out_tty):
        raise OrionError("cli_shell_terminal_needed")

    async def work(machine: Machine) -> int:
        name = machine.config.name
        if (await machine.status()).phase != "running":
            raise SandboxError("not_running", name=name)
        terminal.note(_("A shell in {name}; 'exit' leaves it.").format(name=name))
        # The shell needs the terminal's own thread for its signals: nothing else runs on this loop meanwhile.
        return _talk(machine.engine.client.api, name)

    return ExitCode.OK if done(with_machine(work)) == 0 else ExitCode.FAILED


def _talk(api: Any, name: str) -> int:
    """Carry bytes both ways until the shell ends; returns its exit code."""
    from sandbox.container import FENCED

    environment = {"TERM": os.environ.get("TERM", "xterm")}
    made = api.exec_create(
        name,
        [*FENCED, "/bin/bash", "-i"],
        stdin=True,
        tty=True,
        environment=environment,
        workdir="/workspace",
    )["Id"]
    stream = api.exec_start(made, tty=True, socket=True)
    line = getattr(stream, "_sock", stream)
    line.settimeout(None)

    def fit() -> None:
        size = shutil.get_terminal_size()
        api.exec_resize(made, height=size.lines, width=size.columns)

    try:
        with _raw(sys.stdin.fileno()), _resizing(fit):
            fit()
            _carry(line, sys.stdin.fileno(), sys.stdout.fileno())
    finally:
        stream.close()
    return int(api.exec_inspect(made)["ExitCode"] or 0)


def _carry(line: Any, keys: int, screen: int) -> None:
    waiting = [line, keys]
    while True:
        pending = getattr(line, "pending", lambda: 0)()
        ready = [line] if pending else select.select(waiting, [], [])[0]
        if line in ready:
            data = line.recv(_CHUNK)
            if not data:
                return
            os.write(screen, data)
        if keys in ready:
            typed = os.read(keys, _CHUNK)
            if typed:
                line.sendall(typed)
            else:
                waiting = [line]


@contextmanager
def _raw(keys: int) -> Iterator[None]:
    """Every key goes to the shell, until the end of the block."""
    import termios
    import tty

    before = termios.tcgetattr(keys)
    tty.setraw(keys)
    try:
        yield
    finally:
        termios.tcsetattr(keys, termios.TCSADRAIN, before)


@contextmanager
def _resizing(fit: Callable[[], None]) -> Iterator[None]:
    def on_change(number: int, frame: FrameType | None) -> None:
        del number, frame
        fit()

    before = signal.signal(signal.SIGWINCH, on_change)
    try:
        yield
    finally:
        signal.signal(signal.SIGWINCH, before)
