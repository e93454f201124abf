"""What a screen reader is told: every message, every control, and the question when one is asked."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import missing
from tests.end2end.program import Program, until

pytestmark = pytest.mark.timeout(300)
SYSTEM_PYTHON = "/usr/bin/python3"
DUMP = Path(__file__).with_name("atspi_dump.py")


@pytest.fixture
def program(display: str, fresh_home: Path) -> Iterator[Program]:
    del display
    probe = "import gi; gi.require_version('Atspi', '2.0'); from gi.repository import Atspi"
    if subprocess.run([SYSTEM_PYTHON, "-c", probe], capture_output=True, check=False).returncode:
        missing("the screen-reader library of the system's Python (gir1.2-atspi-2.0, python3-gi)")
    fresh_home.mkdir(parents=True, exist_ok=True)
    (fresh_home / "settings.yaml").write_text("version: 1\nagent:\n  profile: orion-demo\n")
    made = Program(fresh_home, QT_LINUX_ACCESSIBILITY_ALWAYS_ON="1")
    until("the runtime", lambda: made.title == "New chat – Orion")
    yield made
    if made.exit_code is None:
        made.kill()


def heard(program: Program) -> list[dict[str, Any]]:
    """Everything a screen reader can reach in the program now."""
    done = subprocess.run(
        [SYSTEM_PYTHON, str(DUMP), str(program.pid)], capture_output=True, text=True, timeout=60, check=False
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def says(program: Program, words: str) -> list[dict[str, Any]]:
    """What contains `words` in its name, description or text."""
    return [
        node
        for node in heard(program)
        if any(words in node[part] for part in ("name", "description", "text"))
    ]


def test_the_chat_can_be_read_and_used_blind(program: Program) -> None:
    nodes = until("the window on the bus", lambda: heard(program))
    names = {node["name"] for node in nodes}
    for control in (
        "Message",
        "Chats",
        "Search all chats",
        "New chat",
        "Attach files (Ctrl+O)",
        "Conversation",
    ):
        assert control in names, control
    buttons = [node for node in nodes if "button" in node["role"] and "SHOWING" in node["states"]]
    assert buttons
    assert [node for node in buttons if not node["name"]] == []

    program.type("Show me what you can do")
    program.press("Return")
    until("the question to be readable", lambda: says(program, "Write a text file in the workspace"))
    assert says(program, "Medium risk")
    assert says(program, "Approve")

    def approved() -> bool:
        program.press("ctrl+Return")
        return bool(program.recorded("done"))

    until("the approval", approved)
    until("the answer to be readable", lambda: says(program, "There it is"))
    messages = [node for node in heard(program) if "list item" in node["role"]]
    spoken = [f"{node['name']} {node['description']} {node['text']}" for node in messages]
    assert any("Show me what you can do" in one for one in spoken), spoken
    assert any("There it is" in one for one in spoken), spoken
    assert any("notes/hello.md" in one for one in spoken), spoken
