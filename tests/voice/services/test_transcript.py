"""The forms of a transcript: JSON, captions, and their clocks."""

from __future__ import annotations

import json

from voice.services.transcript import Transcript
from voice.stt.heard import Segment, Word


def example() -> Transcript:
    made = Transcript(language="en", seconds=3725.5)
    assert made.add(" Hello there. ") == "Hello there."
    assert made.add("") == ""
    assert made.add("General <Kenobi> --> you.") == " General <Kenobi> --> you."
    made.segments = [
        Segment(" Hello there.", 0.0, 1.25, -0.25, 0.01, 1.1, (50363, 18435)),
        Segment(" General <Kenobi>\n\n --> you.", 3661.0, 3662.9996),
    ]
    made.words = [Word(" Hello", 0.0, 0.5), Word(" there.", 0.5, 1.25), Word(" –", 1.25, 1.3)]
    return made


def test_short_json() -> None:
    assert example().json() == {
        "text": "Hello there. General <Kenobi> --> you.",
        "usage": {"type": "duration", "seconds": 3725.5},
    }


def test_verbose_json_has_what_was_asked_for() -> None:
    both = example().verbose(segments=True, words=True)
    assert (both["task"], both["language"], both["duration"]) == ("transcribe", "english", 3725.5)
    assert both["words"] == [
        {"word": "Hello", "start": 0.0, "end": 0.5},
        {"word": "there.", "start": 0.5, "end": 1.25},
    ]
    first = both["segments"][0]
    assert (first["id"], first["start"], first["end"], first["tokens"]) == (0, 0.0, 1.25, [50363, 18435])
    assert "segments" not in example().verbose(segments=False, words=True)
    assert "words" not in example().verbose(segments=True, words=False)
    json.dumps(both, allow_nan=False)


def test_srt() -> None:
    assert example().srt() == (
        "1\n00:00:00,000 --> 00:00:01,250\nHello there.\n\n"
        "2\n01:01:01,000 --> 01:01:03,000\nGeneral <Kenobi> -> you.\n"
    )


def test_vtt() -> None:
    assert example().vtt() == (
        "WEBVTT\n\n00:00:00.000 --> 00:00:01.250\nHello there.\n\n"
        "01:01:01.000 --> 01:01:03.000\nGeneral &lt;Kenobi&gt; -&gt; you.\n"
    )


def test_nothing_heard() -> None:
    assert (Transcript().srt(), Transcript().vtt(), Transcript().json()["text"]) == ("", "WEBVTT\n", "")
