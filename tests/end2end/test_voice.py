"""A person who holds a key and speaks, is answered aloud, cuts the answer off, and has no network."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import soxr

from tests.end2end.program import Program, until, xdotool
from tests.runtime.scripted_house import write_profile
from tests.sound_stage import RATE, Recording, SoundStage
from tests.voice.conftest import stage
from tests.voice.spoken import Samples, missing, speech

pytestmark = pytest.mark.timeout(300)

QUESTIONS = (
    "What is the name of the old ship in the harbour?",
    "Please tell me a long story about the seven sailors.",
    "Thank you, now tell me how far away the moon is.",
)
STORY = (
    "Once upon a time there were seven sailors on a small wooden boat. The first sailor was a cook from the "
    "northern mountains. The second sailor was a farmer who had never seen the water. The third one played "
    "the violin every evening. The fourth sailor could not swim at all. At the end of their journey they "
    "found a purple elephant on an island of marble."
)
ANSWERS = (
    "The old ship in the harbour is called the morning star.",
    STORY,
    "The moon is about two hundred and forty thousand miles away.",
)
"""What the person says, and what the agent's script answers."""

SETTINGS = "version: 1\nagent:\n  profile: aloud\nappearance:\n  theme: {theme}\n"


def without_network() -> tuple[str, ...]:
    """The command before a program that takes every network but its own loopback from it, where the system
    lets it be taken."""
    before = ("unshare", "--map-root-user", "--net")
    if shutil.which("unshare") is None:
        return ()
    return (
        before if not subprocess.run([*before, "true"], capture_output=True, check=False).returncode else ()
    )


def understood(samples: Samples) -> str:
    """What the recogniser by itself understands of a recording of the loudspeaker."""
    from resources import weights_dir
    from voice.stt.recogniser import Recogniser

    ears = Recogniser(weights_dir() / "whisper-tiny.en", 2)
    ears.load()
    return ears.transcribe(soxr.resample(samples, RATE, 16_000)).text


@contextmanager
def window(home: Path, *before: str) -> Iterator[Program]:
    """The program, which must end well and silently."""
    program = Program(home, before)
    try:
        until("the runtime", lambda: program.title == "New chat – Orion")
        yield program
        assert program.close() == ""
        assert program.exit_code == 0
    finally:
        if program.exit_code is None:
            program.kill()


@contextmanager
def key_held(program: Program, sound: SoundStage) -> Iterator[None]:
    """Hold the key to talk; the microphone listens when the context is entered."""
    xdotool("windowactivate", "--sync", program.window)

    xdotool("keydown", "ctrl+space")
    try:
        sound.wait(lambda: "microphone" in sound.listened(), "the microphone to be open")
        yield
    finally:
        xdotool("keyup", "ctrl+space")


@pytest.fixture
def sound(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[SoundStage]:
    """A microphone and a loudspeaker for the program."""
    yield from stage(tmp_path_factory.mktemp("sound"), monkeypatch)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_three_spoken_turns_without_a_network_one_of_them_cut_off(
    display: str, sound: SoundStage, fresh_home: Path, theme: str
) -> None:
    del display
    write_profile(fresh_home, [{"say": answer} for answer in ANSWERS], name="aloud")
    (fresh_home / "settings.yaml").write_text(SETTINGS.format(theme=theme))
    with window(fresh_home, *without_network()) as program, sound.record() as heard:
        begins = [ask(program, sound, heard, 0)]
        heard.wait_for_silence(1.0)
        begins.append(ask(program, sound, heard, 1))
        heard.wait(lambda: len(heard.samples) > begins[1] + 3 * RATE, "three seconds of the story")
        program.picture(f"voice-speaking-{theme}")
        begins.append(ask(program, sound, heard, 2))
        heard.wait_for_silence(1.0)
        until("the last turn to end", lambda: program.recorded("done", 3))
        program.picture(f"voice-answered-{theme}")
        records, ledger = program.records(), fresh_home / "audit" / "network.jsonl"
        answers = [
            understood(heard.samples[start:end])
            for start, end in zip(begins, [*begins[1:], None], strict=True)
        ]
    said = [record["text"] for record in records if record["type"] == "user"]
    assert [record["source"] for record in records if record["type"] == "user"] == ["voice"] * 3
    for wanted, found in zip(QUESTIONS, said, strict=True):
        assert missing(wanted, found) <= 1, said
    assert missing(ANSWERS[0], answers[0]) <= 2, answers
    assert missing("once upon a time there were seven sailors", answers[1]) <= 2, answers
    assert "elephant" not in answers[1]
    assert missing("the moon is about", answers[2]) <= 1, answers
    cut = [record for record in records if record["type"] == "heard"]
    assert len(cut) == 1
    assert not cut[0]["whole"]
    assert STORY.startswith(cut[0]["text"])
    assert 10 < len(cut[0]["text"]) < len(STORY) - 100
    assert not ledger.exists() or not ledger.read_text()


def ask(program: Program, sound: SoundStage, heard: Recording, number: int) -> int:
    """Say one of the questions with the key held; where in the recording the answer begins."""
    with key_held(program, sound):
        if number == 2:
            heard.wait_for_silence(0.3)
        sound.say(speech(QUESTIONS[number]))
        program.picture(f"voice-hearing-{number}")
        after = len(heard.samples)
    until("what was said on disk", lambda: program.recorded("user", number + 1))
    return heard.wait_for_sound(after=after)
