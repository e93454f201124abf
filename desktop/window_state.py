"""What the window remembers between two starts: place, sidebar, last session, and how it looked."""

from __future__ import annotations

import json
import logging
import os
from dataclasses import asdict, dataclass
from pathlib import Path

VERSION = 1
_log = logging.getLogger("orion.desktop.window_state")


@dataclass(slots=True)
class WindowState:
    """`geometry` is Qt's saveGeometry in base64, `voice` whether the voice was used the last time, `pane`
    whether the live pane was open and `pane_share` its part of the width, 0–1. Theme, text scale and
    language repeat the settings, so that the first frame looks right before these are read."""

    geometry: str = ""
    sidebar: bool = True
    session: str = ""
    voice: bool = False
    pane: bool = False
    pane_share: float = 0.0
    theme: str = "system"
    text_scale: float = 1.0
    language: str = ""


def load(path: Path) -> WindowState:
    """The state in `path`; the defaults where it is missing, damaged or of a newer program."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return WindowState()
    state = WindowState()
    if not isinstance(data, dict) or data.get("v") != VERSION:
        return state
    for name, default in asdict(state).items():
        found = data.get(name, default)
        if type(found) is type(default):
            setattr(state, name, found)
    state.text_scale = min(2.5, max(0.7, state.text_scale))
    return state


def save(path: Path, state: WindowState) -> bool:
    """Write the state; False, with a line in the log, where that cannot be done."""
    try:
        write_atomically(path, json.dumps({"v": VERSION, **asdict(state)}, indent=1).encode())
    except OSError as error:
        _log.warning("window state not saved: %s", error)
        return False
    return True


def write_atomically(path: Path, data: bytes) -> None:
    """Replace `path` by `data` whole or not at all; OSError when the disk is full or read-only."""
    fresh = path.with_name(path.name + ".new")
    try:
        with fresh.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
