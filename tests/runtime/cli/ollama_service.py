"""A server that speaks Ollama's wire format beside commands that run to their end, and a profile for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.wire.ollama import Wire
from tests.wire.server import Play, WireServer


@contextmanager
def ollama_service(home: Path, *plays: Play) -> Iterator[WireServer]:
    """The server on a thread of its own; the profile "mine" at `home` uses it."""
    ready, ended = threading.Event(), asyncio.Event()
    server = WireServer(Wire())
    server.plays(*plays)
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with server:
            ready.set()
            await ended.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), name="ollama-service")
    thread.start()
    assert ready.wait(10)
    profiles = home / "profiles"
    profiles.mkdir(parents=True, exist_ok=True)
    text = f"name: mine\nprovider: ollama\nmodel: gemma:2b\nbase_url: {server.url}\n"
    (profiles / "mine.yaml").write_text(text, "utf-8")
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(10)
        loop.close()
