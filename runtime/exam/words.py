"""Compares an answer in words with what was asked for, strict in what matters and blind to decoration."""

from __future__ import annotations

import re
import unicodedata

_AROUND = " \t\r\n\"'`*_.,;:!?()[]«»“”„’‘"
"""What may stand around an answer without being part of it."""

_BULLET = re.compile(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+")
_WORD = re.compile(r"[^\W_]+", re.UNICODE)


def bare(text: str) -> str:
    """`text` in canonical characters without quotes, marks of emphasis and full stops around it."""
    return unicodedata.normalize("NFC", text).strip(_AROUND)


def same(text: str, wanted: str) -> bool:
    """Whether the whole answer is `wanted`, whatever the case of letters and the spaces between words."""
    return " ".join(bare(text).casefold().split()) == " ".join(bare(wanted).casefold().split())


def words(text: str) -> list[str]:
    """The words and numbers of `text`, small."""
    return [word.casefold() for word in _WORD.findall(unicodedata.normalize("NFC", text))]


def parts(text: str) -> list[str]:
    """The members of a list that is separated by commas, semicolons or lines, small and undecorated."""
    lines = (_BULLET.sub("", line) for line in text.strip().splitlines())
    pieces = (bare(piece).casefold() for line in lines for piece in re.split(r"[,;]", line))
    return [piece for piece in pieces if piece]


def sentences(text: str) -> int:
    """How many sentences it has, by the marks at their ends."""
    return len([piece for piece in re.split(r"[.!?]+(?:\s|$)", text.strip()) if bare(piece)])
