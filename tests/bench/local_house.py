"""A real runtime with a model file, for the benches of local answers."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

import resources
from models.library import Library
from runtime.assemble import Runtime, assemble
from runtime.events import Done, ErrorRaised, Event, ResponseChunk, ResponseComplete, UsageReport
from runtime.session import Session

PROFILE = "bench-local"


@dataclass(slots=True)
class Answer:
    """One answer as a door saw it: seconds since the message was sent, and the counts of its usage."""

    first: float = 0.0
    last: float = 0.0
    prompt: int = 0
    cached: int = 0
    tokens: int = 0
    engine_rate: float = 0.0


def bench_model() -> Path:
    """The first file named by ORION_BENCH_MODEL, else the bundled model's."""
    named = os.environ.get("ORION_BENCH_MODEL", "").split(os.pathsep)[0]
    return Path(named) if named else Library((resources.weights_dir(),)).find("bundled").path


@asynccontextmanager
async def local_house(home: Path, settings: dict[str, object], **profile: Any) -> AsyncIterator[Runtime]:
    """A runtime whose profile PROFILE answers with `bench_model()` and no tools, unless `profile` says
    otherwise."""
    folder = home / "profiles"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bench.md").write_text("You tell stories.\n", "utf-8")
    base = {"name": PROFILE, "provider": "local", "model": str(bench_model()), "system_prompt": "bench.md"}
    YAML(typ="safe").dump(base | profile, folder / f"{PROFILE}.yaml")
    async with assemble(home, door="bench") as runtime:
        runtime.save_settings(settings)
        yield runtime


async def answer(session: Session, text: str) -> Answer:
    """Say `text` and time the answer. RuntimeError when the turn fails."""
    found, begin = Answer(), time.perf_counter()
    faults: list[str] = []

    def take(event: Event) -> None:
        now = time.perf_counter() - begin
        match event.body:
            case ResponseChunk():
                found.first = found.first or now
            case ResponseComplete():
                found.last = now
            case UsageReport(prompt=prompt, completion=completion, cached=cached) as usage:
                found.prompt, found.cached, found.tokens = prompt, cached, completion
                found.engine_rate = usage.tokens_per_second
            case ErrorRaised(code=code, fields=fields):
                faults.append(f"{code} {fields}")
            case Done(reason=reason) if reason != "complete":
                faults.append(reason)
            case _:
                pass

    stop = session.subscribe(take)
    try:
        await session.submit(text)
        async with asyncio.timeout(300):
            await session.idle()
    finally:
        stop()
    if faults:
        raise RuntimeError("; ".join(faults))
    return found
