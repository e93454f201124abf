"""Which strings name a file inside the workspace: relative POSIX paths that mean the same on every system."""

from __future__ import annotations

import os
import re
import unicodedata

from runtime.errors import OrionError

IDENTITY = ("SOUL.md", "USER.md")
"""The workspace's files that are told to the model in every chat: who it is, and who the user is."""

MAX_DEPTH = 64
MAX_NAME = 255
MAX_PATH = 4096

_DRIVE = re.compile(r"[A-Za-z]:")
_DEVICES = {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"}
_DEVICES |= {f"{port}{digit}" for port in ("COM", "LPT") for digit in "0123456789¹²³"}
_UNSEEN = {"Cc", "Cf", "Zl", "Zp"}
_FILLERS = set("\u115f\u1160\u2800\u3164\uffa0\u034f\u17b4\u17b5")


def is_identity(path: str) -> bool:
    """Whether a path means one of the identity files on some system, however it is written."""
    plain = unicodedata.normalize("NFKC", os.path.normpath(path.replace("\\", "/"))).casefold()
    return plain in {name.casefold() for name in IDENTITY}


class WorkspaceError(OrionError):
    """A refusal of the workspace: a path that is not allowed, or a fault of the file system below it."""


def split(path: str) -> tuple[str, ...]:
    """The components of a workspace-relative path; empty and "." name the workspace itself.

    Raises WorkspaceError for whatever could lead outside, name a device or a hidden stream, or look like
    another name than it is. A name that is not UTF-8 on disk is allowed in Python's surrogate form.
    """
    shown = visible(path)
    if path.startswith(("/", "\\", "~")) or _DRIVE.match(path):
        raise WorkspaceError("workspace_path_absolute", path=shown)
    if len(path) > MAX_PATH:
        raise WorkspaceError("workspace_path_long", path=shown[:80] + "…")
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if ".." in parts:
        raise WorkspaceError("workspace_path_outside", path=shown)
    if len(parts) > MAX_DEPTH:
        raise WorkspaceError("workspace_path_long", path=shown[:80] + "…")
    for part in parts:
        _check(part, shown)
    return parts


def visible(text: str) -> str:
    """`text` with every unseen character and lone surrogate written as an escape, for sentences."""
    return "".join(
        ascii(char)[1:-1] if _unseen(char) or unicodedata.category(char) == "Cs" else char for char in text
    )


def is_name(name: str) -> bool:
    """Whether `name`, as a directory listing gave it, is one that `split` accepts as a component."""
    try:
        return split(name) == (name,)
    except WorkspaceError:
        return False


def _unseen(char: str) -> bool:
    return unicodedata.category(char) in _UNSEEN or char in _FILLERS


def _check(part: str, shown: str) -> None:
    if any(_unseen(char) for char in part):
        raise WorkspaceError("workspace_name_unseen", path=shown)
    if ":" in part or "\\" in part or part != part.rstrip(". "):
        raise WorkspaceError("workspace_name_refused", path=shown)
    if part.split(".", 1)[0].rstrip(" ").upper() in _DEVICES:
        raise WorkspaceError("workspace_name_device", path=shown)
    try:
        encoded = os.fsencode(part)
    except UnicodeEncodeError:
        raise WorkspaceError("workspace_name_refused", path=shown) from None
    if os.fsdecode(encoded) != part:  # surrogates that spell an ordinary character on disk
        raise WorkspaceError("workspace_name_refused", path=shown)
    if len(encoded) > MAX_NAME:
        raise WorkspaceError("workspace_path_long", path=shown[:80] + "…")
