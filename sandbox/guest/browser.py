"""The browser of the agent: a child of the guest that drives Chromium, one request at a time."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import suppress
from typing import Any

from sandbox.guest.call import Call, PeerError
from sandbox.guest.desk import GuestDesk
from sandbox.guest.peer import Operation

LINE = 4 * 1024 * 1024
"""Most bytes of one answer of the child."""

STARTING = 60.0
SLACK = 5.0
"""Seconds beyond what the child itself was given, after which it is taken to hang."""


def operations(desk: GuestDesk) -> dict[str, Operation]:
    """`browser.do` {do, timeout, …} → what `sandbox.guest.browsing` answers, {"text": …}. PeerError `browser`
    with what went wrong. `browser.close` ends the browser."""
    browser = Browser()
    del desk
    return {"browser.do": browser.on_do, "browser.close": browser.on_close}


class Browser:
    """Owns the child, which is started at its first use and anew after it ended."""

    def __init__(self) -> None:
        self._child: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def on_do(self, call: Call) -> dict[str, Any]:
        """One request; the child of a request that is cancelled or hangs is ended, the browser with it."""
        timeout = float(call.arguments.get("timeout", 30.0))
        async with self._turn:
            fresh = self._child is None or self._child.returncode is not None
            if fresh:
                self._child = await self._started()
            assert self._child is not None
            try:
                async with asyncio.timeout(timeout + SLACK + (STARTING if fresh else 0.0)):
                    answer = await _asked(self._child, call.arguments)
            except TimeoutError:
                await self._end()
                raise PeerError("browser", "The browser did not answer and was closed.") from None
            except asyncio.CancelledError:
                await asyncio.shield(self._end())
                raise
        if error := answer.get("error"):
            raise PeerError("browser", str(error))
        return answer

    async def on_close(self, call: Call) -> dict[str, Any]:
        """Close the browser; nothing where none runs."""
        del call
        async with self._turn:
            await self._end()
        return {}

    async def _started(self) -> asyncio.subprocess.Process:
        environment = os.environ | {"PYTHONPATH": os.environ.get("ORION_PYTHONPATH", "/opt/orion")}
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "sandbox.guest.browsing",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=LINE,
            env=environment,
        )

    async def _end(self) -> None:
        child, self._child = self._child, None
        if child is None or child.returncode is not None:
            return
        assert child.stdin is not None
        child.stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(3.0):
                await child.wait()
        if child.returncode is None:
            child.kill()
            await child.wait()


async def _asked(child: asyncio.subprocess.Process, request: dict[str, Any]) -> dict[str, Any]:
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        child.stdin.write(json.dumps(request).encode() + b"\n")
        await child.stdin.drain()
        line = await child.stdout.readline()
    except (ConnectionError, ValueError) as error:
        raise PeerError("browser", f"The browser ended ({error}).") from error
    if not line:
        raise PeerError("browser", "The browser ended. It opens anew with the next call.")
    answer: dict[str, Any] = json.loads(line)
    return answer
