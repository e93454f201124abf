"""Answers of a model shelf to the window's questions, from rows that a test changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.desktop.doubles import RecordingBridge
from tests.desktop.models import rows


class Shelf:
    """Answers the page's questions from rows that a test changes."""

    def __init__(self, bridge: RecordingBridge) -> None:
        self.bridge = bridge
        self.step = 0
        self.downloads: list[rows.Row] = []
        self.run: rows.Row | None = None
        bridge.answers |= {
            "models_here": rows.here(rows.installed(), rows.stronger()),
            "models_recommended": [rows.offer(), rows.offer("m/two", title="Second 2B")],
            "models_search": {"known": [rows.offer()], "found": [], "refused": ""},
            "models_menu": [],
            "model_fetch": rows.download(),
            "model_frees": {"bytes": 2_497_000_000, "files": ["small.gguf"]},
            "model_exam": rows.run(),
            "model_use": {"profile": "orion-local", "model": "maker/small-3-4b"},
        }

    def settle(self) -> None:
        """Answer what was asked; each of the two followers is answered once, with what is so now."""
        self.step += 1
        now = self.step
        self.bridge.answers["models_step"] = lambda seen: self._told(seen, now, "downloads", self.downloads)
        self.bridge.answers["models_exam_step"] = lambda seen: self._told(seen, now, "run", self.run)
        self.bridge.settle()

    def settled(self, is_so: Callable[[], bool]) -> bool:
        """Answer what was asked; whether `is_so` then."""
        self.settle()
        return is_so()

    def _told(self, seen: int, now: int, key: str, value: Any) -> rows.Row:
        return {
            "step": now if seen < now else seen,
            key: [dict(row) for row in value] if key == "downloads" else value,
        }
