"""Checks of the model that comes with the program: the file is whole, and the engine answers with it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import resources
from resources.translation import _
from runtime.checks.check import Check

_PIECE = 1 << 20


def bundled(lock: Path | None = None, folder: Path | None = None) -> list[Check]:
    """Every bundled weight is there, has its size and its SHA-256 (format of weights.lock: version 1)."""
    lock = lock or resources.path("weights.lock")
    folder = folder or resources.weights_dir()
    try:
        listed: list[dict[str, Any]] = json.loads(lock.read_text("utf-8"))["weights"]
    except (OSError, ValueError, KeyError) as error:
        what = _("the list of weights cannot be read: {reason}").format(reason=error)
        return [Check("bundled model", "fail", what, _("Install the program again."))]
    return [
        _weight(folder / str(entry["name"]), int(entry["size"]), str(entry["sha256"])) for entry in listed
    ]


def _weight(file: Path, size: int, digest: str) -> Check:
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
    what = _("{file}, {size} MB, SHA-256 as listed").format(file=file.name, size=round(size / 1e6))
    return Check("bundled model", "ok", what)


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
