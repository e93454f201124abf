"""The shells of the sandbox: sessions that keep their state, and programs that run once."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from sandbox.guest import shell_processes
from sandbox.guest.call import Call, PeerError
from sandbox.guest.desk import GuestDesk
from sandbox.guest.peer import Operation
from sandbox.guest.shell_bash import HOME, Bash
from sandbox.guest.shell_once import Once
from sandbox.guest.shell_watch import Send, Watch, bounds, received, unhurried

MOST_SESSIONS = 32


class Session:
    """One session's shell, which is started when it is needed; commands wait for each other."""

    def __init__(self, folder: str = HOME) -> None:
        self._home = self._folder = folder
        self._bash: Bash | None = None
        self._turn = asyncio.Lock()

    @property
    def idle(self) -> bool:
        """Whether no command runs or waits."""
        return not self._turn.locked()

    async def run(self, command: str, timeout: float, limit: int, send: Send) -> dict[str, Any]:
        """Run `command`, its output going to `send` as it comes; see `operations` for the result. A run
        that is cancelled stops its command before this returns."""
        halted = asyncio.Event()
        return await unhurried(self._in_turn(command, timeout, limit, send, halted), halted)

    async def restart(self) -> None:
        """End the shell with everything it started and still knows of; the next command gets a new one at
        home."""
        bash, self._bash = self._bash, None
        if bash is not None:
            await bash.kill()
        self._folder = self._home

    async def _in_turn(
        self, command: str, timeout: float, limit: int, send: Send, halted: asyncio.Event
    ) -> dict[str, Any]:
        async with self._turn:
            if halted.is_set():
                raise PeerError("cancelled")
            if self._bash is None or self._bash.code is not None:
                self._bash = await Bash.start(self._folder)
            bash, watch = self._bash, Watch(limit, send, halted)
            kills, started = shell_processes.killed_for_memory(), time.monotonic()
            done = bash.begin(command, watch.output, watch.stirred)
            why = await watch.until(done, timeout)
            self._folder = bash.folder or self._folder
            if why:
                await bash.interrupt()
            bash.end()
            await watch.finish()
            self._folder = bash.folder or self._folder
            ended = bash.code is not None
            return {
                "code": done.result(),
                "stopped": why,
                "omitted": watch.output.omitted,
                "ended": ended,
                "folder": self._folder,
                "out_of_memory": shell_processes.killed_for_memory() > kills,
                "seconds": round(time.monotonic() - started, 3),
            }


class Shells:
    """The sessions by name."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}

    async def run(self, call: Call) -> dict[str, Any]:
        """`shell.run`."""
        command = await received(call)
        session = await self._session(str(call.arguments.get("session", "")))
        return await session.run(command, *bounds(call), call.send)

    async def restart(self, call: Call) -> dict[str, Any]:
        """`shell.restart`."""
        session = self._sessions.get(str(call.arguments.get("session", "")))
        if session is not None:
            await session.restart()
        return {}

    async def _session(self, name: str) -> Session:
        found = self._sessions.pop(name, None) or Session()
        self._sessions[name] = found
        idle = [key for key, session in self._sessions.items() if session.idle and key != name]
        if len(self._sessions) > MOST_SESSIONS and idle:
            await self._sessions.pop(idle[0]).restart()
        return found


def operations(desk: GuestDesk) -> dict[str, Operation]:
    """What the host may ask for; each streams the merged output and bounds it to `limit` bytes.

    `shell.run` {session, timeout, limit}, the command as bytes → {code, stopped: ""|"time"|"output", omitted,
    ended, folder, out_of_memory, seconds}; `ended`: the shell itself is gone, and the next command gets a new
    one. `shell.restart` {session} → {}. `process.run` {language: python|bash, timeout, limit}, the code as
    bytes → {code, stopped, omitted, out_of_memory, seconds}; without a desktop nothing that it started
    outlives it.
    """
    shells, once = Shells(), Once(alone=desk.display is None)
    return {"shell.run": shells.run, "shell.restart": shells.restart, "process.run": once.run}
