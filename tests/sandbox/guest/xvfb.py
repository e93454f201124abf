"""A private X server that keeps its screen in a file, for tests of what reads it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import missing

WIDTH, HEIGHT = 330, 210
"""No multiple of a tile, so that the last ones are cut."""


@contextmanager
def xvfb(folder: Path) -> Iterator[str]:
    """Its name; it has ended when the context has."""
    if shutil.which("Xvfb") is None:
        missing("Xvfb")
    reading, writing = os.pipe()
    command = [
        "Xvfb",
        "-screen",
        "0",
        f"{WIDTH}x{HEIGHT}x24",
        "-nolisten",
        "tcp",
        "-noreset",
        "-fbdir",
        str(folder),
    ]
    server = subprocess.Popen(
        [*command, "-displayfd", str(writing)], pass_fds=[writing], stderr=subprocess.DEVNULL
    )
    os.close(writing)
    try:
        with os.fdopen(reading) as told:
            yield f":{told.readline().strip()}"
    finally:
        server.terminate()
        server.wait(10)
