"""Asks an engine and gathers what it says, for the tests of this room."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from models.generation import (
    Finished,
    GenerateEvent,
    GenerateRequest,
    JsonObject,
    LoadOptions,
    Reasoning,
    Sampling,
    Text,
)
from models.worker_client import EngineState, LocalEngine
from models.worker_process import Limits

FAKE = (sys.executable, str(Path(__file__).parent / "fake_worker.py"))
"""Starts a worker whose engine does what the following argument says."""

LIMITS = Limits(start=60, silence=3, stall=20, settle=2)


def said(role: str, text: str) -> JsonObject:
    return {"role": role, "content": text}


def user(text: str) -> list[JsonObject]:
    return [said("user", text)]


def ask(
    options: LoadOptions,
    messages: list[JsonObject],
    *,
    session: str = "s",
    most: int = 8,
    temperature: float = 0.0,
) -> GenerateRequest:
    return GenerateRequest(
        options, session, messages, sampling=Sampling(temperature=temperature, seed=7), max_tokens=most
    )


@dataclass
class Answer:
    """Everything one request yielded."""

    events: list[GenerateEvent] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, Text))

    @property
    def reasoning(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, Reasoning))

    @property
    def finished(self) -> Finished:
        (last,) = [event for event in self.events if isinstance(event, Finished)]
        return last


async def answer(engine: LocalEngine, request: GenerateRequest) -> Answer:
    """The whole answer."""
    return Answer([event async for event in engine.generate(request)])


@asynccontextmanager
async def running(
    command: tuple[str, ...] | None = None,
    limits: Limits = LIMITS,
    on_state: Callable[[EngineState], None] | None = None,
) -> AsyncIterator[LocalEngine]:
    """An engine that is closed at the end."""
    engine = LocalEngine(command, limits, on_state)
    try:
        yield engine
    finally:
        await engine.close()


def play(scene: Callable[[LocalEngine], Awaitable[None]], command: tuple[str, ...] | None = None) -> None:
    """Run a scene with an engine of its own in a fresh event loop."""

    async def main() -> None:
        async with running(command) as engine:
            await scene(engine)

    asyncio.run(main())
