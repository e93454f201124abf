"""A person fetches a model: search, fit, download, pause, a power cut, resume, exam, switch, delete."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import resources
from tests.conftest import missing
from tests.end2end.program import Program, until, xdotool
from tests.wire.hub import HubServer

pytestmark = pytest.mark.timeout(600)

SYSTEM_PYTHON = "/usr/bin/python3"
DUMP = Path(__file__).with_name("atspi_dump.py")
REPOSITORY = "quokka-labs/Quokka-135M-Instruct-GGUF"
FILE = "Quokka-135M-Instruct-Q4_1.gguf"
HOST = "0.0.0.0"
"""Leads to this machine but is no name for it, so that a permission is needed as for any other host."""

SLOW, FAST = 6_000_000, 0
"""Bytes a second of the hub, the second as fast as it goes."""

LONG = 240.0
"""Seconds that a person would wait for an exam."""


class Person:
    """Sees what a screen reader hears, and uses mouse and keyboard."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def heard(self) -> list[dict[str, Any]]:
        """Everything in the window now."""
        command = [SYSTEM_PYTHON, str(DUMP), str(self.program.pid)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def sees(self, words: str) -> list[dict[str, Any]]:
        """What is shown and has `words` in its name or text."""
        shown = [node for node in self.heard() if "SHOWING" in node["states"]]
        return [node for node in shown if words in node["name"] or words in node["text"]]

    def waits_for(self, words: str, seconds: float = 60.0) -> dict[str, Any]:
        """The first thing with `words`, once it is shown."""
        found: list[dict[str, Any]] = until(f"“{words}”", lambda: self.sees(words), seconds)
        return found[0]

    def button(self, name: str) -> dict[str, Any]:
        """The button called `name`, once it can be pressed."""

        def there() -> list[dict[str, Any]]:
            found = [node for node in self.sees(name) if "button" in node["role"]]
            return [node for node in found if "ENABLED" in node["states"] and node["place"][2] > 0]

        return until(f"the button “{name}”", there)[0]  # type: ignore[no-any-return]

    def clicks(self, name: str) -> None:
        """With the mouse, in the middle of the button."""
        left, top, wide, high = self.button(name)["place"]
        xdotool("mousemove", "--sync", str(left + wide // 2), str(top + high // 2), "click", "1")

    def tabs_to(self, name: str, most: int = 40) -> None:
        """With the keyboard, until the button called `name` has it."""
        self.button(name)
        for _step in range(most):
            if any("FOCUSED" in node["states"] for node in self.sees(name)):
                return
            self.program.press("Tab")
        raise AssertionError(f"the Tab key does not lead to “{name}”")

    def presses(self, name: str) -> None:
        """With the keyboard."""
        self.tabs_to(name)
        self.program.press("space")


@pytest.fixture
def hub() -> Iterator[HubServer]:
    weights = next(resources.weights_dir().glob("SmolLM2*.gguf"))
    about = {REPOSITORY: {"downloads": 4321, "license": "apache-2.0", "pipeline_tag": "text-generation"}}
    with HubServer({REPOSITORY: {FILE: weights}}, about, rate=SLOW) as made:
        made.cdn = made.url.replace("127.0.0.1", HOST)  # no other host may lead to this machine by its name
        yield made


@contextmanager
def window(home: Path) -> Iterator[Person]:
    """The program with its accessibility on, which must end well and silently unless it was killed."""
    program = Program(home, QT_LINUX_ACCESSIBILITY_ALWAYS_ON="1")
    try:
        until("the runtime", lambda: program.title == "New chat – Orion")
        yield Person(program)
        if program.exit_code is None:
            assert program.close() == ""
            assert program.exit_code == 0
    finally:
        if program.exit_code is None:
            program.kill()


def prepare(home: Path, hub: HubServer, theme: str, scale: float = 1.0) -> None:
    """Settings of someone who uses a mirror of the hub."""
    home.mkdir(parents=True, exist_ok=True)
    address = hub.url.replace("127.0.0.1", HOST)
    looks = f"appearance:\n  theme: {theme}\n  text_scale: {scale}\n"
    (home / "settings.yaml").write_text(f"version: 1\nmodels:\n  hub: {address}\n{looks}")
    probe = "import gi; gi.require_version('Atspi', '2.0'); from gi.repository import Atspi"
    if subprocess.run([SYSTEM_PYTHON, "-c", probe], capture_output=True, check=False).returncode:
        missing("the screen-reader library of the system's Python (gir1.2-atspi-2.0, python3-gi)")


def parts(home: Path) -> int:
    """Bytes of downloads that are on their way."""
    return sum(path.stat().st_size for path in (home / "downloads").rglob("*") if path.is_file())


def test_a_model_is_found_fetched_through_a_power_cut_examined_used_and_deleted(
    display: str, fresh_home: Path, hub: HubServer
) -> None:
    del display
    prepare(fresh_home, hub, "light")
    whole = fresh_home / "weights" / REPOSITORY / FILE
    with window(fresh_home) as person:
        program = person.program
        program.press("ctrl+m")
        person.waits_for("Runs well here")
        program.picture("70-models-installed-light")
        program.press("Right", "Right")
        person.waits_for("What are you looking for?")
        person.program.press("Tab")
        program.type("quokka")
        program.press("Return")
        person.waits_for(f"Search {HOST} too?")
        assert not hub.requests
        program.picture("71-models-permission-light")
        person.presses(f"Allow {HOST}")
        person.clicks("See the sizes of Quokka")
        person.button("Get Quokka")
        person.waits_for("words a second")
        program.picture("72-models-found-light")
        person.presses("Get Quokka")
        until("the download", lambda: parts(fresh_home) > 2_000_000)
        person.clicks("Pause Quokka")
        person.button("Go on with Quokka")
        program.picture("73-models-paused-light")
        person.presses("Go on with Quokka")
        before = parts(fresh_home)
        until("more of it", lambda: parts(fresh_home) > before + 6_000_000)
        program.picture("74-models-downloading-light")
        program.kill()
    assert not whole.exists()
    kept, asked = parts(fresh_home), len(hub.asked("resolve"))
    assert kept > 8_000_000
    hub.rate = FAST

    with window(fresh_home) as person:
        program = person.program
        program.press("ctrl+m")
        person.button("Examine Quokka")
        assert len(hub.asked("resolve")) > asked
        assert whole.stat().st_size == next(iter(hub.repositories[REPOSITORY].history.values()))[FILE].size
        program.picture("75-models-here-light")
        person.clicks("Examine Quokka")
        person.waits_for("Examining ")
        program.picture("76-models-examining-light")
        until("the exam", lambda: (fresh_home / "exams.json").exists(), LONG)
        person.waits_for("examined on", LONG)
        program.picture("77-models-examined-light")
        person.presses("Use Quokka")
        settings = fresh_home / "settings.yaml"
        until("the switch", lambda: "uokka" in settings.read_text().partition("agent:")[2])
        until("the other to be offered", lambda: [n for n in person.sees("Use ") if "SmolLM" in n["name"]])
        program.picture("78-models-used-light")
        person.clicks("Delete ")
        person.waits_for("This frees")
        program.picture("79-models-delete-light")
        person.presses("Delete it")
        until("the file to be gone", lambda: not whole.exists())
        until("the setting to be gone", lambda: "uokka" not in settings.read_text())
        until("the card to be gone", lambda: not [n for n in person.sees("Delete ") if "button" in n["role"]])
    assert not [path for path in (fresh_home / "weights").rglob("*") if path.is_file()]


def test_a_file_is_taken_in_by_the_dialog(
    display: str, fresh_home: Path, hub: HubServer, tmp_path: Path
) -> None:
    del display
    prepare(fresh_home, hub, "dark")
    source = tmp_path / "wombat-135m.gguf"
    source.write_bytes(next(resources.weights_dir().glob("SmolLM2*.gguf")).read_bytes())
    with window(fresh_home) as person:
        program = person.program
        program.press("ctrl+m")
        person.waits_for("Runs well here")
        person.presses("Import…")
        until("the dialog", lambda: [n for n in person.sees("File name") if "FOCUSED" in n["states"]])
        program.type(str(source))
        program.press("Return")
        person.waits_for("Import 1 model")
        program.picture("82-models-import-dark")
        person.button("Import")
        program.press("space")
        until("the copy", lambda: [*(fresh_home / "weights").rglob("wombat*.gguf")])
        person.button("Delete ")
        program.picture("83-models-imported-dark")
    assert source.exists()
    assert not hub.requests


@pytest.mark.parametrize(("theme", "scale"), [("dark", 1.0), ("light", 2.0), ("dark", 2.0)])
def test_the_page_is_whole_in_every_look(
    display: str, fresh_home: Path, hub: HubServer, theme: str, scale: float
) -> None:
    del display
    prepare(fresh_home, hub, theme, scale)
    look = f"{theme}-{scale:.0f}x"
    with window(fresh_home) as person:
        program = person.program
        if scale > 1:
            xdotool("windowsize", "--sync", program.window, "720", "760")
        program.press("ctrl+m")
        person.waits_for("Runs well here")
        program.picture(f"80-models-installed-{look}")
        program.press("Right")
        person.waits_for("Best fit here")
        program.picture(f"81-models-recommended-{look}")
