"""The real image, built before the first test that needs it, because that takes minutes on a new machine."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path

import pytest

from installer import containers, podman
from sandbox.engine import Engine
from sandbox.errors import SandboxError
from sandbox.image import ImageBuilder


def prepare(items: Iterable[pytest.Item], say: Callable[[str], None]) -> None:
    """Build the image in each engine that one of `items` asks for and that is there. What fails here is
    reported by the fixture, which tries again."""
    asked = {name for item in items for name in getattr(item, "fixturenames", ())}
    if "image" in asked:
        _prepare("", say)
    if "podman" in asked and podman.possible():
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="orion-podman-")))
            try:
                address = podman.start(stack, folder, os.environ).address
            except containers.EngineError as problem:
                say(str(problem))
            else:
                _prepare(address, say)


def _prepare(address: str, say: Callable[[str], None]) -> None:
    async def build() -> None:
        engine = await Engine.find(address)
        try:
            if not await ImageBuilder().present(engine):
                say("building the image of the sandbox; from nothing that takes about five minutes")
            await built(engine)
        finally:
            await engine.close()

    try:
        asyncio.run(build())
    except (SandboxError, containers.BaseImageError) as problem:
        say(f"the image of the sandbox was not built: {problem}")


async def built(engine: Engine) -> str:
    """The name of the image, made from the test-bed's base image where it is not there yet."""
    builder = ImageBuilder()
    if await builder.present(engine):
        return builder.tag
    base = await engine.call(containers.base_image)
    return await builder.build(engine, base=base, network="host", told=lambda line, part: None)
