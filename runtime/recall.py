"""Finds what was said earlier and is no longer shown to the model, by the words of a new message."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache

import resources

_WORD = re.compile(r"\w+")


def words(text: str) -> set[str]:
    """The telling words of `text`, folded; a plural s is dropped."""
    found = (word.casefold() for word in _WORD.findall(text))
    return {word.removesuffix("s") if len(word) > 3 else word for word in found if word not in _common()}


@cache
def _common() -> frozenset[str]:
    return frozenset(resources.text("common_words.txt").split())


def recall(query: str, texts: Sequence[str], limit: int) -> list[str]:
    """The passages of `texts` that share the rarest words with `query`, best first.

    At most `limit` characters in all; nothing where nothing telling is shared.
    """
    wanted = words(query)
    bags = [words(text) for text in texts]
    spread = Counter(word for bag in bags for word in bag & wanted)
    scored = [
        (
            sum(math.log(1 + len(texts) / spread[word]) for word in bag & wanted) / math.sqrt(8 + len(bag)),
            -place,
        )
        for place, bag in enumerate(bags)
    ]
    found: list[str] = []
    for score, place in sorted(scored, reverse=True):
        text = " ".join(texts[-place].split())
        if score <= 0 or len(text) > limit:
            if score <= 0:
                break
            text = _around(text, wanted, limit)
        if not text or text in found:
            continue
        found.append(text)
        limit -= len(text)
        if limit < 80 or len(found) == 4:
            break
    return found


def _around(text: str, wanted: set[str], limit: int) -> str:
    """The part of `text`, at most `limit` characters, that begins a little before the first wanted word."""
    if limit < 80:
        return ""
    first = next((match.start() for match in _WORD.finditer(text) if words(match[0]) & wanted), 0)
    start = max(0, min(first - limit // 4, len(text) - limit))
    return text[start : start + limit]
