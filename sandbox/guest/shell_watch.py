"""Watches over one run: sends its output on, and tells when it must be stopped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from sandbox.guest.call import Call, PeerError
from sandbox.guest.shell_output import Output

LONGEST_COMMAND = 4_000_000
MOST_OUTPUT = 2_000_000
FLOOD = 256_000_000
"""Bytes of output after which a run is stopped."""

Send = Callable[[bytes], Awaitable[None]]


class Watch:
    """Takes what is fed to `output`, after each of which `stirred` is set, and sends it until `finish`."""

    def __init__(self, limit: int, send: Send, halted: asyncio.Event) -> None:
        self.output, self.stirred = Output(limit), asyncio.Event()
        self._send, self._halted, self._over = send, halted, False
        self._pumping = asyncio.create_task(self._pump())

    def heard(self, data: bytes) -> None:
        """More output."""
        self.output.feed(data)
        self.stirred.set()

    async def until(self, done: asyncio.Future[int], timeout: float) -> str:
        """Wait for `done`; why the run must be stopped before: "time", "output", "cancelled", else ""."""
        until = time.monotonic() + timeout
        halting = asyncio.create_task(self._halted.wait())
        try:
            while not done.done():
                if halting.done() or self._pumping.done():
                    return "cancelled"
                if self.output.total > FLOOD:
                    return "output"
                left = until - time.monotonic()
                if left <= 0:
                    return "time"
                first = asyncio.FIRST_COMPLETED
                events: set[asyncio.Future[Any]] = {done, halting, self._pumping}
                await asyncio.wait(events, timeout=min(left, 0.5), return_when=first)
            return ""
        finally:
            halting.cancel()

    async def finish(self) -> None:
        """Send the rest. Raises what the sending failed of."""
        if self._halted.is_set():
            self._pumping.cancel()
            await asyncio.wait({self._pumping})
            raise PeerError("cancelled")
        self._over = True
        self.stirred.set()
        await self._pumping

    async def _pump(self) -> None:
        while not self._over:
            await self.stirred.wait()
            self.stirred.clear()
            if data := self.output.take():
                await self._send(data)
        if rest := self.output.rest():
            await self._send(rest)


async def unhurried(work: Coroutine[Any, Any, dict[str, Any]], halted: asyncio.Event) -> dict[str, Any]:
    """Run `work`; where this is cancelled, set `halted` and wait until it has ended by itself."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        halted.set()
        await asyncio.gather(task, return_exceptions=True)
        raise


async def received(call: Call) -> str:
    """All text that the call brings. Raises PeerError `too_large` or `not_text`."""
    gathered = bytearray()
    while data := await call.receive():
        gathered += data
        if len(gathered) > LONGEST_COMMAND:
            raise PeerError("too_large", f"more than {LONGEST_COMMAND} bytes")
    if b"\0" in gathered:
        raise PeerError("not_text", "a zero byte")
    return gathered.decode("utf-8", "surrogateescape")


def bounds(call: Call) -> tuple[float, int]:
    """Seconds and bytes that a run may take."""
    timeout = float(call.arguments.get("timeout", 120.0))
    limit = int(call.arguments.get("limit", 100_000))
    return min(max(timeout, 0.1), 86_400.0), min(max(limit, 1_000), MOST_OUTPUT)
