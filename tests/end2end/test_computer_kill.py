"""The window is killed while the agent works on its computer; the next one finds both as they were."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sandbox.audit import verify
from tests.end2end.program import Program, until
from tests.end2end.test_computer import (
    LONG,
    NEXT,
    computer,
    programs,
    shown,
    start,
)
from tests.runtime.scripted_house import call, write_profile
from tests.sandbox.conftest import config, engine, image, machine

__all__ = ["config", "engine", "image", "machine", "programs"]

pytestmark = pytest.mark.timeout(300)

STEPS = [
    {"say": "I leave a mark and wait."},
    call("bash", command="echo before > /workspace/mark.txt; echo kept > /home/orion/kept.txt"),
    NEXT,
    computer("wait", duration=LONG),
    NEXT,
    call("bash", command="cat /workspace/mark.txt /home/orion/kept.txt"),
    {"say": "Both marks are there."},
]
SETTINGS = "version: 1\nagent:\n  profile: test\n  autonomy: auto\n"


def test_a_killed_window_leaves_a_computer_that_the_next_one_takes_over(
    programs: list[Program], fresh_home: Path, machine: str, engine: Any
) -> None:
    write_profile(fresh_home, STEPS, allowed_tools=["bash", "computer"])
    (fresh_home / "settings.yaml").write_text(SETTINGS)
    program = start(programs, fresh_home)
    program.type("Leave a mark")
    program.press("Return")
    until("the wait to begin", lambda: program.recorded("tool_intent", 2), seconds=120)
    program.kill()
    thing = asyncio.run(engine.call(lambda client: client.containers.get(machine)))
    assert thing.status == "running"

    again = start(programs, fresh_home, QT_LINUX_ACCESSIBILITY_ALWAYS_ON="1")
    again.press("ctrl+Page_Down")
    until("the session", lambda: again.title.startswith("Leave a mark"))
    until("the interrupted turn", lambda: shown(again, "This turn was interrupted"))
    again.picture("computer-after-a-kill")
    again.type("Please go on")
    again.press("Return")
    done = until("the turn to end", lambda: again.recorded("done", 2), seconds=120)
    assert done[-1]["reason"] == "complete"
    last = again.recorded("tool_result")[-1]
    assert "before\nkept" in str(last["parts"][0]["text"])
    taken = asyncio.run(engine.call(lambda client: client.containers.get(machine)))
    assert taken.id == thing.id
    assert again.close() == ""
    left = asyncio.run(
        engine.call(lambda client: client.containers.list(all=True, filters={"name": machine}))
    )
    assert left == []
    assert verify(fresh_home / "audit" / "computer_use_log.jsonl").ok
