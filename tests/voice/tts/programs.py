"""Makes a Python source of these tests a program that can be started by its path."""

from __future__ import annotations

import sys
from pathlib import Path


def program(folder: Path, name: str, source: Path) -> Path:
    """An executable called `name` in `folder` that runs `source` with this interpreter."""
    made = folder / name
    made.write_text(f"#!{sys.executable}\n{source.read_text(encoding='utf-8')}", encoding="utf-8")
    made.chmod(0o755)
    return made
