"""The host's end of a guest: two streams to one process, begun, watched and ended together."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Mapping
from typing import Any

from sandbox.errors import SandboxError
from sandbox.guest import peer
from sandbox.guest.peer import Operation, Peer, PeerError, PeerGone
from sandbox.hijack import Hijacked
from sandbox.lines import Line, line
from sandbox.screen import Screen

COMMAND = ("/usr/bin/python3", "-s", "-P", "-m", "sandbox.guest")
"""By its place: the search path begins where the agent can write. Neither the folder it is started in nor
the user's own packages may lend the guest a module."""

PATIENCE = 20.0
"""Seconds that a guest may take until it serves."""

WIDEST = 8_192
"""Most pixels of a screen's edge: what a guest says is not trusted with this side's memory."""

WORDS = 4_096
"""Bytes kept of what the guest last wrote to its errors."""


class Guest:
    """A running guest; made by `attach`, closed by whoever attached. `screen` has no size where the container
    has no screen. Loop's thread only."""

    def __init__(self, container: Any, streams: list[_Stream]) -> None:
        self._container, self._streams = container, streams
        self.control, self.bulk = streams[0].peer, streams[1].peer
        self.screen = Screen(self.bulk, 0, 0)
        self._closing = False
        self._watch = asyncio.create_task(self._until_lost())

    async def begin(self) -> None:
        """Wait until the guest serves. Raises PeerGone, PeerError."""
        await asyncio.gather(self.control.ready(), self.bulk.ready())
        match await self.control.call("desk"):
            case {"screen": [int(width), int(height)]} if 0 < width <= WIDEST and 0 < height <= WIDEST:
                self.screen = Screen(self.bulk, width, height)
                await asyncio.to_thread(__import__, "numpy")
            case {"screen": None}:
                pass
            case found:
                raise PeerError("screen_refused", str(found)[:100])

    @property
    def last_words(self) -> str:
        """What the guest last wrote to its errors."""
        return "".join(bytes(stream.words).decode("utf-8", "replace") for stream in self._streams).strip()

    async def wait_lost(self) -> str:
        """Wait until the guest is gone; why: closed, guest_ended, stream_ended or engine_gone."""
        await asyncio.wait({self._watch})
        if self._closing:
            return "closed"
        try:
            async with asyncio.timeout(5):
                ended = await asyncio.to_thread(self._streams[0].ended)
        except (OSError, TimeoutError):
            return "engine_gone"
        return "guest_ended" if ended else "stream_ended"

    async def close(self) -> None:
        """End the streams, and with them the guest and all it started; idempotent."""
        self._closing = True
        await self.screen.close()
        for stream in self._streams:
            stream.peer.close()
        await asyncio.wait({self._watch})

    async def _until_lost(self) -> None:
        """Serve both streams; where one ends the other does."""
        running = [asyncio.create_task(stream.run()) for stream in self._streams]
        try:
            await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for stream in self._streams:
                stream.peer.close()
            await asyncio.gather(*running)
            await self.screen.close()


async def attach(
    container: Any, operations: Mapping[str, Operation], *, patience: float = peer.PATIENCE
) -> Guest:
    """Start a guest in a running container of docker-py and wait until it serves; one that was there before
    ends. `operations` are what the guest may ask of this side; after `patience` seconds without a word from
    it, it is taken for dead. Raises SandboxError("guest_failed", reason)."""
    token = secrets.token_hex(8)
    opening = [
        asyncio.create_task(asyncio.to_thread(_exec, container, role, token)) for role in ("control", "bulk")
    ]
    try:
        await asyncio.wait(opening)
    except asyncio.CancelledError:
        for task in opening:
            task.add_done_callback(_let_go)
        raise
    fault = next((task.exception() for task in opening if task.exception()), None)
    if fault is not None:
        for task in opening:
            _let_go(task)
        raise SandboxError("guest_failed", reason=str(fault)[:300]) from fault
    guest = Guest(container, [_Stream(container, task.result(), operations, patience) for task in opening])
    try:
        async with asyncio.timeout(PATIENCE):
            await guest.begin()
    except (PeerGone, PeerError, TimeoutError) as error:
        await guest.close()
        reason = guest.last_words.splitlines()[-1:] or [str(error) or "no answer"]
        raise SandboxError("guest_failed", reason=reason[0][:300]) from error
    except BaseException:
        await guest.close()
        raise
    return guest


def _exec(container: Any, role: str, token: str) -> tuple[Line, bytes, str]:
    """Start one process of the guest; blocks. Returns its connection, early bytes and the engine's number."""
    api = container.client.api
    environment = {
        "PYTHONPATH": "/opt/orion",
        "ORION_GUEST": f"/run/orion|{token}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    made = api.exec_create(
        container.id, [*COMMAND, role, token], stdin=True, workdir="/", environment=environment
    )
    return *line(api.exec_start(made["Id"], socket=True)), made["Id"]


def _let_go(opening: asyncio.Task[tuple[Line, bytes, str]]) -> None:
    """Close a connection that nobody uses."""
    if not opening.cancelled() and opening.exception() is None:
        opening.result()[0].close()


class _Stream:
    """One of the two streams."""

    def __init__(
        self,
        container: Any,
        opened: tuple[Line, bytes, str],
        operations: Mapping[str, Operation],
        patience: float,
    ) -> None:
        connection, early, self._number = opened
        self._container = container
        self.words = bytearray()
        self._hijacked = Hijacked(connection, early, self._on_words, "guest")
        self.peer = Peer(self._hijacked.reader, self._hijacked, operations, leads=True, patience=patience)

    async def run(self) -> None:
        """Serve until the stream ends."""
        try:
            await self.peer.run()
        finally:
            self._hijacked.abort()
            await self._hijacked.closed()

    def ended(self) -> bool:
        """Whether the process has, of which the engine hears a moment after its stream ended; blocks. OSError
        where the engine does not answer."""
        import docker.errors

        before = time.monotonic() + 1
        try:
            while self._container.client.api.exec_inspect(self._number)["Running"]:
                if time.monotonic() > before:
                    return False
                time.sleep(0.02)
        except docker.errors.NotFound:
            return True
        return True

    def _on_words(self, data: bytes) -> None:
        self.words += data
        del self.words[:-WORDS]
