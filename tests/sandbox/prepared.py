"""The real image, built before the first test that needs it, because that takes minutes on a new machine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

import pytest

from installer import containers
from sandbox.engine import Engine
from sandbox.errors import SandboxError
from sandbox.image import ImageBuilder


def prepare(items: Iterable[pytest.Item], say: Callable[[str], None]) -> None:
    """Build the image where one of `items` asks for it and an engine is there. What fails here is reported by
    the fixture, which tries again."""
    if not any("image" in getattr(item, "fixturenames", ()) for item in items):
        return

    async def build() -> None:
        engine = await Engine.find()
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
