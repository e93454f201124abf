"""A voice child of a test's own, with what it told in order."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self, TypeVar

from resources import recogniser_dir
from voice.client import VoiceClient, default_command
from voice.config import VoiceConfig
from voice.events import Final, Level, State, Trouble, VoiceEvent

PATIENCE = 15.0
"""Seconds that any event may take."""

Event = TypeVar("Event", bound=VoiceEvent)


def bundled(**changes: object) -> VoiceConfig:
    """The configuration in which everything is what the program brings along."""
    given = {"recogniser": str(recogniser_dir()), "language": "en"} | changes
    return VoiceConfig(**given)  # type: ignore[arg-type]


@dataclass
class Talk:
    """Starts the child on entry and closes it on exit; used in one asyncio loop."""

    config: VoiceConfig = field(default_factory=bundled)
    command: Sequence[str] = field(default_factory=default_command)

    def __post_init__(self) -> None:
        self.events: list[VoiceEvent] = []
        self.times: list[float] = []
        self.client = VoiceClient(self.command, self._on_event)
        self._read = 0
        self._news: asyncio.Event | None = None

    async def __aenter__(self) -> Self:
        self._news = asyncio.Event()
        await self.client.start(self.config)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.client.close()

    async def until(self, kind: type[Event], fits: Callable[[Event], bool] = lambda event: True) -> Event:
        """The next event of this kind that fits; all before it count as read."""
        assert self._news is not None
        deadline = time.monotonic() + PATIENCE
        while True:
            while self._read < len(self.events):
                event = self.events[self._read]
                self._read += 1
                if isinstance(event, kind) and fits(event):
                    return event
            self._news.clear()
            try:
                async with asyncio.timeout(deadline - time.monotonic()):
                    await self._news.wait()
            except TimeoutError:
                raise AssertionError(f"no {kind.__name__} came; told was {self.told()}") from None

    async def state(self, state: str) -> None:
        """Wait for the state."""
        await self.until(State, lambda event: event.state == state)

    async def listening(self) -> None:
        """Wait until an utterance is under way and the microphone is open."""
        await self.until(State, lambda event: event.state == "hearing" and event.open)

    @property
    def last_time(self) -> float:
        """When the event that was read last came (time.monotonic)."""
        return self.times[self._read - 1]

    def told(self) -> list[VoiceEvent]:
        """All events but the levels."""
        return [event for event in self.events if not isinstance(event, Level)]

    def troubles(self) -> list[str]:
        """The codes of all troubles."""
        return [event.code for event in self.events if isinstance(event, Trouble)]

    def finals(self) -> list[str]:
        """The texts of all utterances."""
        return [event.text for event in self.events if isinstance(event, Final)]

    def _on_event(self, event: VoiceEvent) -> None:
        self.events.append(event)
        self.times.append(time.monotonic())
        if self._news is not None:
            self._news.set()
