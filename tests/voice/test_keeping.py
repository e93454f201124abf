"""Sound is kept where the user asked for it and words were said, readable for nobody else."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

from voice.errors import VoiceError
from voice.keeping import Kept
from voice.sound import BLOCK, RATE, Block


@dataclass
class Words:
    """Understands what the test says, whatever it is fed."""

    text: str
    language: str = "en"
    blocks: int = 0
    abandoned: bool = False

    def feed(self, block: Block) -> None:
        self.blocks += 1

    def finish(self) -> Words:
        return self

    def abandon(self) -> None:
        self.abandoned = True


def fed(words: Words, folder: Path, faults: list[VoiceError]) -> Kept:
    kept = Kept(words, str(folder), faults.append)
    for number in range(5):
        kept.feed(Block(np.full(BLOCK, 0.5, np.float32), number * 0.02, 0.5))
    return kept


def test_an_utterance_is_one_file(tmp_path: Path) -> None:
    words, faults = Words("hello"), list[VoiceError]()
    assert fed(words, tmp_path / "home" / "recordings", faults).finish() is words
    (file,) = (tmp_path / "home" / "recordings").iterdir()
    samples, rate = soundfile.read(file)
    assert (len(samples), rate, words.blocks) == (5 * BLOCK, RATE, 5)
    assert abs(float(samples.mean()) - 0.5) < 0.001
    assert faults == []
    if os.name == "posix":
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_nothing_is_kept_of_what_holds_no_words_or_is_thrown_away(tmp_path: Path) -> None:
    faults: list[VoiceError] = []
    fed(Words(""), tmp_path / "silent", faults).finish()
    dropped = Words("hello")
    fed(dropped, tmp_path / "dropped", faults).abandon()
    assert dropped.abandoned
    assert [*tmp_path.iterdir(), *faults] == []


def test_a_folder_that_cannot_be_written_loses_no_words(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    faults: list[VoiceError] = []
    assert fed(Words("hello"), tmp_path / "file", faults).finish().text == "hello"
    (fault,) = faults
    assert fault.code == "recording_unwritable"
    assert fault.fields["path"] == str(tmp_path / "file")
