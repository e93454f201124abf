"""What was heard in a recording, and the forms in which clients read it."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import Any

from voice.services.languages import NAMES
from voice.stt.heard import Segment, Word


@dataclass
class Transcript:
    """Grows passage by passage. `seconds` is the length of the recording so far; the times of segments and
    words count from its beginning.
    """

    task: str = "transcribe"
    language: str = ""
    seconds: float = 0.0
    text: str = ""
    segments: list[Segment] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)

    def add(self, text: str) -> str:
        """Append what was heard next; gives what that adds to `text`."""
        added = text.strip()
        if added and self.text:
            added = " " + added
        self.text += added
        return added

    def json(self) -> dict[str, Any]:
        """The short JSON form."""
        return {"text": self.text, "usage": self._usage()}

    def verbose(self, *, segments: bool, words: bool) -> dict[str, Any]:
        """The long JSON form."""
        found = {
            "task": self.task,
            "language": NAMES.get(self.language, self.language),
            "duration": round(self.seconds, 3),
            "text": self.text,
            "usage": self._usage(),
        }
        if segments:
            found["segments"] = [_segment(number, segment) for number, segment in enumerate(self.segments)]
        if words:
            found["words"] = [
                {"word": word.text.strip(), "start": round(word.start, 3), "end": round(word.end, 3)}
                for word in self.words
                if any(map(str.isalnum, word.text))
            ]
        return found

    def srt(self) -> str:
        """Captions as SubRip."""
        return "\n".join(
            f"{number}\n{_clock(segment.start, ',')} --> {_clock(segment.end, ',')}\n{_line(segment.text)}\n"
            for number, segment in enumerate(self.segments, 1)
        )

    def vtt(self) -> str:
        """Captions as WebVTT."""
        cues = (
            f"{_clock(segment.start, '.')} --> {_clock(segment.end, '.')}\n"
            f"{html.escape(_line(segment.text), quote=False)}\n"
            for segment in self.segments
        )
        return "\n".join(("WEBVTT\n", *cues))

    def _usage(self) -> dict[str, Any]:
        return {"type": "duration", "seconds": round(self.seconds, 3)}


def _segment(number: int, segment: Segment) -> dict[str, Any]:
    return {
        "id": number,
        "seek": round(segment.start * 100),
        "start": round(segment.start, 3),
        "end": round(segment.end, 3),
        "text": segment.text,
        "tokens": list(segment.tokens),
        "temperature": 0.0,
        "avg_logprob": segment.logprob,
        "compression_ratio": segment.compression,
        "no_speech_prob": segment.no_speech,
    }


def _clock(seconds: float, point: str) -> str:
    whole, milliseconds = divmod(round(seconds * 1000), 1000)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}{point}{milliseconds:03}"


def _line(text: str) -> str:
    """One line of a caption, in which nothing looks like the next cue."""
    return " ".join(text.split()).replace("-->", "->")
