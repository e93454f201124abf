"""`orion voice` lists devices, speaks, writes speech and listens, with the real child over real sound."""

from __future__ import annotations

import json
import subprocess
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from resources.sentences import sentence
from runtime.cli.exit_codes import ExitCode
from runtime.ledger import Ledger
from runtime.network import Network
from runtime.paths import find_home
from runtime.settings import save_settings
from runtime.voice_entries import ONLINE_HOST
from tests.runtime.cli.commands import Here, command
from tests.sound_stage import SoundStage
from tests.voice.conftest import stage
from tests.voice.spoken import missing, speech

SAID = "Please open the window now."


@pytest.fixture
def sound(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[SoundStage]:
    """A fresh sound server for one test."""
    yield from stage(tmp_path_factory.mktemp("sound"), monkeypatch)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Here:
    return Here(monkeypatch)


@pytest.fixture
def mute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without any sound device."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PULSE_SERVER", f"unix:{tmp_path / 'nothing'}")


def test_the_devices_of_this_machine(sound: SoundStage, here: Here) -> None:
    assert sound.rate
    listed = here.run("voice", "devices", "--json")
    names = {kind: [row["name"] for row in rows] for kind, rows in json.loads(listed.out).items()}
    assert names == {"microphones": ["Desk Microphone"], "loudspeakers": ["Desk Speaker"]}
    assert (
        here.run("voice", "devices").out == "Microphones:\n  Desk Microphone\nLoudspeakers:\n  Desk Speaker\n"
    )


def test_a_text_is_heard(sound: SoundStage, here: Here) -> None:
    with sound.record() as recording:
        done = here.run("voice", "say", "Good morning, everybody.")
        assert (done.code, done.out, done.err) == (ExitCode.OK, "", "")
        recording.wait_for_silence()
        assert np.abs(recording.samples).max() > 0.1


def test_what_is_said_is_printed(sound: SoundStage) -> None:
    words, pipe = command("voice", "listen", "--json"), subprocess.PIPE
    with subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True) as child:
        try:
            assert child.stderr is not None
            assert child.stderr.readline() == "Listening: say something.\n"
            sound.say(speech(SAID))
            out, err = child.communicate(timeout=60)
        finally:
            child.kill()
    said = json.loads(out)
    assert missing(SAID, said["text"]) <= 1
    assert (said["language"], child.returncode, err) == ("en", ExitCode.OK, "")
    assert said["seconds"] > 0.8


def test_speech_is_written_to_a_new_file(tmp_path: Path, here: Here) -> None:
    file = tmp_path / "hello.wav"
    done = here.run("voice", "say", "-", "-o", str(file), typed=b"Hello there, how are you?")
    assert done.code == ExitCode.OK
    assert str(file) in done.err
    with wave.open(str(file)) as sound:
        assert (sound.getnchannels(), sound.getsampwidth()) == (1, 2)
        assert 0.8 < sound.getnframes() / sound.getframerate() < 6.0
    again = here.run("voice", "say", "Hello", "-o", str(file))
    assert (again.code, str(file) in again.err) == (ExitCode.FAILED, True)


@pytest.mark.parametrize(
    ("text", "code", "sentence_code"),
    [("  ", ExitCode.USAGE, "cli_text_empty"), ("###", ExitCode.FAILED, "speech_nothing_to_say")],
)
def test_nothing_to_say_leaves_no_file(
    tmp_path: Path, here: Here, text: str, code: ExitCode, sentence_code: str
) -> None:
    file = tmp_path / "nothing.wav"
    done = here.run("voice", "say", text, "-o", str(file))
    assert (done.code, done.err.strip()) == (code, sentence(sentence_code))
    assert not file.exists()


@pytest.mark.parametrize("more", [(), ("-o", "hello.wav")])
def test_a_voice_that_is_not_there_is_an_error(tmp_path: Path, here: Here, more: tuple[str, ...]) -> None:
    where = tuple(str(tmp_path / word) if word.endswith(".wav") else word for word in more)
    done = here.run("voice", "say", "Hello", "--voice", "nobody", *where)
    assert (done.code, done.err.strip()) == (ExitCode.NOT_FOUND, sentence("voice_unknown", voice="nobody"))
    assert not list(tmp_path.glob("*.wav"))


def test_the_voice_that_is_named_is_used(tmp_path: Path, here: Here) -> None:
    file = tmp_path / "hello.wav"
    assert here.run("voice", "say", "Hello", "--voice", "heart", "-o", str(file)).code == ExitCode.OK
    assert file.exists()


def test_a_place_that_cannot_be_written(tmp_path: Path, here: Here) -> None:
    done = here.run("voice", "say", "Hello", "-o", str(tmp_path / "no" / "x.wav"))
    assert done.code == ExitCode.FAILED
    assert "cannot be written" in done.err


@pytest.mark.usefixtures("mute")
@pytest.mark.parametrize("words", [("devices",), ("say", "Hello"), ("listen",)])
def test_without_devices_there_is_one_sentence(here: Here, words: tuple[str, ...]) -> None:
    done = here.run("voice", *words)
    assert done.code == ExitCode.FAILED
    assert done.err.count("\n") == 1
    assert "no description" not in done.err


def test_an_online_voice_is_entered_before_it_is_asked(tmp_path: Path, here: Here) -> None:
    home = find_home()
    home.create()
    save_settings(home.settings_file, {"voice.online_voices": True, "voice.voice": "heart"})
    assert here.run("voice", "say", "Hello", "-o", str(tmp_path / "a.wav")).code == ExitCode.OK
    assert Ledger(home.audit).entries() == []
    Network(home).allow(ONLINE_HOST, "test")
    assert here.run("voice", "say", "Hello", "-o", str(tmp_path / "b.wav")).code == ExitCode.OK
    (entry,) = Ledger(home.audit).entries()
    assert (entry.host, entry.purpose, entry.sent, entry.open) == (ONLINE_HOST, "voice", 5, False)


def test_the_group_explains_itself(here: Here) -> None:
    shown = here.run("voice")
    assert shown.code == ExitCode.OK
    for name in ("devices", "say", "listen", "serve"):
        assert name in shown.out
