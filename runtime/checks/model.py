"""Checks of the model that comes with the program: the file is whole, and the engine answers with it."""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

import resources
from resources.sentences import sentence
from resources.translation import _
from runtime.checks.check import Check

if TYPE_CHECKING:
    from models.generation import Acting, ModelInfo

_ENGINE_SECONDS = 90
_ENGINE_WINDOW = 512
_RECOGNISER = "whisper-"


def bundled(lock: Path | None = None, folder: Path | None = None) -> list[Check]:
    """Every bundled weight is there, has its size and its SHA-256 (format of weights.lock: version 1); files
    of one folder are one check."""
    lock = lock or resources.path("weights.lock")
    folder = folder or resources.weights_dir()
    try:
        listed: list[dict[str, Any]] = json.loads(lock.read_text("utf-8"))["weights"]
    except (OSError, ValueError, KeyError) as error:
        what = _("the list of weights cannot be read: {reason}").format(reason=error)
        return [Check("bundled model", "fail", what, _("Install the program again."))]
    models: dict[str, list[dict[str, Any]]] = {}
    for entry in listed:
        models.setdefault(str(entry["name"]).partition("/")[0], []).append(entry)
    return [_model(folder, name, files) for name, files in models.items()]


def engine(file: Path | None = None) -> Check:
    """The engine's child process loads the bundled model, or `file`, and answers one token."""
    import asyncio

    from models.errors import EngineError

    file = file or next(iter(sorted(resources.weights_dir().glob("*.gguf"))), None)
    if file is None:
        return Check("engine", "fail", _("not tried: there is no model"), _("Run make install to fetch it."))
    began = time.monotonic()
    try:
        info, spoken = asyncio.run(asyncio.wait_for(_one_token(file), _ENGINE_SECONDS))
    except TimeoutError:
        what = _("no answer within {seconds} seconds").format(seconds=_ENGINE_SECONDS)
        return Check("engine", "fail", what, _("Close other programs and try again."))
    except EngineError as error:
        return Check("engine", "fail", sentence(error.code, **error.fields), _("See the other checks above."))
    seconds = f"{time.monotonic() - began:.1f}"
    if not spoken:
        return Check(
            "engine", "fail", _("{model} answered nothing").format(model=info.name), _("Run make install.")
        )
    said = _("{model} answered in {seconds} s").format(model=info.name, seconds=seconds)
    return Check("engine", "ok", f"{said}; {acting(info.acting)}")


def acting(how: Acting) -> str:
    """How sure a model's tool calls are, in words."""
    match how:
        case "guaranteed":
            return _("its tool calls are always well-formed")
        case "parsed":
            return _("its tool calls are read as it writes them and asked for again where one is broken")
        case "fallback":
            return _("tools are explained to it in words, and its calls are always well-formed")
        case _:
            assert_never(how)


async def _one_token(file: Path) -> tuple[ModelInfo, int]:
    """The model and how many tokens it said."""
    from models.generation import Finished, GenerateRequest, LoadOptions
    from models.worker_client import LocalEngine

    engine = LocalEngine()
    options = LoadOptions(str(file), window=_ENGINE_WINDOW)
    request = GenerateRequest(options, "doctor", [{"role": "user", "content": "Hi"}], max_tokens=1)
    spoken = 0
    try:
        info = await engine.load(options)
        async with aclosing(engine.generate(request)) as events:
            async for event in events:
                if isinstance(event, Finished):
                    spoken = event.usage.completion_tokens
    finally:
        await engine.close()
    return info, spoken


def _model(folder: Path, name: str, files: list[dict[str, Any]]) -> Check:
    for entry in files:
        bad = _fault(folder / str(entry["name"]), int(entry["size"]), str(entry["sha256"]))
        if bad is not None:
            return bad
    if name.startswith(_RECOGNISER):
        name = _("the recogniser ({model})").format(model=name.removeprefix(_RECOGNISER))
    size = round(sum(int(entry["size"]) for entry in files) / 1e6)
    what = _("{file}, {size} MB, SHA-256 as listed").format(file=name, size=size)
    return Check("bundled model", "ok", what)


def _fault(file: Path, size: int, digest: str) -> Check | None:
    """What is wrong with a file."""
    mend = _("Run make install to fetch it again.")
    try:
        found = file.stat().st_size
        if found != size:
            what = _("{file} has {found} bytes instead of {size}").format(
                file=file.name, found=found, size=size
            )
            return Check("bundled model", "fail", what, mend)
        whole = _digest(file) == digest
    except OSError as error:
        what = _("{file} cannot be read: {reason}").format(file=file, reason=error.strerror)
        return Check("bundled model", "fail", what, mend)
    if not whole:
        what = _("{file} is damaged: its SHA-256 is not the listed one").format(file=file.name)
        return Check("bundled model", "fail", what, mend)
    return None


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
