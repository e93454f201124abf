"""The traps of conftest close: each small test here breaks one rule, and the run says which."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

CRIMES = {
    "left behind: thread loiterer": """
        import threading
        stop = threading.Event()
        def test_it(): threading.Thread(target=stop.wait, name="loiterer", daemon=True).start()
    """,
    "left behind: process": """
        import subprocess, sys
        child = None
        def test_it():
            global child
            child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    """,
    "left behind: timer": """
        from PySide6.QtCore import QTimer
        def test_it(qapp):
            global timer
            timer = QTimer(interval=100000)
            timer.start()
    """,
    "left behind: widget QLabel": """
        from PySide6.QtWidgets import QLabel
        def test_it(qapp):
            global label
            label = QLabel("hello")
            label.show()
    """,
    "left behind: asyncio said": """
        import asyncio
        def test_it():
            async def fail(): raise ValueError("unread")
            async def main():
                task = asyncio.create_task(fail())
                await asyncio.sleep(0)
            asyncio.run(main())
    """,
    "Qt messages": """
        from PySide6.QtCore import qWarning
        def test_it(qapp): qWarning("a message of Qt")
    """,
    "DeprecationWarning": """
        import warnings
        def test_it(): warnings.warn("old", DeprecationWarning)
    """,
    "ResourceWarning": """
        def test_it(tmp_path):
            file = open(tmp_path / "x", "w")
            file = None
    """,
    "a test may not reach": """
        import socket
        def test_it():
            with socket.socket() as sock:
                sock.connect(("192.0.2.1", 80))
    """,
    "a test may not look up": """
        import socket
        def test_it(): socket.getaddrinfo("example.invalid", 80)
    """,
    "ZeroDivisionError": """
        from PySide6.QtCore import QTimer
        def test_it(qapp, qtbot):
            QTimer.singleShot(0, lambda: 1 / 0)
            qtbot.wait(10)
    """,
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What pytest says about all crimes, committed one after the other in a house with our conftest."""
    house = tmp_path_factory.mktemp("house")
    shutil.copy(ROOT / "tests" / "conftest.py", house)
    shutil.copy(ROOT / "pyproject.toml", house)
    for number, source in enumerate(CRIMES.values()):
        lines = [line[8:] for line in source.splitlines()]
        (house / f"test_crime_{number:02}.py").write_text("\n".join(lines), encoding="utf-8")
    (house / "test_good.py").write_text("def test_good(): pass\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(house), str(house)]
    return subprocess.run(command, cwd=house, capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize(("number", "verdict"), list(enumerate(CRIMES)), ids=list(CRIMES))
def test_each_crime_is_named(report: str, number: int, verdict: str) -> None:
    lines = [line for line in report.splitlines() if f"test_crime_{number:02}" in line]
    assert any(line.startswith(("FAILED", "ERROR")) for line in lines), report
    assert verdict in report, report


def test_a_good_test_passes_among_them(report: str) -> None:
    assert "test_good.py . " in report
