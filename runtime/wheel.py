"""Who moves the mouse of the agent's computer, and what the user did while it was the user."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runtime.computer_events import Holder
from runtime.pathnames import visible

MOST_FILES = 20
LONGEST_NAME = 120

_WRITTEN = re.compile(r".|U[0-9A-Fa-f]{4,6}|space", re.DOTALL)
"""Names of keys that write a character."""


@dataclass(slots=True)
class Doings:
    """What the user did with mouse and keys, in numbers: typed text may be a secret and is never kept."""

    clicks: int = 0
    scrolls: int = 0
    keys: int = 0
    characters: int = 0

    def take(self, steps: Sequence[Mapping[str, Any]]) -> None:
        """Count steps of the operation `input.act`."""
        for step in steps:
            match step.get("do"):
                case "button" if step.get("down"):
                    self.clicks += 1
                case "scroll":
                    self.scrolls += 1
                case "key":
                    written = _WRITTEN.fullmatch(str(step.get("key", ""))) is not None
                    self.characters += written
                    self.keys += not written
                case "type":
                    self.characters += len(str(step.get("text", "")))

    def told(self) -> str:
        """In words for a model."""
        counts = (
            (self.clicks, "clicked", "time", "times"),
            (self.scrolls, "scrolled", "time", "times"),
            (self.characters, "typed", "character", "characters"),
            (self.keys, "pressed", "other key", "other keys"),
        )
        parts = [f"{verb} {n} {one if n == 1 else many}" for n, verb, one, many in counts if n]
        if not parts:
            return "did nothing with mouse and keys"
        return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


@dataclass(slots=True)
class Wheel:
    """The wheel of one computer. `session` works with it, "" for none; `before` is the picture (JPEG or PNG)
    of the screen when the user took it, `files` the fingerprints of the workspace then, by path."""

    holder: Holder = "nobody"
    session: str = ""
    doings: Doings = field(default_factory=Doings)
    before: bytes | None = None
    files: dict[str, str] = field(default_factory=dict)

    def give(self, session: str) -> None:
        """To the agent in `session`, or to nobody."""
        self.session = session
        self.holder = "agent" if session else "nobody"
        self.doings, self.before, self.files = Doings(), None, {}

    def take(self) -> None:
        """To the user."""
        self.holder = "user"
        self.doings, self.before, self.files = Doings(), None, {}

    def account(self, note: str, files: Mapping[str, str], pictures: int) -> str:
        """What a model is told when it gets the wheel back; `files` are the fingerprints now, `pictures` is
        how many go with it: of the screen before and after, or only after."""
        said = f"The user took the wheel of the computer and has handed it back. They {self.doings.told()}."
        if changed := _changed(self.files, files):
            more = len(changed) - MOST_FILES
            shown = ", ".join(map(_named, changed[:MOST_FILES])) + (f" and {more} more" if more > 0 else "")
            said += f" Files that changed meanwhile: {shown}."
        if note:
            said += f" They say: {note}" + ("" if note.endswith((".", "!", "?", "…")) else ".")
        if pictures == 2:
            said += " The pictures show the screen before and after."
        elif pictures == 1:
            said += " The picture shows the screen as it is now."
        return said + " What you knew of the screen may no longer hold: look again before you act."


def _named(path: str) -> str:
    """A path between marks that it cannot leave: what the sandbox calls its files is not the user's word."""
    return json.dumps(visible(path[:LONGEST_NAME]), ensure_ascii=False)


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    return sorted(
        path for path in before.keys() | after.keys() if before.get(path, "") != after.get(path, "")
    )
