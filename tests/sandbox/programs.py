"""A machine's desktop as a test uses it: programs started, windows waited for, files read."""

from __future__ import annotations

import asyncio
import base64
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sandbox.actions import ActionEvent
from sandbox.audit import AuditLog
from sandbox.channel import Guest
from sandbox.computer import Computer, Outcome
from sandbox.elements import Element
from sandbox.eyes import Eyes
from sandbox.shell import GuestShell

PATIENCE = 30.0

Elements = list[Element]


class Programs:
    """The programs on the desktop of one guest, under a computer with a log in `folder`."""

    def __init__(self, guest: Guest, folder: Path) -> None:
        self.events: list[ActionEvent] = []
        self.log = AuditLog(folder / "computer_use_log.jsonl")
        self.computer = Computer(guest, self.log, self.events.append)
        self.shell = GuestShell(guest.control)
        self._guest = guest
        self._control = guest.control

    def seeing(self, eyes: Eyes) -> Computer:
        """A computer over the same guest that reads text in pictures too."""
        return Computer(self._guest, self.log, self.events.append, eyes)

    async def start(self, command: str, title: str, *, listens: bool = True) -> None:
        """Start a program and wait until the window in front has `title` in its title and, where it says so,
        something in it has the keyboard: a window is there before it listens."""
        await self.run(f"setsid {command} >/dev/null 2>&1 </dev/null &")
        await self.until(
            lambda window, elements: (
                title in window and (not listens or any("focused" in e.states for e in elements))
            )
        )

    async def end(self, name: str) -> None:
        """End a program and wait until its window is gone."""
        await self.run(f"pkill -x {name}; while pgrep -x {name} >/dev/null; do sleep 0.05; done")

    async def run(self, command: str) -> str:
        """The output of a command in the machine."""
        return (await self.shell.run(command)).output

    async def write(self, path: str, text: str) -> None:
        coded = base64.b64encode(text.encode()).decode()
        await self.run(
            f"mkdir -p {shlex.quote(str(Path(path).parent))}; echo {coded} | base64 -d > {shlex.quote(path)}"
        )

    async def read(self, path: str) -> str:
        """A file's text, exactly."""
        return base64.b64decode(await self.run(f"base64 -w0 {shlex.quote(path)}")).decode()

    async def until(self, met: Callable[[str, Elements], bool]) -> None:
        """Wait until the window in front and the elements are as they should be."""
        found: Any = {}
        async with asyncio.timeout(PATIENCE):
            while True:
                found = await self._control.call("elements.list", limit=300)
                elements = await self.computer.elements()
                if met(found["window"], elements):
                    return

    async def window(self) -> str:
        """The title of the window in front."""
        found = await self._control.call("elements.list", limit=1)
        return str(found["window"])

    async def do(self, name: str, **members: Any) -> Outcome:
        """Perform an action that must not fail, without a picture."""
        outcome = await self.computer.perform({"action": name, **members}, picture=False)
        assert not outcome.failed, outcome.text
        return outcome

    async def named(self, name: str, role: str = "") -> Element:
        """The first element of that name (and role) in a new list."""
        elements = await self.computer.elements()
        return next(e for e in elements if e.name == name and role in ("", e.role))
