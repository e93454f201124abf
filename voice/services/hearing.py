"""The recogniser of this machine as the transcription service uses it: one passage after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from voice.services.passages import Passage
from voice.services.transcript import Transcript


class Hearing:
    """`load` and `hear` belong to the thread of the recogniser. `folder` holds the model."""

    def __init__(self, folder: Path, threads: int) -> None:
        self._folder = folder
        self._threads = threads
        self._recogniser: Any = None

    @property
    def multilingual(self) -> bool:
        """Whether the model knows other languages than English."""
        return not self._folder.name.endswith(".en")

    def load(self) -> None:
        """Load the model, once; raises VoiceError where it cannot be used."""

    def hear(
        self, passage: Passage, *, transcript: Transcript, language: str, hints: tuple[str, ...], words: bool
    ) -> str:
        """Add what is said in `passage` to `transcript`; gives the text that was added."""
        self.load()
        heard = self._recogniser.transcribe(passage.samples, language, hints, words)
        transcript.seconds = passage.end
        transcript.language = transcript.language or heard.language
        return transcript.add(heard.text)
