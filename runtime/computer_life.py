"""The life of the agent's computer: from off to running, and what becomes of it when its engine goes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.computer_events import ComputerState, Phase
from runtime.errors import Field, OrionError
from runtime.locks import Lock
from runtime.machines import Machines, forbidden
from sandbox.errors import SandboxError

if TYPE_CHECKING:
    from sandbox.channel import Guest

STARTING = 90.0
"""Seconds after which a start that does not end has failed."""

KNOWN = (OrionError, SandboxError, TimeoutError)

_PHASES: Mapping[str, Phase] = {"build_failed": "no_image", "image_missing": "no_image"}
"""Where a failed start leaves the computer, by its code; any other leaves it unavailable."""


class ComputerLife:
    """Starts, stops and watches the machines, one change at a time. Used from one loop by AgentComputer.

    `told` hears of every state; `came` is awaited with the guest before the state says running, `gone` is
    called with the reason when what runs there has to end.
    """

    def __init__(
        self,
        machines: Machines,
        lock: Path,
        door: str,
        told: Callable[[ComputerState], None],
        came: Callable[[Guest], None],
        gone: Callable[[OrionError], None],
    ) -> None:
        self.state = ComputerState("off", "sandbox_off" if forbidden() else "")
        self._machines = machines
        self._lock_path, self._door = lock, door
        self._lock: Lock | None = None
        self._told, self._came, self._gone = told, came, gone
        self._changing = asyncio.Lock()
        self._starting: asyncio.Task[None] | None = None
        self._watch: asyncio.Task[None] | None = None

    async def build(self) -> None:
        """Make the image. Raises OrionError as it fails."""
        self._permit()
        async with self._changing:
            if self.state.phase == "running":
                self._let_go(OrionError("computer_stopped"))
                await self._machines.stop()
            try:
                self._to("building")
                await self._machines.build(lambda line, part: self._to("building", line, part))
                self._to("off")
            except KNOWN as error:
                raise self._fell(error) from error
            except asyncio.CancelledError:
                self._to("no_image", code="image_missing")
                raise
            finally:
                self._unstuck("building")

    async def start(self) -> None:
        """Start what is not running; all who ask wait for the same start. Raises OrionError with the code
        that the state then has, or `computer_building`: nobody waits for minutes here."""
        self._permit()
        if self.state.phase == "running":
            return
        if self.state.phase == "building":
            raise OrionError("computer_building")
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._start(), name="start of the computer")
        await asyncio.shield(self._starting)

    async def _start(self) -> None:
        async with self._changing:
            if self.state.phase == "running":
                return
            try:
                if self._lock is None:
                    self._lock = Lock(self._lock_path, self._door, "computer_busy")
                self._to("starting")
                async with asyncio.timeout(STARTING):
                    guest = await self._machines.start(lambda line: self._to("starting", line))
                self._came(guest)
                self._watch = asyncio.create_task(self._watched(), name="watch of the computer")
                warning = self._machines.warning
                self.state = ComputerState("running")
                if warning is not None:
                    self.state = ComputerState("running", warning.code, dict(warning.fields))
                self._told(self.state)
            except KNOWN as error:
                raise self._fell(error) from error
            except asyncio.CancelledError:
                self._to("off")
                raise
            finally:
                await self._unless_running()

    async def _unless_running(self) -> None:
        """Let go of what a start that failed has left."""
        if self.state.phase != "running":
            await self._machines.forget()
            self._release()
        self._unstuck("starting")

    def _unstuck(self, phase: Phase) -> None:
        """No bug leaves the state in a phase that nothing leads out of."""
        if self.state.phase == phase:
            self._to("unavailable", code="computer_broken")

    async def _watched(self) -> None:
        """Wait for the machine to go; then everything on it ends, and the next start finds it anew."""
        why = as_orion(await self._machines.wait_lost())
        async with self._changing:
            self._watch = None
            self.state = ComputerState("lost", why.code, why.fields)
            self._told(self.state)
            self._gone(why)
            await self._machines.forget()

    async def lost(self) -> OrionError:
        """Why the computer is gone, after one found its stream ended; waits for the watch to say so."""
        if self._watch is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(15.0):
                    await asyncio.shield(self._watch)
        return OrionError(self.state.code or "computer_lost", fault="tool", **self.state.fields)

    async def stop(self, why: OrionError) -> None:
        """Stop it, whatever it is doing; what runs on it ends with `why`."""
        if self._starting is not None and not self._starting.done():
            self._starting.cancel()
            with suppress(asyncio.CancelledError, OrionError):
                await self._starting
        async with self._changing:
            if self.state.phase in ("running", "lost"):
                self._let_go(why)
                self._to("stopping")
                try:
                    await self._machines.stop()
                except KNOWN as error:
                    await self._machines.forget()
                    raise self._fell(error) from error
                finally:
                    self._release()
            if self.state.phase not in ("off", "no_image", "unavailable"):
                self._to("off")

    async def reset(self) -> None:
        """Remove the containers and what lies in them. Raises OrionError."""
        self._permit()
        await self.stop(OrionError("computer_stopped"))
        async with self._changing:
            self._to("stopping")
            try:
                await self._machines.reset()
            except KNOWN as error:
                raise self._fell(error) from error
            self._to("off")

    async def close(self) -> None:
        """Stop everything and let the engine go; nobody is told. Never raises."""
        with suppress(OrionError):
            await self.stop(OrionError("computer_stopped"))
        await self._machines.close()
        self._release()

    # --- inside -------------------------------------------------------------------------------------

    def _permit(self) -> None:
        if forbidden():
            self._to("off", code="sandbox_off")
            raise OrionError("sandbox_off")

    def _let_go(self, why: OrionError) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        self._gone(why)

    def _fell(self, error: Exception) -> OrionError:
        """Enter the state that a failure leads to, and return it as ours."""
        known = as_orion(error)
        self.state = ComputerState(_PHASES.get(known.code, "unavailable"), known.code, known.fields)
        self._told(self.state)
        return known

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _to(self, phase: Phase, detail: str = "", progress: float = 0.0, code: str = "") -> None:
        self.state = ComputerState(phase, code, {}, detail, progress)
        self._told(self.state)


def as_orion(error: Exception) -> OrionError:
    """One of KNOWN as an error of this room."""
    if isinstance(error, OrionError):
        return error
    if isinstance(error, SandboxError):
        fields: dict[str, Field] = dict(error.fields)
        return OrionError(error.code, fault="tool", **fields)
    return OrionError("computer_slow", fault="tool", seconds=int(STARTING))
