"""Keys that are held to talk, pressed by a person: in other programs, and thrown away again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from Xlib import X

from tests.desktop.test_hot_key_x11 import Typist
from tests.end2end.program import Program, until, xdotool
from tests.runtime.scripted_house import write_profile
from tests.sound_stage import SoundStage
from tests.voice.conftest import stage
from tests.voice.spoken import missing, speech

pytestmark = pytest.mark.timeout(300)

QUESTION = "Please tell me what rain is, and where it comes from."
SETTINGS = """version: 1
agent:
  profile: aloud
voice:
  global_hot_key: Ctrl+F8
"""


@pytest.fixture
def sound(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[SoundStage]:
    """A microphone and a loudspeaker for the program."""
    yield from stage(tmp_path_factory.mktemp("sound"), monkeypatch)


@pytest.fixture
def program(display: str, sound: SoundStage, fresh_home: Path) -> Iterator[Program]:
    """The window over real sound, with a script behind it; it must end well and silently."""
    del display, sound
    write_profile(fresh_home, [{"say": "Rain is water."}, {"say": "You are welcome."}], name="aloud")
    (fresh_home / "settings.yaml").write_text(SETTINGS)
    made = Program(fresh_home)
    try:
        until("the runtime", lambda: made.title == "New chat – Orion")
        yield made
        xdotool("windowactivate", "--sync", made.window)
        assert made.close() == ""
        assert made.exit_code == 0
    finally:
        if made.exit_code is None:
            made.kill()


@contextmanager
def held(key: str, sound: SoundStage) -> Iterator[None]:
    """A key is down; the microphone listens when the context is entered."""

    def listeners() -> int:
        return len(sound.pactl("list", "short", "source-outputs").splitlines())

    before = listeners()
    xdotool("keydown", key)
    try:
        until("the microphone", lambda: listeners() > before)
        yield
    finally:
        xdotool("keyup", key)


def test_a_key_talks_to_the_window_from_another_program(
    display: str, sound: SoundStage, program: Program
) -> None:
    other = Typist(display)
    until("the key to be held", lambda: other.is_held("F8", X.ControlMask))
    with held("ctrl+F8", sound):
        sound.say(speech(QUESTION))
    said = until("what was said on disk", lambda: program.recorded("user"))
    assert missing(QUESTION, said[0]["text"]) <= 1
    assert said[0]["source"] == "voice"
    assert other.typed() <= 1, "at most the modifier reaches the other program"
    other.connection.close()


def test_what_is_thrown_away_is_never_sent(sound: SoundStage, program: Program) -> None:
    xdotool("windowactivate", "--sync", program.window)
    program.type("Typed words")
    with held("ctrl+space", sound):
        sound.say(speech(QUESTION))
        program.picture("voice-beside-typed")
        program.press("Escape")
    program.press("Return")
    sent = until("the message on disk", lambda: program.recorded("user"))
    assert [(record["text"], record["source"]) for record in sent] == [("Typed words", "window")]
