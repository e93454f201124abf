"""Keeps a machine from filling the disk of its engine, which sets no limit to what is written to a volume."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from sandbox.engine import Engine
from sandbox.errors import SandboxError

RESERVE = 1 << 30
"""Bytes of the engine's disk that no machine may take."""

AGAIN = 2.0
"""Seconds until a watch that ended is begun again."""

BEGINNING = 3.0
"""Seconds that `begun` waits."""

_STRANGER = "65534:65534"
"""Whose process watches: the programs of the machine can neither end nor read those of another user."""

_LONGEST = 200
"""Bytes that are read of the answer to how large the workspace is."""

_FREE = """
import os, select
while True:
    found = os.statvfs("/workspace")
    os.write(1, b"%d\\n" % (found.f_bavail * found.f_frsize))
    if select.select([0], [], [], 0.5)[0] and not os.read(0, 64):
        break
"""


class DiskWatch:
    """Watches one running container and ends it when /workspace outgrows `limit_mb` or the disk gets full.

    `verdict` then says why: SandboxError workspace_full or engine_disk_low. Made in the loop's thread; begins
    at once, and `close` ends it.
    """

    def __init__(self, engine: Engine, container: Any, limit_mb: int) -> None:
        self.verdict: SandboxError | None = None
        self._stands = asyncio.Event()
        self._engine, self._container = engine, container
        self._limit = limit_mb << 20
        self._most = 0
        self._measuring: asyncio.Task[None] | None = None
        self._task = asyncio.create_task(self._watch())

    async def begun(self) -> None:
        """Wait until it watches, at most BEGINNING seconds; it goes on trying after that."""
        standing = asyncio.create_task(self._stands.wait())
        await asyncio.wait({standing, self._task}, timeout=BEGINNING, return_when=asyncio.FIRST_COMPLETED)
        standing.cancel()
        if self._task.done():
            self._task.result()

    async def close(self) -> None:
        """Stop watching; idempotent."""
        for task in (self._task, self._measuring):
            if task is not None:
                task.cancel()
                await asyncio.wait({task})

    async def _watch(self) -> None:
        while self.verdict is None:
            # An exec that cannot be begun (no process left, the container gone) is tried again, and one that
            # says lines without end (ValueError) is no watch.
            with contextlib.suppress(SandboxError, ValueError):
                await self._look()
            await asyncio.sleep(AGAIN)

    async def _look(self) -> None:
        from sandbox.hijack import Hijacked
        from sandbox.lines import line

        opening = asyncio.create_task(
            self._engine.call(lambda client: line(_begin(client, self._container.id)))
        )
        try:
            connection, early = await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(_hang_up)
            raise
        stream = Hijacked(connection, early, lambda said: None, "disk-watch")
        try:
            while self.verdict is None and (said := await stream.reader.readline()):
                self._stands.set()
                if said.strip().isdigit():
                    await self._judge(int(said))
        finally:
            stream.abort()
            await stream.closed()

    async def _judge(self, free: int) -> None:
        self._most = max(self._most, free)
        if free < RESERVE:
            await self._end(SandboxError("engine_disk_low", free_mb=free >> 20))
        elif self._most - free > self._limit // 4 and (self._measuring is None or self._measuring.done()):
            self._most = free
            self._measuring = asyncio.create_task(self._measure())

    async def _measure(self) -> None:
        """Add up /workspace after much was written; whether that was this machine is not known before.
        Where it cannot be added up in time, or not to its end, the reserve is what protects the disk."""
        used = 0
        with contextlib.suppress(SandboxError):
            used = await self._engine.call(lambda client: _used(client, self._container.id))
        if used > self._limit:
            limit = self._limit >> 20
            await self._end(SandboxError("workspace_full", used_mb=used >> 20, limit_mb=limit))

    async def _end(self, why: SandboxError) -> None:
        self.verdict = why
        with contextlib.suppress(SandboxError):  # it is gone already
            await self._engine.call(lambda client: client.api.kill(self._container.id))


def _hang_up(opening: asyncio.Task[Any]) -> None:
    """Close a connection that came when nobody waited for it any more."""
    if not opening.cancelled() and opening.exception() is None:
        opening.result()[0].close()


def _begin(client: Any, number: str) -> Any:
    command = ["/usr/bin/python3", "-I", "-S", "-c", _FREE]
    made = client.api.exec_create(number, command, stdin=True, user=_STRANGER, workdir="/")
    return client.api.exec_start(made["Id"], socket=True)


def _used(client: Any, number: str) -> int:
    """Bytes that the readable part of /workspace takes."""
    command = ["/usr/bin/du", "-sxk", "/workspace"]
    made = client.api.exec_create(number, command, stderr=False, workdir="/")
    stream, said = client.api.exec_start(made["Id"], stream=True), b""
    try:
        for piece in stream:
            said += piece
            if len(said) > _LONGEST:  # the machine's programs can get at one of their own user
                break
    finally:
        stream.close()
        stream._response.close()  # its reader holds the socket beside the stream
    counted = said.split()
    return int(counted[0]) * 1024 if counted and counted[0].isdigit() else 0
