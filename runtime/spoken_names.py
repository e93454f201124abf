"""Names that may well be said, from the workspace and the conversation, as hints for the recogniser."""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from itertools import islice
from pathlib import Path

MOST = 40
"""Names that are given at once."""
ENTRIES = 400
"""Files and folders that are looked at."""

_NAME = re.compile(r"(?<![.!?:]\s)(?<!^)\b(?:[A-Z][a-z]+[A-Z]\w*|[A-Z][\w-]{2,}|\w+_\w+)\b", re.MULTILINE)
_WORDS = re.compile(r"[^\W_]{3,}")


class Names:
    """The names of one conversation, the latest last. Used from one thread."""

    def __init__(self) -> None:
        self._said: OrderedDict[str, None] = OrderedDict()

    def note(self, text: str) -> None:
        """Take the names out of a message: words with a capital inside a sentence, and identifiers."""
        for name in _NAME.findall(text[:4000]):
            self._said[name] = None
            self._said.move_to_end(name)
        while len(self._said) > MOST:
            self._said.popitem(last=False)

    def hints(self, workspace: Path) -> tuple[str, ...]:
        """At most MOST names: those of the conversation, the latest first, then those of files."""
        found = dict.fromkeys([*reversed(self._said), *_files(workspace)])
        return tuple(islice(found, MOST))


def _files(folder: Path) -> list[str]:
    """The names of files and folders in `folder` and one level below, in words, without their endings."""
    found: list[str] = []
    places, seen = [folder], 0
    while places and seen < ENTRIES:
        place = places.pop(0)
        try:
            with os.scandir(place) as entries:
                for entry in sorted(islice(entries, ENTRIES), key=lambda one: one.name):
                    seen += 1
                    if entry.name.startswith("."):
                        continue
                    name = " ".join(_WORDS.findall(Path(entry.name).stem))
                    if name:
                        found.append(name)
                    if place == folder and entry.is_dir(follow_symlinks=False):
                        places.append(Path(entry.path))
        except OSError:
            continue
    return found
