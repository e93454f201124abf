"""A module that answers questions with a failing import can be imported beside PySide."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import PySide6.QtWidgets
from desktop.imports import leave_alone
leave_alone()
import touchy
print(touchy.fine)
"""

TOUCHY = """
fine = "imported"
def __getattr__(name):
    if name == "__wrapped__":
        raise ImportError("half made")
    raise AttributeError(name)
"""


def test_pyside_does_not_touch_what_is_imported(tmp_path: Path) -> None:
    (tmp_path / "touchy.py").write_text(TOUCHY)
    places = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(Path.cwd())!r}]"
    done = subprocess.run(
        [sys.executable, "-c", places + PROGRAM], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stdout, done.returncode) == ("imported\n", 0), done.stderr
