"""Proves that the engine computes on a graphics card: the same answer as the processor's, and how fast."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

import resources
from resources.sentences import sentence
from resources.translation import _
from runtime.checks.check import Check

if TYPE_CHECKING:
    from models.generation import LoadOptions
    from models.worker_client import LocalEngine

_SECONDS = 300
_WINDOW = 1024
_TOKENS = 48
_LIKE = 16
"""Letters of the answers that have to be the same; later ones may part by rounding."""


def graphics(file: Path | None = None) -> Check:
    """Answer with `file` (or the bundled model) on the processor and on the card, and compare. Warns where
    the build or the machine has no card; fails where the card's answer is another one."""
    from models.errors import EngineError

    file = file or next(iter(sorted(resources.weights_dir().glob("*.gguf"))), None)
    if file is None:
        return Check(
            "graphics", "fail", _("not tried: there is no model"), _("Run make install to fetch it.")
        )
    try:
        return asyncio.run(asyncio.wait_for(_compare(file), _SECONDS))
    except TimeoutError:
        what = _("no answer within {seconds} seconds").format(seconds=_SECONDS)
        return Check("graphics", "fail", what, _("Close other programs and try again."))
    except EngineError as error:
        return Check(
            "graphics", "fail", sentence(error.code, **error.fields), _("See the checks of orion doctor.")
        )


async def _compare(file: Path) -> Check:
    from models.generation import LoadOptions
    from models.worker_client import LocalEngine

    engine = LocalEngine()
    try:
        info = await engine.load(LoadOptions(str(file), window=_WINDOW))
        if not info.gpu_build:
            return Check(
                "graphics",
                "warn",
                _("the engine was compiled for the processor alone, so no graphics card was tried"),
                _("With a card: make install ORION_GPU=cuda (or vulkan, metal, rocm)."),
            )
        if not info.gpu_layers:
            return Check(
                "graphics",
                "warn",
                _("the engine could use a graphics card, but finds none with enough free memory"),
                _("Check that the card's driver is installed and that other programs leave it memory."),
            )
        shown = _("{layers} layers on {card}").format(layers=info.gpu_layers, card=info.cards)
        on_card, fast = await _answer(engine, LoadOptions(str(file), window=_WINDOW))
        on_processor, slow = await _answer(engine, LoadOptions(str(file), window=_WINDOW, gpu_layers=0))
    finally:
        await engine.close()
    if on_card[:_LIKE] != on_processor[:_LIKE] or not on_card:
        mend = _("Update the card's driver, or set local_model.gpu_layers to 0.")
        return Check("graphics", "fail", shown + "; " + _("its answer is not the processor's"), mend)
    speeds = _("{fast} tokens/s, on the processor {slow}").format(fast=round(fast, 1), slow=round(slow, 1))
    return Check("graphics", "ok", f"{shown}; {speeds}")


async def _answer(engine: LocalEngine, options: LoadOptions) -> tuple[str, float]:
    """What is said at temperature 0, and tokens a second."""
    from models.generation import Finished, GenerateRequest, Sampling, Text

    asked = [{"role": "user", "content": "Tell me about the sea."}]
    request = GenerateRequest(options, "doctor", asked, sampling=Sampling(0.0), max_tokens=_TOKENS)
    said, speed = "", 0.0
    async with aclosing(engine.generate(request)) as events:
        async for event in events:
            if isinstance(event, Text):
                said += event.text
            elif isinstance(event, Finished):
                speed = event.usage.tokens_per_second
    return said, speed
