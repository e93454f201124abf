"""The entry point loads nothing it does not need and sends each call to its place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import desktop.launch
from desktop.launch import main

LAUNCH = str(Path(desktop.launch.__file__))


def run(*arguments: str, code: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    import os

    command = [sys.executable, "-c", code] if code else [sys.executable, LAUNCH, *arguments]
    inherited = {
        name: value for name, value in os.environ.items() if name not in ("DISPLAY", "QT_QPA_PLATFORM")
    }
    return subprocess.run(
        command,
        env=inherited | environment,
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def test_the_entry_point_loads_no_qt() -> None:
    code = "import sys, desktop.launch; sys.exit(any(name.startswith('PySide6') for name in sys.modules))"
    assert run(code=code).returncode == 0


def test_an_unknown_worker_is_named(capsys: object) -> None:
    del capsys
    found = run("--worker", "nobody")
    assert found.returncode == 2
    assert found.stderr.strip() == "There is no worker called nobody."
    assert main(["--worker"]) == 2


def test_arguments_go_to_the_command_line() -> None:
    found = run("--help")
    assert found.returncode == 0
    assert "ask" in found.stdout


def test_without_a_display_one_line_says_so_and_the_terminal_chat_opens() -> None:
    found = run(WAYLAND_DISPLAY="")
    assert found.stderr.splitlines()[0] == "There is no display here, so here is the chat in the terminal."
    assert "Traceback" not in found.stderr


def test_the_window_code_loads_neither_the_agent_nor_the_markdown_parser() -> None:
    heavy = [
        "runtime.assemble",
        "runtime.session",
        "asyncio",
        "pydantic",
        "markdown_it",
        "pygments",
        "apsw",
        "numpy",
        "llama_cpp",
    ]
    code = f"import sys, desktop.application; print([name for name in {heavy!r} if name in sys.modules])"
    found = run(code=code)
    assert found.stdout.strip() == "[]", found.stdout + found.stderr


def test_the_chat_shares_no_heavy_import_with_the_thread_that_loads_the_agent_meanwhile() -> None:
    code = (
        "import importlib, sys\n"
        "from desktop.application import CHAT_PARTS\n"
        "for part in CHAT_PARTS: importlib.import_module(part)\n"
        "print([name for name in ('pydantic', 'asyncio', 'apsw') if name in sys.modules])"
    )
    found = run(code=code)
    assert found.stdout.strip() == "[]", found.stdout + found.stderr
