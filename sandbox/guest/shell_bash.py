"""One bash that keeps its state from command to command, told what to do through its standard input."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import suppress

from sandbox.guest import shell_processes
from sandbox.guest.call import PeerError
from sandbox.guest.shell_output import Output
from sandbox.guest.shell_pipe import Pipe

GRACE = 1.0
"""Seconds that an interrupted command gets to end."""

STEP = 0.05
BETWEEN = 4_000
"""Bytes kept of what background programs print while no command runs."""

HOME = "/workspace"

# Interactive, because only such a bash answers an interruption by giving up the command and living on. Its
# prompts and notices go to a terminal that nobody reads. Commands never inherit the pipe of the markers.
_OPENING = """exec 251>&{marks} 252>&{output} {marks}>&- {output}>&-
set +H +o history; unset HISTFILE; PS1= PS2= MAILCHECK=
builtin printf 500 >/proc/self/oom_score_adj
__orion_status() {{ \\builtin return "$1"; }}
"""
_COMMAND = "__orion_status {last}; \\builtin eval -- {text} </dev/null >&252 2>&1 251>&- 252>&-\n"
_MARK = "\\builtin printf '%s %s\\n' {number} {code} >&251; \\builtin set +eu\n"


def environment() -> dict[str, str]:
    """What programs of the agent find in their environment: this process's, for use without a terminal."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "OLDPWD")}
    plain = {"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "MANPAGER": "cat", "SHELL": "/bin/bash"}
    silent = {"GIT_TERMINAL_PROMPT": "0", "DEBIAN_FRONTEND": "noninteractive"}
    return {"LANG": "C.UTF-8", **kept, **plain, **silent}


def folder_or_near(folder: str) -> str:
    """`folder`, or where it is gone the nearest above it that is there."""
    while not os.path.isdir(folder) and folder not in ("", "/"):
        folder = os.path.dirname(folder)
    return folder or "/"


class Bash:
    """A running bash. Made by `start`, ended by `kill`; one command at a time."""

    def __init__(self, process: asyncio.subprocess.Process, output: Pipe, marks: Pipe, notices: Pipe) -> None:
        self.pid = process.pid
        self._process = process
        self._output, self._marks, self._notices = output, marks, notices
        self._between = Output(BETWEEN)
        output.heard = self._between.feed
        marks.heard = self._on_mark
        self._number, self._last = 0, 0
        self._marked = b""
        self._done: asyncio.Future[int] | None = None
        self._before: frozenset[tuple[int, int]] = frozenset()
        self._exit = asyncio.create_task(self._watch())

    @classmethod
    async def start(cls, folder: str) -> Bash:
        """A new one in `folder`. Raises PeerError `shell_start`."""
        pipes = [Pipe(_drop), Pipe(_drop), Pipe(_drop, terminal=True)]
        output, marks, notices = pipes
        try:
            process = await asyncio.create_subprocess_exec(
                *("/bin/bash", "--noprofile", "--norc", "--noediting", "-i", "-s"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=notices.inlet,
                pass_fds=(output.inlet, marks.inlet),
                start_new_session=True,
                env=environment(),
                cwd=folder_or_near(folder),
            )
        except OSError as error:
            for pipe in pipes:
                pipe.close()
            raise PeerError("shell_start", error.strerror or str(error)) from error
        opening = _OPENING.format(marks=marks.inlet, output=output.inlet)
        for pipe in pipes:
            pipe.close_inlet()
        bash = cls(process, output, marks, notices)
        bash._say(opening)
        return bash

    @property
    def code(self) -> int | None:
        """With what it ended; None while it lives, negative for a signal."""
        return self._process.returncode if self._exit.done() else None

    @property
    def folder(self) -> str:
        """Where it is; "" where that cannot be told."""
        with suppress(OSError):
            return os.readlink(f"/proc/{self.pid}/cwd")
        return ""

    def begin(self, command: str, output: Output, stirred: asyncio.Event) -> asyncio.Future[int]:
        """Run `command`, its output fed to `output`; the future holds its exit code when it has ended, or
        that of the shell where this ended first."""
        self._output.drain()
        if self._between.total:
            output.feed(b"[Printed in the background since the last command:]\n" + self._between.rest())
            output.feed(b"\n[End of it.]\n")

        def heard(data: bytes) -> None:
            output.feed(data)
            stirred.set()

        self._output.heard = heard
        self._output.paced = lambda: output.flooded
        self._before = frozenset(shell_processes.ids(shell_processes.family(self.pid)))
        self._number += 1
        self._done = asyncio.get_running_loop().create_future()
        self._say(_COMMAND.format(last=self._last, text=_quoted(command)))
        self._say(_MARK.format(number=self._number, code='"$?"'))
        if self._exit.done():
            self._done.set_result(self.code or 0)
        return self._done

    def end(self) -> None:
        """After the command: take what it had printed; what comes from now on is background."""
        self._output.drain()
        self._between = Output(BETWEEN)
        self._output.heard = self._between.feed
        self._output.paced = lambda: self._between.flooded

    async def interrupt(self) -> None:
        """Stop the running command with everything it started, as Ctrl-C does; where that does not help
        within GRACE, the shell ends with it. What ran before it goes on."""
        done = self._done
        if done is None:
            return
        told, again = set(self._before), time.monotonic() + GRACE / 2
        while not done.done() and time.monotonic() < again + GRACE / 2:
            if time.monotonic() > again:  # a program that was just starting may have missed the first
                told = set(self._before)
            fresh = [one for one in shell_processes.family(self.pid) if (one.pid, one.born) not in told]
            told |= shell_processes.ids(fresh)
            self._signal(signal.SIGINT)  # first: else it would take the end of its child for its own affair
            shell_processes.send(fresh, signal.SIGINT)
            await asyncio.wait({done}, timeout=STEP)
            if not done.done():  # an interruption may have swallowed the line that marks the end
                self._say("\n" + _MARK.format(number=self._number, code=130))
        if not done.done() or not await self._answers():
            await self._end(self._before)
        await asyncio.to_thread(shell_processes.kill_family, self.pid, self._before)
        await asyncio.wait({done})

    async def _answers(self) -> bool:
        """Whether it reads what it is told again, with every interruption behind it."""
        self._number += 1
        self._done = asyncio.get_running_loop().create_future()
        self._say("\n" + _MARK.format(number=self._number, code=self._last))
        await asyncio.wait({self._done}, timeout=GRACE)
        return self._done.done()

    async def kill(self) -> None:
        """End it and everything it started and still knows of."""
        await self._end(frozenset())
        self._output.close()

    async def _end(self, spared: frozenset[tuple[int, int]]) -> None:
        """End it and its family; it is held still first, since it would go on with what comes next, and its
        death would hide who descends from it."""
        self._signal(signal.SIGSTOP)
        await asyncio.to_thread(shell_processes.kill_family, self.pid, spared)
        self._signal(signal.SIGKILL)
        await self._exit
        await asyncio.to_thread(shell_processes.kill_family, self.pid, spared)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            if not self._exit.done():
                self._process.send_signal(number)

    def _say(self, text: str) -> None:
        stdin = self._process.stdin
        if stdin is not None and not stdin.is_closing():
            stdin.write(text.encode("utf-8", "surrogateescape"))

    async def _watch(self) -> None:
        code = await self._process.wait()
        self._marks.drain()
        self._marks.close()
        self._notices.close()
        if self._process.stdin is not None:
            self._process.stdin.close()
        if self._done is not None and not self._done.done():
            self._done.set_result(code)

    def _on_mark(self, data: bytes) -> None:
        *lines, self._marked = (self._marked + data[-1000:]).split(b"\n")
        for line in lines:
            number, _, code = line.partition(b" ")
            if number == str(self._number).encode() and code.isdigit():
                self._last = int(code)
                if self._done is not None and not self._done.done():
                    self._done.set_result(self._last)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _drop(data: bytes) -> None:
    del data
