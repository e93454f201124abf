"""What was heard: the text with its language, its places in time and how sure the recogniser was."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from voice.stt.reading import Reading, Timed
from voice.stt.silence import compression

_ENDS = (".", "?", "!", "…", "。", "？", "！")
_SAID = re.compile(r"[^\W_]")
_JOINED = re.compile(r"[^\w\s]|\s*[\W_]*\Z")
_GAP = 0.8
_LONG = 12.0


@dataclass(frozen=True, slots=True)
class Word:
    """One word, from `start` to `end` seconds; `probability` 0 to 1."""

    text: str
    start: float
    end: float
    probability: float = 1.0


@dataclass(frozen=True, slots=True)
class Segment:
    """A sentence or what stands between two pauses, and how sure the recogniser was of it."""

    text: str
    start: float
    end: float
    logprob: float = 0.0
    no_speech: float = 0.0
    compression: float = 0.0
    tokens: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Heard:
    """What was said; all is empty when nothing was. `no_speech` is the recogniser's greatest doubt that it
    was speech, `logprob` the mean of its tokens. `words` are filled when they were asked for.
    """

    text: str = ""
    language: str = ""
    words: tuple[Word, ...] = ()
    segments: tuple[Segment, ...] = ()
    no_speech: float = 0.0
    logprob: float = 0.0


@dataclass(frozen=True, slots=True)
class Part:
    """A reading of sound that begins at the second `start`, with speech from `first` to `last`."""

    reading: Reading
    start: float
    first: float
    last: float


def joined(parts: Sequence[Part], words: bool = False) -> Heard:
    """Parts one after the other; with the words where they were timed and `words` asks for them."""
    said = [part for part in parts if part.reading.text]
    if not said:
        return Heard(language=parts[-1].reading.language if parts else "")
    tokens = sum(len(part.reading.tokens) for part in said)
    return Heard(
        " ".join(part.reading.text for part in said),
        said[0].reading.language,
        tuple(_word(word, part) for part in said for word in _whole(part.reading.words)) if words else (),
        tuple(segment for part in said for segment in _segments(part)),
        max(part.reading.no_speech for part in said),
        sum(part.reading.logprob * len(part.reading.tokens) for part in said) / max(1, tokens),
    )


def _whole(pieces: Sequence[Timed]) -> list[Timed]:
    """Words as they are written: signs on their own, and what a sign joins to a word, belong to the word
    before; those at the beginning to the one behind."""
    made: list[Timed] = []
    for piece in pieces:
        last = made[-1] if made else None
        if last is not None and (_JOINED.match(piece.text) or _goes_on(last.text, piece.text)):
            likely = min(last.probability, piece.probability)
            tokens = last.tokens + piece.tokens
            made[-1] = Timed(last.text + piece.text, last.start, piece.end, likely, tokens)
        else:
            made.append(piece)
    return made


def _goes_on(text: str, behind: str) -> bool:
    return not _SAID.search(text) or (text.endswith(("-", "/", "'", "’")) and not behind[:1].isspace())


def _word(word: Timed, part: Part) -> Word:
    places = (part.start + word.start, part.start + word.end)
    start, end = (round(min(max(place, part.first), part.last), 2) for place in places)
    return Word(word.text.strip(), start, end, word.probability)


def _segments(part: Part) -> list[Segment]:
    """The sentences of a part whose words are timed, else the part."""
    reading = part.reading
    groups: list[list[Timed]] = []
    for word in reading.words:
        ended = not groups or _ended(groups[-1], word)
        if ended:
            groups.append([])
        groups[-1].append(word)
    if not groups:
        return [_segment(part, reading.text, round(part.first, 2), round(part.last, 2), reading.tokens)]
    found = []
    for group in groups:
        first, last = _word(group[0], part), _word(group[-1], part)
        text = "".join(word.text for word in group).strip()
        tokens = tuple(token for word in group for token in word.tokens)
        found.append(_segment(part, text, first.start, max(first.start, last.end), tokens))
    return found


def _ended(group: list[Timed], following: Timed) -> bool:
    last = group[-1]
    sentence = last.text.rstrip("\"')”’").endswith(_ENDS) and following.text.startswith(" ")
    return sentence or following.start - last.end > _GAP or following.end - group[0].start > _LONG


def _segment(part: Part, text: str, start: float, end: float, tokens: tuple[int, ...]) -> Segment:
    doubt = part.reading.no_speech
    return Segment(text, start, end, part.reading.logprob, doubt, compression(text), tokens)
