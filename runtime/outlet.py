"""The mouth of a session: stamps events, gathers chunks, and hands them to the doors that listen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from runtime.events import Body, Event, Listener, ResponseChunk, ThinkingChunk, ToolChunk

Chunk = ResponseChunk | ThinkingChunk | ToolChunk
INTERVAL = 1 / 30


class Outlet:
    """Events in order, numbered from 1; chunks at most 30 a second, the first one at once.

    Used from the runtime's loop only. `turn` is stamped on every event.
    """

    def __init__(self, session: str) -> None:
        self.turn = ""
        self._session = session
        self._seq = 0
        self._listeners: list[Listener] = []
        self._held: Chunk | None = None
        self._texts: list[str] = []
        self._last = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def listened(self) -> bool:
        """Whether any door listens."""
        return bool(self._listeners)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every event from now on; returns what ends that."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def emit(self, body: Body) -> None:
        """Send an event now, after what was gathered before it."""
        if isinstance(body, ResponseChunk | ThinkingChunk | ToolChunk):
            self._gather(body)
            return
        self.flush()
        self._send(body)

    def _gather(self, chunk: Chunk) -> None:
        held = self._held
        if held is not None and (
            type(held) is not type(chunk) or getattr(held, "id", "") != getattr(chunk, "id", "")
        ):
            self.flush()
        self._held = chunk
        self._texts.append(chunk.text)
        wait = self._last + INTERVAL - time.monotonic()
        if wait <= 0:
            self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(wait, self.flush)

    def flush(self) -> None:
        """Send what was gathered."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        held, self._held = self._held, None
        if held is None:
            return
        text = "".join(self._texts)
        self._texts.clear()
        self._last = time.monotonic()
        match held:
            case ToolChunk(id=call):
                self._send(ToolChunk(call, text))
            case ThinkingChunk():
                self._send(ThinkingChunk(text))
            case ResponseChunk():
                self._send(ResponseChunk(text))

    def _send(self, body: Body) -> None:
        self._seq += 1
        event = Event(self._seq, self._session, self.turn, time.time(), body)
        for listener in list(self._listeners):
            listener(event)
