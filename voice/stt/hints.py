"""Names that may be said, as the recogniser is told them, and the proof that it did not just repeat them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

MOST_TOKENS = 48
"""More of them make a small model slower and no better, and push it to say them."""

MOST_LETTERS = 40
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def prompt(hints: Sequence[str], encode: Callable[[str], list[int]]) -> list[int]:
    """The tokens that stand before speech as if they had been said: the first of `hints` that have room.

    `encode` gives the tokens of a text. Empty without hints.
    """
    known: list[str] = []
    tokens: list[int] = []
    for hint in dict.fromkeys(" ".join(hint.split()) for hint in hints):
        if not _WORD.search(hint) or len(hint) > MOST_LETTERS:
            continue
        longer = encode(" " + ", ".join([*known, hint]) + ".")
        if len(longer) > MOST_TOKENS:
            continue
        known.append(hint)
        tokens = longer
    return tokens


def repeats(text: str, hints: Sequence[str]) -> bool:
    """Whether `text` holds nothing but words of `hints`, so that it may be their echo."""
    said = set(_WORD.findall(text.lower()))
    known = {word for hint in hints for word in _WORD.findall(hint.lower())}
    return bool(said) and said <= known
