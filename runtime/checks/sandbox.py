"""The check of the agent's own computer: an engine answers, and the image is built."""

from __future__ import annotations

import asyncio

from resources.sentences import sentence
from resources.translation import _
from runtime.checks.check import Check
from runtime.errors import OrionError
from runtime.paths import Home
from sandbox.errors import SandboxError

_NAME = "sandbox"


def sandbox(home: Home) -> Check:
    """An engine answers at the place of the settings, and has the image; nothing is started."""
    from runtime.settings import load_settings

    try:
        host = load_settings(home.settings_file).sandbox.host
        engine, image, built = asyncio.run(_look(host))
    except (SandboxError, OrionError) as error:
        what = _("not set up yet: {reason}").format(reason=sentence(error.code, **error.fields))
        return Check(_NAME, "warn", what, _("Only needed for the agent's own computer."))
    if not built:
        mend = _("Only needed for the agent's own computer: run orion sandbox build.")
        return Check(_NAME, "warn", _("{engine}, image not built yet").format(engine=engine), mend)
    return Check(_NAME, "ok", _("{engine}, image {image}").format(engine=engine, image=image))


async def _look(host: str) -> tuple[str, str, bool]:
    from sandbox.engine import Engine
    from sandbox.image import ImageBuilder

    engine = await Engine.find(host)
    try:
        said, builder = await engine.info(), ImageBuilder()
        told = f"{said.get('OperatingSystem', '')}, {said.get('ServerVersion', '')}, {engine.host}"
        return told, builder.tag, await builder.present(engine)
    finally:
        await engine.close()
