"""The parent's side of one worker child: starts it, talks to it, notices at once when it dies or hangs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from pathlib import Path

from models import hardware
from models.crash import cause_of_death
from models.errors import EngineError
from models.frames import Frame, encode, read

_STDERR_KEPT = 64 * 1024
_FINAL = ("result", "error")
_SECRET = re.compile(r"(?i)(_api_key|_token|_secret|_password)$|^ORION_KEY_")
_CREATION_FLAGS = getattr(subprocess, "CREATE_NO_WINDOW", 0) | getattr(
    subprocess, "CREATE_NEW_PROCESS_GROUP", 0
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Patience with a worker, in seconds.

    `start` until its first word, `silence` without any sign of life while it works, `stall` without progress
    (a token, a prompt chunk, a step of loading), `settle` for obeying a cancel, `park` for storing the memory
    of sessions before it ends.
    """

    start: float = 60.0
    silence: float = 10.0
    stall: float = 300.0
    settle: float = 2.0
    park: float = 10.0


def default_command() -> tuple[str, ...]:
    """How this program starts its own worker, from source or frozen."""
    if getattr(sys, "frozen", False):
        return (sys.executable, "--worker", "llama")
    launch = Path(__file__).resolve().parent.parent / "desktop" / "launch.py"
    return (sys.executable, str(launch), "--worker", "llama")


class WorkerProcess:
    """One child from start to death. Made by `start`, ended by `stop`; used from one event loop.

    It serves one request at a time: `frames` must have ended, or `settle` have returned, before the next.
    """

    def __init__(self, process: asyncio.subprocess.Process, limits: Limits) -> None:
        self._process = process
        self._limits = limits
        self._inbox: asyncio.Queue[Frame | None] = asyncio.Queue()
        self._request = 0
        self._running = False
        self._seen = time.monotonic()
        self._stderr = bytearray()
        self._oom_kills = hardware.oom_kills()
        self._hung: EngineError | None = None
        self._settling: asyncio.Task[None] | None = None
        self._acknowledged = False
        self._begun = False
        self._ending = False
        self.model = ""
        self.dead = asyncio.Event()
        self._drain = asyncio.create_task(self._drain_stderr())
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, command: Sequence[str], limits: Limits) -> WorkerProcess:
        """Start a child and wait for its first word. EngineError cpu_features_missing, worker_start_failed
        or what else it says."""
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=_environment(),
                start_new_session=True,  # a Ctrl-C in a terminal reaches only the program
                creationflags=_CREATION_FLAGS,
            )
        except OSError as error:
            raise EngineError("worker_start_failed", reason=str(error)) from error
        worker = cls(process, limits)
        try:
            await worker._greet()
        except BaseException:
            worker._kill(None)  # it holds nothing yet that is worth storing
            await worker.stop()
            raise
        return worker

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether requests can be sent; false from the moment its death is known."""
        return not self.dead.is_set() and self._hung is None

    @property
    def untouched(self) -> bool:
        """Whether it broke before it began the running request: deaf to it, or dead without a word on it."""
        return not self.alive and not (self._acknowledged if self._hung else self._begun)

    async def frames(self, request: Frame) -> AsyncGenerator[Frame, None]:
        """Send `request` and yield what comes back; the last frame is its result.

        EngineError for an error frame, a death or a hang. Closing early cancels the request at once; the
        worker then needs `settle` before the next one.
        """
        self._request += 1
        self._running, self._acknowledged, self._begun = True, False, False
        self._seen = progress = time.monotonic()
        if asked := request.get("model"):
            self.model = Path(asked["path"]).stem
        self._send(request | {"id": self._request})
        try:
            while True:
                frame = await self._next(progress)
                if frame["t"] in ("beat", "ack"):
                    continue
                progress = time.monotonic()
                if frame["t"] == "error":
                    raise EngineError(frame["code"], **frame["fields"])
                yield frame
                if frame["t"] == "result":
                    return
        finally:
            if self._running:
                self.cancel()

    def cancel(self) -> None:
        """Ask the worker to drop the running request; returns at once. It is killed if it does not obey."""
        self._send({"t": "cancel", "id": self._request})
        self._settling = asyncio.create_task(self._settle())

    async def settle(self) -> None:
        """Return when a cancelled request has ended, or the worker with it."""
        if self._settling is not None:
            await self._settling

    async def _settle(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._limits.settle):
                while self._running and self.alive:
                    await self._inbox.get()
        if self._running:
            self._kill(EngineError("worker_hung", model=self.model, seconds=self._limits.settle))
            await self.dead.wait()

    def death(self) -> EngineError:
        """Why it died; to be asked once `dead` is set."""
        if self._hung is not None:
            return self._hung
        status = self._process.returncode
        grown = hardware.oom_kills() > self._oom_kills
        return cause_of_death(status or 0, bytes(self._stderr), self.model, killed_for_memory=grown)

    async def stop(self) -> None:
        """End the child: its stdin closes, it stores the memory of sessions, and is killed if it lingers.
        Idempotent."""
        stdin = self._process.stdin
        if stdin is not None:
            stdin.close()
        try:
            await self._depart(self._limits.settle)
            if self._ending:
                await self._depart(self._limits.park)
        finally:
            if not self.dead.is_set():
                self._kill(None)
        await asyncio.gather(self._reader, self._drain)
        await self.settle()

    async def _depart(self, seconds: float) -> None:
        """Return when the child is dead, or after `seconds`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.dead.wait()

    async def _greet(self) -> None:
        self._running = True
        try:
            async with asyncio.timeout(self._limits.start):
                frame = await self._inbox.get()
        except TimeoutError as error:
            reason = f"no word from it within {self._limits.start:g} seconds"
            raise EngineError("worker_start_failed", reason=reason) from error
        self._running = False
        if frame is None:
            raise EngineError("worker_start_failed", reason=str(self.death()))
        if frame["t"] == "error":
            raise EngineError(frame["code"], **frame["fields"])

    async def _next(self, progress: float) -> Frame:
        """The next frame of the running request. EngineError when the worker dies or hangs meanwhile."""
        while True:
            now = time.monotonic()
            patience = min(self._seen + self._limits.silence, progress + self._limits.stall) - now
            if patience <= 0:
                waited = round(now - min(self._seen, progress), 1)
                self._kill(EngineError("worker_hung", model=self.model, seconds=waited))
                await self.dead.wait()
                raise self.death()
            try:
                async with asyncio.timeout(patience):
                    frame = await self._inbox.get()
            except TimeoutError:
                continue
            if frame is None:
                raise self.death()
            if frame.get("id", self._request) == self._request:  # not left over from a cancelled one
                return frame

    def _send(self, frame: Frame) -> None:
        stdin = self._process.stdin
        if stdin is not None and not stdin.is_closing() and self.alive:
            stdin.write(encode(frame))

    def _kill(self, reason: EngineError | None) -> None:
        self._hung = self._hung or reason
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def _read(self) -> None:
        """Take frames until the child is gone. A stream that is not ours is a hung worker."""
        stdout = self._process.stdout
        assert stdout is not None
        while True:
            try:
                frame = await read(stdout)
            except ValueError as error:
                self._kill(EngineError("worker_crashed", model=self.model, how="garbled", detail=str(error)))
                break
            if frame is None:
                break
            self._take(frame)
        await self._process.wait()
        await self._drain
        self._running = False
        self.dead.set()
        self._inbox.put_nowait(None)

    def _take(self, frame: Frame) -> None:
        self._seen = time.monotonic()
        if frame["t"] == "ending":
            self._ending = True
            return
        ident = frame.get("id", self._request)
        if ident != self._request:
            return
        if frame["t"] in _FINAL:
            self._running = False
        if frame["t"] == "ack":
            self._acknowledged = True
        elif frame["t"] != "beat":
            self._begun = True
        self._inbox.put_nowait(frame)

    async def _drain_stderr(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None
        while piece := await stderr.read(65536):
            self._stderr += piece
            del self._stderr[:-_STDERR_KEPT]


def _environment() -> dict[str, str]:
    """The child's environment: without keys of services, which are none of its business; a frozen program's
    library path is put back to what the user had."""
    environment = {name: value for name, value in os.environ.items() if not _SECRET.search(name)}
    for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):
        original = environment.pop(f"{name}_ORIG", None)
        if original is not None:
            environment[name] = original
        elif getattr(sys, "frozen", False):
            environment.pop(name, None)
    return environment
