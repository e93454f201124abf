"""The recogniser of this machine as the transcription service uses it: one passage after the other."""

from __future__ import annotations

from dataclasses import replace

from voice.services.passages import Passage
from voice.services.transcript import Transcript
from voice.stt.recogniser import Recogniser


class Hearing:
    """For the recogniser's thread alone; raises VoiceError where there is no usable model."""

    def __init__(self, recogniser: Recogniser) -> None:
        self._recogniser = recogniser

    def load(self) -> None:
        """Load the model; a second call does nothing."""
        self._recogniser.load()

    def languages(self) -> tuple[str, ...]:
        """The codes of the languages that can be written down."""
        return self._recogniser.languages

    def hear(
        self, passage: Passage, *, transcript: Transcript, language: str, hints: tuple[str, ...], words: bool
    ) -> str:
        """Add what is said in `passage` to `transcript`; gives the text that was added."""
        heard = self._recogniser.transcribe(passage.samples, language, hints, words)
        transcript.seconds = passage.end
        transcript.language = transcript.language or heard.language
        begin = passage.start
        for segment in heard.segments:
            moved = replace(segment, start=begin + segment.start, end=begin + segment.end)
            transcript.segments.append(moved)
        for word in heard.words:
            transcript.words.append(replace(word, start=begin + word.start, end=begin + word.end))
        return transcript.add(heard.text)
