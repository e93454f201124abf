"""What a killed process had acknowledged: one JSON line each, written with a single append."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Literal

Kind = Literal["opened", "said", "approved", "result", "done", "undoing", "undone", "titled"]

# The real ones: a sabotaged process must be able to keep its ledger until the last moment.
_WRITE, _OPEN = os.write, os.open


class Ledger:
    """The writing side, in the process that will be killed. What was noted survives SIGKILL."""

    def __init__(self, path: Path) -> None:
        self._fd = _OPEN(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(self, kind: Kind, session: str, **facts: Any) -> None:
        """Write one line; the thing it names was acknowledged before this call."""
        line = json.dumps({"kind": kind, "session": session, **facts}) + "\n"
        _WRITE(self._fd, line.encode("ascii"))


class Acknowledged:
    """The reading side: everything acknowledged in a home so far, in order."""

    def __init__(self, path: Path) -> None:
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
        self._entries: list[dict[str, Any]] = [json.loads(line) for line in lines]

    def of(self, kind: Kind, session: str) -> list[dict[str, Any]]:
        """The entries of a kind in a session, oldest first."""
        return [e for e in self._entries if e["kind"] == kind and e["session"] == session]

    def session_of(self, profile: str) -> str | None:
        """The session that was opened with a profile and used, if any was."""
        used = set(self.sessions())
        opened = [e for e in self._entries if e["kind"] == "opened" and e["profile"] == profile]
        return next((e["session"] for e in reversed(opened) if e["session"] in used), None)

    def sessions(self) -> list[str]:
        """Sessions in which something was acknowledged; one that was only opened need not be kept."""
        return [e["session"] for e in self._entries if e["kind"] != "opened"]

    def __len__(self) -> int:
        return len(self._entries)
