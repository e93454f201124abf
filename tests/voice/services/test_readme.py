"""The command lines that the README shows for the speech services, run as they are printed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import missing
from tests.voice.services.running import running

README = Path(__file__).resolve().parents[3] / "README.md"
PORTS = ("--speech-port", "5050", "--transcription-port", "8060")


def lines() -> list[str]:
    text = README.read_text(encoding="utf-8").partition("\n## Speech for other programs\n")[2]
    return [line.strip() for line in text.partition("\n## ")[0].splitlines() if line.startswith("    curl ")]


@pytest.fixture
def curl() -> None:
    if shutil.which("curl") is None:
        missing("curl")


@pytest.mark.usefixtures("curl")
def test_they_do_what_they_promise(tmp_path: Path) -> None:
    with running(tmp_path / "home", *PORTS):
        speech, transcription, captions, faster = (
            subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True)
            for line in lines()
        )
    assert "error" not in speech.stdout + faster.stdout
    assert (tmp_path / "speech.mp3").stat().st_size > 20_000
    assert '"text":"The garden is green. Tomorrow it will rain."' in transcription.stdout
    assert captions.stdout.startswith("1\n00:00:0")
    assert 0.5 < (tmp_path / "speech.pcm").stat().st_size / 48_000 < 4
