"""Keeps the findings of a long measurement, so that one that was broken off goes on where it stood."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any


class Kept:
    """Findings in the file `path`, one a line. They hold for one `subject` and for the program whose files
    `sources` they were found with; others, and a line that is torn, are passed over."""

    def __init__(self, path: Path, subject: str, sources: Iterable[Path]) -> None:
        digest = hashlib.sha256(subject.encode())
        for source in sorted(sources):
            digest.update(source.read_bytes())
        self._state, self._path = digest.hexdigest()[:16], path
        self._found: dict[str, Any] = {}
        if path.is_file():
            for line in path.read_text("utf-8").splitlines():
                with suppress(ValueError):
                    state, name, finding = json.loads(line)
                    if state == self._state:
                        self._found[name] = finding

    def __contains__(self, name: str) -> bool:
        return name in self._found

    def __getitem__(self, name: str) -> Any:
        return self._found[name]

    def put(self, name: str, finding: Any) -> None:
        """Keep a finding (JSON)."""
        self._found[name] = finding
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write("\n" + json.dumps([self._state, name, finding]))
