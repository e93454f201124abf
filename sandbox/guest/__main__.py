"""The guest: one process in the container that serves the host over two streams and ends with them."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Any

from sandbox.guest import fence, reign
from sandbox.guest.desk import GuestDesk
from sandbox.guest.peer import Call, Operation, Peer
from sandbox.guest.streams import hand_over, keep_protocol, listen, streams, taken_over

AREAS: dict[str, bool] = {
    "screen": True,
    "act": True,
    "elements": True,
    "clipboard": True,
    "browser": True,
    "shell": False,
    "files": False,
    "relay": False,
}
"""Modules of this package with `operations(desk)`, and whether they need a screen."""

FOLDER = "/run/orion"
"""Where the guest keeps its socket; ORION_RUN names another."""

LAST = 8.0
"""Seconds that the guest may take to end."""

PATIENCE = 10.0
"""Seconds for the screen, and for the second stream, to come."""


def main(arguments: list[str]) -> int:
    """`control TOKEN` runs the guest until its stream ends, `bulk TOKEN` gives it its second stream. The host
    makes a token for each time it attaches."""
    role, token = arguments
    folder = os.environ.get("ORION_RUN", FOLDER)
    path, tag = f"{folder}/guest-{token}.sock", f"{folder}|{token}"
    if role == "bulk":
        return hand_over(path, PATIENCE)
    reading, writing = keep_protocol()
    fence.put_up()
    os.makedirs(folder, 0o700, exist_ok=True)  # the machine may still be starting
    os.environ[reign.TAG] = tag
    os.environ.pop("PYTHONPATH", None)
    try:
        asyncio.run(_Guest(tag, path).serve(reading, writing))
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    return 0


class _Guest:
    def __init__(self, tag: str, path: str) -> None:
        self._tag, self._path = tag, path
        self._desk = GuestDesk()
        self._operations: dict[str, Operation] = {"desk": self._on_desk}
        self._over = asyncio.Event()
        self._opened: asyncio.Task[None] | None = None

    async def serve(self, reading: int, writing: int) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self._over.set)
        listener = listen(self._path)
        control = self._desk.control = Peer(*await streams(reading, writing), self._operations)
        self._opened = asyncio.create_task(self._open())
        work = [self._run(control.run), self._run(lambda: self._bulk(listener)), self._opened]
        work.append(self._run(control.wait_ended))
        try:
            await self._over.wait()
        finally:
            self._end_anyway()
            for task in (*work, *self._desk.tasks):
                task.cancel()
            await asyncio.gather(*work, *self._desk.tasks, return_exceptions=True)
            listener.close()
            await asyncio.to_thread(reign.end, self._tag)
            if self._desk.display is not None:
                self._desk.display.close()

    def _end_anyway(self) -> None:
        """No work that cannot be cancelled and no stuck library keeps a guest alive that nobody hears."""

        def end() -> None:
            reign.end(self._tag)
            os._exit(1)

        timer = threading.Timer(LAST, end)
        timer.daemon = True
        timer.start()

    def _run(self, work: Callable[[], Awaitable[Any]]) -> asyncio.Task[None]:
        async def until_over() -> None:
            try:
                await work()
            finally:
                self._over.set()

        return asyncio.create_task(until_over())

    async def _open(self) -> None:
        """What takes its time and need not hold up the hello: an older guest's end, the screen, the areas."""
        await asyncio.to_thread(reign.begin, self._tag)
        name = os.environ.get("DISPLAY", "")
        if name:
            display = await asyncio.to_thread(importlib.import_module, "sandbox.guest.display")
            folder = os.environ.get("ORION_SCREEN", f"{FOLDER}/screen")
            self._desk.display = await display.Display.open(name, folder, PATIENCE)
        for area, needs_screen in AREAS.items():
            if name or not needs_screen:
                module = await asyncio.to_thread(importlib.import_module, f"sandbox.guest.{area}")
                self._operations.update(module.operations(self._desk))

    async def _bulk(self, listener: Any) -> None:
        """Serve the second stream, under the same operations."""
        reading, writing, connection = await taken_over(listener)
        with connection:
            self._desk.bulk = Peer(*await streams(reading, writing), self._operations)
            await self._desk.bulk.run()

    async def _on_desk(self, call: Call) -> dict[str, Any]:
        """{screen: [width, height] or null} once everything is there; PeerError("display_missing")."""
        if self._opened is not None:
            await asyncio.shield(self._opened)
        display = self._desk.display
        return {"screen": [display.width, display.height] if display else None}


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
