"""The engine and the two containers of this process: the only place of the runtime that makes them."""

from __future__ import annotations

import asyncio
import hashlib
import os
import platform
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime.settings import Sandbox
from sandbox.errors import SandboxError

if TYPE_CHECKING:
    from sandbox.channel import Guest
    from sandbox.container import MachineConfig
    from sandbox.engine import Engine
    from sandbox.eyes import Eyes
    from sandbox.guest.peer import Operation
    from sandbox.machine import Machine
    from sandbox.ports import Ports

CLOSING = 8.0
"""Seconds that stopping the containers may take when the program ends."""

NAME = "orion-sandbox"


@dataclass(frozen=True, slots=True)
class Makers:
    """What makes an engine, a machine and an image: the edge to Docker."""

    find: Callable[[str], Awaitable[Any]]
    machine: Callable[[Any, Any, Mapping[str, Any]], Any]
    build: Callable[[Any, Callable[[str, float], None]], Awaitable[str]]


def docker() -> Makers:
    """Those of the sandbox room; nothing is imported before one is used."""

    async def find(host: str) -> Engine:
        from sandbox.engine import Engine

        return await Engine.find(host)

    def machine(engine: Engine, config: MachineConfig, operations: Mapping[str, Operation]) -> Machine:
        from sandbox.machine import Machine

        return Machine(engine, config, operations)

    async def build(engine: Engine, told: Callable[[str, float], None]) -> str:
        from sandbox.image import ImageBuilder

        return await ImageBuilder().build(engine, told=told)

    return Makers(find, machine, build)


def eyes() -> Eyes:
    """What reads the screen where accessibility says nothing: a child of this program, from source or frozen,
    which starts when it is needed. Closed by the caller."""
    from sandbox.eyes import Eyes

    if getattr(sys, "frozen", False):
        return Eyes((sys.executable, "--worker", "ocr"))
    launch = Path(__file__).resolve().parent.parent / "desktop" / "launch.py"
    return Eyes((sys.executable, str(launch), "--worker", "ocr"))


def owner_of(home: Path) -> str:
    """A text that stands for `home` on this machine and tells nothing of it."""
    place = f"{platform.node()} {home.resolve()}"
    return hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def forbidden() -> bool:
    """Whether the environment turns the computer off. The agent never works on the user's own machine."""
    return os.environ.get("COMPUTER_USE_SANDBOX", "true").strip().lower() in ("0", "false", "no", "off")


class Machines:
    """The desktop's machine and the one for code. Used from the runtime's loop by AgentComputer alone, which
    changes the desktop's by one call at a time; closed by it. `operations` is what the host serves to the
    guests. `warning` is what of the last start could not be had and can be done without.
    `owner` tells the machines of this home from those of others on the same engine."""

    def __init__(
        self,
        settings: Callable[[], Sandbox],
        operations: Callable[[], Mapping[str, Operation]],
        makers: Makers | None = None,
        owner: str = "",
    ) -> None:
        self._settings = settings
        self._owner = owner
        self._operations = operations
        self._makers = makers or docker()
        self._engine: Engine | None = None
        self._desktop: Machine | None = None
        self._code: Machine | None = None
        self._coding = asyncio.Lock()
        self._started = self._settled = False
        self._ports: Ports | None = None
        self.warning: SandboxError | None = None

    @property
    def guest(self) -> Guest | None:
        """The desktop's guest while it runs."""
        return self._desktop.guest if self._desktop is not None else None

    @property
    def identity(self) -> str:
        """A text that is another one for each new volume; "" before the first start."""
        return self._desktop.volume_identity if self._desktop is not None else ""

    def config(self, *, desktop: bool) -> MachineConfig:
        """The container as settings and environment want it; ORION_SANDBOX_MARK labels what a test makes."""
        from sandbox.container import MachineConfig, code_machine

        settings = self._settings()
        name = os.environ.get("COMPUTER_USE_CONTAINER") or NAME
        config = MachineConfig(
            name=name,
            image=os.environ.get("COMPUTER_USE_IMAGE") or NAME,
            memory_mb=settings.memory_mb,
            cpus=settings.cpus,
            screen=(settings.screen_width, settings.screen_height),
            volume="" if name == NAME else f"{name}-workspace",
            owner=self._owner,
            labels={"orion.test": mark} if (mark := os.environ.get("ORION_SANDBOX_MARK")) else {},
        )
        return config if desktop else code_machine(config)

    async def start(self, told: Callable[[str], None]) -> Guest:
        """The desktop's guest, started if need be. Raises SandboxError as Engine.find and Machine.start."""
        engine = await self._found()
        if self._desktop is None:
            self._desktop = self._makers.machine(engine, self.config(desktop=True), self._operations())
        self._settled = False
        guest = await self._desktop.start(told)
        self._started = True
        await self._publish(guest)
        return guest

    async def _publish(self, guest: Guest) -> None:
        """Open the ports that the settings name on this machine; one that cannot be had is a warning."""
        from sandbox.ports import Ports

        self.warning = None
        self._ports = Ports(guest.control)
        for wanted in self._settings().ports:
            here, _colon, inside = wanted.rpartition(":")
            try:
                port, on = int(inside), int(here) if here else None
            except ValueError:
                self.warning = SandboxError("port_unknown", port=wanted)
                continue
            try:
                await self._ports.publish(port, on)
            except SandboxError as error:
                self.warning = error

    async def settled(self) -> None:
        """Wait some seconds at most until the desktop just started stands with its panel, so that a first
        action does not miss it. Raises SandboxError where the engine goes meanwhile."""
        if self._desktop is not None and not self._settled:
            await self._desktop.settled()
            self._settled = True

    async def code(self) -> Guest:
        """The guest for code. Raises SandboxError as `start`."""
        engine = await self._found()
        async with self._coding:
            if self._code is None:
                self._code = self._makers.machine(engine, self.config(desktop=False), self._operations())
            if self._code.guest is not None:
                return self._code.guest
            return await self._code.start()

    async def build(self, told: Callable[[str, float], None]) -> None:
        """Make the image; minutes long. Raises SandboxError."""
        await self._makers.build(await self._found(), told)

    async def wait_lost(self) -> Exception:
        """Why the desktop's machine is gone, once it is: a SandboxError."""
        assert self._desktop is not None
        lost: Exception = await self._desktop.wait_lost()
        return lost

    async def stop(self) -> None:
        """Stop what was started, also where it was lost since. Raises SandboxError."""
        await self._close_ports()
        await self.stop_code()
        if self._started and self._desktop is None:
            self._desktop = self._makers.machine(await self._found(), self.config(desktop=True), {})
        machine, self._desktop = self._desktop, None
        if machine is not None:
            await machine.stop()
        self._started = False

    async def stop_code(self) -> None:
        """Stop the machine for code, which holds memory only while code runs."""
        async with self._coding:
            machine, self._code = self._code, None
            if machine is not None:
                await machine.stop()

    async def reset(self) -> None:
        """Remove both containers and what lies in them, the workspace's copy too. Raises SandboxError."""
        await self.stop_code()
        engine = await self._found()
        machine, self._desktop = self._desktop, None
        if machine is None:
            machine = self._makers.machine(engine, self.config(desktop=True), {})
        await machine.reset()

    async def forget(self) -> None:
        """Let go of what is gone, so that the next start finds everything anew."""
        await self._close_ports()
        machines, self._code, self._desktop = (self._code, self._desktop), None, None
        engine, self._engine = self._engine, None
        for machine in machines:
            if machine is not None:
                await machine.leave()
        if engine is not None:
            await engine.close()

    async def close(self) -> None:
        """Stop the containers, within bounds, and let the engine go."""
        with suppress(SandboxError, TimeoutError):
            async with asyncio.timeout(CLOSING):
                await self.stop()
        await self.forget()

    async def _close_ports(self) -> None:
        ports, self._ports = self._ports, None
        if ports is not None:
            await ports.close()

    async def _found(self) -> Engine:
        if self._engine is None:
            self._engine = await self._makers.find(self._settings().host)
        return self._engine
