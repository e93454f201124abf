"""A person at the keyboard: ask, watch, stop, approve, undo, close, and find all of it again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end2end.program import Program, until

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def programs(display: str) -> Iterator[list[Program]]:
    """Programs put in here are ended whatever happens."""
    del display
    made: list[Program] = []
    yield made
    for program in made:
        if program.exit_code is None:
            program.kill()


def start(programs: list[Program], home: Path, **environment: str) -> Program:
    program = Program(home, **environment)
    programs.append(program)
    until("the runtime", lambda: program.title == "New chat – Orion" or "Orion" not in program.title[:6])
    return program


def use(home: Path, profile: str, theme: str = "light") -> None:
    home.mkdir(parents=True, exist_ok=True)
    settings = f"version: 1\nagent:\n  profile: {profile}\nappearance:\n  theme: {theme}\n"
    (home / "settings.yaml").write_text(settings)


def test_ask_watch_and_stop_the_model_on_this_machine(programs: list[Program], fresh_home: Path) -> None:
    use(fresh_home, "orion-local")
    program = start(programs, fresh_home)
    program.picture("1-empty-light")
    program.type("Tell me a story about a lighthouse, as long as you can.")
    program.press("Return")
    until("the message on disk", lambda: program.recorded("user"))

    said = program.ink()
    grown: list[int] = []

    def streams() -> bool:
        ink = program.ink()
        if ink > max([said * 3 // 2, *grown]):
            grown.append(ink)
        return len(grown) >= 3

    until("the answer to grow on the screen", streams)
    assert not program.recorded("assistant")
    program.picture("2-streaming-light")
    program.press("Escape")
    done = until("the turn to end", lambda: program.recorded("done"))
    program.picture("3-stopped-light")
    assert done[-1]["reason"] == "cancelled"
    assert program.recorded("assistant")[-1]["text"]
    program.close()

    again = start(programs, fresh_home)
    until("the session to be found again", lambda: again.title.startswith("Tell me a story"))
    again.picture("4-found-again-light")
    again.close()
    assert again.exit_code == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_write_a_file_approve_it_and_take_it_back(
    programs: list[Program], fresh_home: Path, theme: str
) -> None:
    use(fresh_home, "orion-demo", theme)
    note = fresh_home / "workspace" / "notes" / "hello.md"
    program = start(programs, fresh_home)
    program.type("Show me what you can do")
    program.press("Return")
    until("the question", lambda: [r for r in program.recorded("approval") if r["phase"] == "asked"])
    program.press("Return")
    assert not note.exists()

    def approved() -> bool:
        program.press("ctrl+Return")
        return any(record["phase"] == "approve" for record in program.recorded("approval"))

    program.picture(f"5-approval-{theme}")
    until("the approval", approved)
    until("the file", note.exists)
    until("the turn to end", lambda: program.recorded("done"))
    program.picture(f"6-answered-{theme}")

    program.press("F6", "F6", "Home")

    def undone() -> bool:
        program.press("u")
        if program.recorded("undo"):
            return True
        program.press("Down")
        return False

    until("the undo", undone)
    until("the file to be gone", lambda: not note.exists())
    program.picture(f"7-undone-{theme}")
    program.press("ctrl+comma")
    program.picture(f"8-settings-{theme}")
    assert program.close() == ""
    assert program.exit_code == 0


def test_a_draft_and_the_session_survive_a_kill(programs: list[Program], fresh_home: Path) -> None:
    use(fresh_home, "orion-demo")
    program = start(programs, fresh_home)
    program.type("First message")
    program.press("Return")
    until("the question", lambda: program.recorded("approval"))
    program.type("half a thought")
    until("the draft on disk", lambda: _drafts(fresh_home) == ["half a thought"])
    program.kill()

    again = start(programs, fresh_home)
    until("the window", lambda: "Orion" in again.title)
    assert _drafts(fresh_home) == ["half a thought"]
    again.press("ctrl+Page_Down")
    until("the session", lambda: again.title.startswith("First message"))
    again.picture("9-after-a-kill-light")
    assert again.recorded("user")[0]["text"] == "First message"
    again.close()


def test_a_second_start_raises_the_first(programs: list[Program], fresh_home: Path) -> None:
    import os
    import subprocess
    import sys

    import desktop.launch

    use(fresh_home, "orion-demo")
    start(programs, fresh_home)
    second = subprocess.run(
        [sys.executable, desktop.launch.__file__],
        env=os.environ | {"ORION_HOME": str(fresh_home)},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (second.returncode, second.stdout, second.stderr) == (0, b"", b"")


def _drafts(home: Path) -> list[str]:
    return [path.read_text() for path in (home / "drafts").glob("*.txt")]
