"""The picture of all rows can be made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from PySide6.QtGui import QImage


def test_the_gallery_writes_a_picture(tmp_path: Path) -> None:
    out = tmp_path / "rows.png"
    command = [sys.executable, "-m", "desktop.chat.gallery", str(out), "--dark", "--scale", "2"]
    root = Path(__file__).parents[3]
    subprocess.run(
        command, check=True, cwd=root, env=os.environ | {"QT_QPA_PLATFORM": "offscreen"}, timeout=60
    )
    picture = QImage(str(out))
    assert picture.width() == 1800
    assert picture.height() > 3000
