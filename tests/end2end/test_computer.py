"""A person watches the agent work on a real desktop, takes the wheel, and hands it back."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.audit import verify
from tests.end2end.program import Program, until, xdotool
from tests.end2end.test_screen_reader import says
from tests.runtime.scripted_house import call, write_profile
from tests.sandbox.conftest import config, engine, image, machine

__all__ = ["config", "engine", "image", "machine"]

pytestmark = pytest.mark.timeout(400)

TEXT = "Zażółć gęślą jaźń, Ærøskøbing\n漢字とかな\nna koniec 🙂"
NAME = "Ærøskøbing 島"
EDITOR = [79, 783]
"""Where the panel starts the editor."""
LONG = 45.0
"""The agent waits so long that a person can take the wheel meanwhile."""
PAGE = """<!doctype html><title>Form</title><style>body{font:20px sans-serif;margin:3em}</style>
<h1>A form</h1><form onsubmit="document.title='Sent: ' + who.value; return false">
<label>Name <input name="who" id="who"></label> <button>Send</button></form>"""
NEXT: dict[str, Any] = {"wait": 0}
TOOLS = ["bash", "browser", "computer", "computer_elements"]


def computer(action: str, **arguments: Any) -> dict[str, Any]:
    return call("computer", action=action, **arguments)


def once(holds: str) -> dict[str, Any]:
    """A command that ends as soon as `holds` does."""
    return call("bash", command=f"until {holds}; do sleep 0.05; done", timeout=60)


def in_front(title: str) -> dict[str, Any]:
    """A command that ends as soon as a window of that title has the keyboard."""
    return once(f"xdotool getactivewindow getwindowname 2>/dev/null | grep -q {shlex.quote(title)}")


NOTES = "/workspace/notes.txt"
SAVE = f"""
until test -s {NOTES}; do
    name=$(xdotool getactivewindow getwindowname 2>/dev/null)
    sleep 1
    test -s {NOTES} && break
    case $name in
        "Save As") xdotool key ctrl+a; xdotool type {NOTES}; xdotool key Return ;;
        *Mousepad*) xdotool key ctrl+s ;;
    esac
done"""
"""Ends when the note is saved; what the dialog lost, since it had only just come, is typed again."""

STEPS = [
    {"say": "I write a note in the editor first."},
    once("xdotool search --onlyvisible --class tint2 >/dev/null 2>&1"),
    NEXT,
    computer("left_click", coordinate=EDITOR),
    in_front("Mousepad"),
    computer("type", text=TEXT),
    computer("key", text="ctrl+s"),
    in_front("Save As"),
    computer("type", text=NOTES),
    computer("key", text="Return"),
    call("bash", command=SAVE, timeout=60),
    NEXT,
    call("browser", action="open", url="file:///workspace/form.html"),
    call("browser", action="fill", target="Name", text=NAME),
    NEXT,
    computer("wait", duration=LONG),
    NEXT,
    call("browser", action="click", target="Send"),
    call("bash", command=f"cat {NOTES}"),
    computer("screenshot"),
    {"say": "The note is saved and the form was sent."},
]


BEFORE = [step.get("call") for step in STEPS].index(computer("wait", duration=LONG)["call"])
"""The place of the step at which the agent waits."""


@pytest.fixture
def programs(display: str, machine: str) -> Iterator[list[Program]]:
    """Programs put in here are ended whatever happens."""
    del display, machine
    made: list[Program] = []
    yield made
    for program in made:
        if program.exit_code is None:
            program.picture("computer-last")
            program.kill()


def settle(home: Path, theme: str = "light", scale: float = 1.0) -> None:
    home.mkdir(parents=True, exist_ok=True)
    looks = f"appearance:\n  theme: {theme}\n  text_scale: {scale}\n"
    (home / "settings.yaml").write_text(f"version: 1\nagent:\n  profile: test\n{looks}")


def start(programs: list[Program], home: Path, **environment: str) -> Program:
    program = Program(home, **environment)
    programs.append(program)
    until("the runtime", lambda: program.title == "New chat – Orion")
    xdotool("windowmove", program.window, "0", "0")
    xdotool("windowsize", "--sync", program.window, "1270", "770")
    return program


def shown(program: Program, words: str) -> bool:
    """Whether a screen reader finds `words` in something that can be seen."""
    return any("SHOWING" in node["states"] for node in says(program, words))


def audited(home: Path, action: str) -> list[dict[str, Any]]:
    """The audit log's records of an action."""
    path = home / "audit" / "computer_use_log.jsonl"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [record for line in lines if (record := json.loads(line)).get("action") == action]


def test_the_agent_works_the_user_takes_the_wheel_and_it_goes_on(
    programs: list[Program], fresh_home: Path
) -> None:
    write_profile(fresh_home, STEPS, allowed_tools=TOOLS)
    settle(fresh_home)
    folder = fresh_home / "workspace"
    folder.mkdir(parents=True)
    (folder / "form.html").write_text(PAGE, "utf-8")
    program = start(programs, fresh_home, QT_LINUX_ACCESSIBILITY_ALWAYS_ON="1")
    program.type("Write the note and send the form")
    program.press("Return")
    until("the question", lambda: [r for r in program.recorded("approval") if r["phase"] == "asked"])
    program.picture("computer-1-question")

    def approved() -> bool:
        program.press("ctrl+Return")
        return any(record["phase"] == "approve" for record in program.recorded("approval"))

    until("the approval", approved)
    until("the text to be typed", lambda: audited(fresh_home, "type"))
    program.picture("computer-2-agent-types")
    waits = sum("call" in step for step in STEPS[: BEFORE + 1])
    until("the agent to wait", lambda: program.recorded("tool_intent", waits), seconds=120)
    program.picture("computer-3-agent-waits")

    xdotool("mousemove", "1000", "420", "click", "1")
    until("the user's click", lambda: audited(fresh_home, "take_wheel"))
    program.picture("computer-4-user-at-the-wheel")
    assert not program.recorded("done")
    xdotool("keydown", "ctrl", "keydown", "alt", "keyup", "alt", "keyup", "ctrl")
    program.press("shift+Tab")
    program.type("I only looked")
    program.picture("computer-5-note")
    program.press("Return")

    done = until("the turn to end", lambda: program.recorded("done"), seconds=120)
    until("what the user did to be told", lambda: shown(program, "I only looked"))
    until("the review to be offered", lambda: shown(program, "changed in the sandbox"))
    program.picture("computer-6-done")
    assert done[-1]["reason"] == "complete"
    results = [json.dumps(record, ensure_ascii=False) for record in program.recorded("tool_result")]
    assert any(f"Sent: {NAME}" in result for result in results), results[-3:]
    assert any(all(line in result for line in TEXT.splitlines()) for result in results[waits - 1 :]), results[
        -3:
    ]
    assert program.close() == ""
    assert verify(fresh_home / "audit" / "computer_use_log.jsonl").ok


@pytest.mark.parametrize(("theme", "scale"), [("light", 1.0), ("dark", 2.0)])
def test_a_lost_sandbox_is_said_and_started_again_by_keyboard(
    programs: list[Program], fresh_home: Path, machine: str, engine: Any, theme: str, scale: float
) -> None:
    write_profile(fresh_home, STEPS, allowed_tools=TOOLS)
    settle(fresh_home, theme, scale)
    program = start(programs, fresh_home, QT_LINUX_ACCESSIBILITY_ALWAYS_ON="1")
    program.press("ctrl+shift+c")
    until("what it is", lambda: shown(program, "The agent's own computer"))
    program.picture(f"computer-off-{theme}")
    program.press("space")
    until("the sandbox", lambda: shown(program, "Nobody is at the wheel"))
    program.picture(f"computer-idle-{theme}")
    asyncio.run(engine.call(lambda client: client.containers.get(machine).remove(force=True)))
    until("the loss", lambda: shown(program, "The sandbox was lost"))
    program.picture(f"computer-lost-{theme}")
    program.press("space")
    until("the sandbox again", lambda: shown(program, "Nobody is at the wheel"))
    program.picture(f"computer-again-{theme}")
    assert program.close() == ""


def test_without_an_engine_everything_else_works(programs: list[Program], fresh_home: Path) -> None:
    write_profile(fresh_home, [{"say": "I can still talk."}])
    settle(fresh_home)
    nowhere = f"unix://{fresh_home}/nowhere.sock"
    program = start(programs, fresh_home, QT_LINUX_ACCESSIBILITY_ALWAYS_ON="1", DOCKER_HOST=nowhere)
    program.press("ctrl+shift+c")
    until("what it is", lambda: shown(program, "The agent's own computer"))
    program.press("space")
    until("the fault", lambda: shown(program, "Check again"))
    program.picture("computer-no-engine")
    program.press("ctrl+l")
    program.type("Hello")
    program.press("Return")
    until("the answer", lambda: program.recorded("done"))
    program.picture("computer-no-engine-chat")
    assert program.close() == ""
