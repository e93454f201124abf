"""A machine of the sandbox for benches: the real image on the real engine, gone afterwards."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from installer import containers
from sandbox.channel import Guest
from sandbox.container import MachineConfig
from sandbox.engine import Engine
from sandbox.image import ImageBuilder
from sandbox.machine import Machine


@asynccontextmanager
async def machine() -> AsyncIterator[tuple[Machine, Guest, Any]]:
    """A started desktop, its guest, and its container as docker-py has it. SandboxError without an engine."""
    engine = await Engine.find()
    try:
        builder = ImageBuilder()
        if not await builder.present(engine):
            base = await engine.call(containers.base_image)
            await builder.build(engine, base=base, network="host", told=lambda line, part: None)
        name = f"orion-bench-{os.getpid()}"
        config = MachineConfig(name=name, volume=name, labels={"orion.test": str(os.getpid())})
        made = Machine(engine, config)
        try:
            guest = await made.start()
            yield made, guest, await engine.call(lambda client: client.containers.get(name))
        finally:
            await made.reset()
    finally:
        await engine.close()


async def elapse(seconds: float) -> None:
    """Let time pass that is measured, or that programs take to open."""
    with suppress(TimeoutError):
        await asyncio.wait_for(asyncio.Event().wait(), seconds)


async def program(made: Machine, container: Any, source: str, *arguments: str) -> str:
    """What a Python program prints that runs in the container until it ends."""
    command = ["python3", "-c", source, *arguments]
    found = await made.engine.call(lambda client: container.exec_run(command))
    if found.exit_code:
        raise RuntimeError(found.output.decode()[-500:])
    return str(found.output.decode())
