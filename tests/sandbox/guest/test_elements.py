"""Elements under other windows are left out, and a walk that hangs or fails has none."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sandbox.guest import elements
from sandbox.guest.elements import covered

LOWER, UPPER = (100, 100, 500, 500), (400, 300, 900, 700)


def element(
    x: int, y: int, role: str = "push button", within: tuple[int, ...] = (99, 78, 402, 424)
) -> dict[str, object]:
    return {"role": role, "x": x, "y": y, "width": 40, "height": 20, "within": list(within)}


def test_what_lies_under_another_window_is_covered() -> None:
    assert not covered(element(120, 120), [LOWER, UPPER])
    assert covered(element(420, 350), [LOWER, UPPER])
    assert not covered(element(420, 350), [UPPER, LOWER])


def test_menus_and_unknown_windows_are_above_all() -> None:
    assert not covered(element(420, 350, "menu item"), [LOWER, UPPER])
    assert not covered(element(420, 350, within=(390, 340, 90, 60)), [LOWER, UPPER])
    assert not covered(element(420, 350), [])


@pytest.mark.parametrize("script", ["raise SystemExit(1)", "print('[1]')", "while True: pass"])
def test_a_walk_that_fails_has_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    walk = tmp_path / "walk.py"
    walk.write_text(script, "utf-8")
    monkeypatch.setattr(elements, "_SCRIPT", walk)
    monkeypatch.setattr(elements, "PATIENCE", 0.5 if "while" in script else 10.0)
    found = asyncio.run(elements._walked(10, 800, 600))
    assert found == {"window": "", "elements": [], "complete": False}
