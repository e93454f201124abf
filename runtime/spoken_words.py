"""The few things people say to the program itself: stop, wait, go on, status, yes and no."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Literal, cast, get_args

import resources

Word = Literal["stop", "wait", "go_on", "status"]
Words = tuple[str, ...]

FILE = "spoken_words.yaml"
FALLBACK = "en"
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def words(text: str) -> Words:
    """The words of `text` in lower case, without punctuation; apostrophes inside a word stay."""
    return tuple(_WORD.findall(text.replace("\u2019", "'").casefold()))


@cache
def phrases(kind: str, language: str) -> frozenset[Words]:
    """What counts as `kind` in a language (two letters); empty where the language is not known."""
    found = resources.yaml(FILE).get(language, {}).get(kind, ())
    return frozenset(words(str(phrase)) for phrase in found)


def understood(text: str, language: str = "") -> Word | None:
    """The word that the whole of `text` is, politeness and repetition aside; None for anything else.

    `language` is the one that was heard, empty for English; English is understood in every language.
    """
    for tongue in dict.fromkeys((language or FALLBACK, FALLBACK)):
        core = plain(words(text), tongue)
        for word in get_args(Word):
            if core in phrases(word, tongue):
                return cast("Word", word)
    return None


def plain(said: Words, language: str) -> Words:
    """`said` without words of politeness around it and said once where it is repeated."""
    polite = phrases("polite", language)
    said = trimmed(said, polite)
    for length in range(1, len(said) // 2 + 1):
        if len(said) % length == 0 and said == said[:length] * (len(said) // length):
            return said[:length]
    return said


def trimmed(said: Words, loose: Iterable[Words]) -> Words:
    """`said` without the phrases of `loose` at its beginning and end, whatever is left."""
    longest_first = sorted(loose, key=len, reverse=True)
    while said:
        before = next((phrase for phrase in longest_first if said[: len(phrase)] == phrase), ())
        after = next((phrase for phrase in longest_first if said[-len(phrase) :] == phrase), ())
        if before:
            said = said[len(before) :]
        elif after:
            said = said[: -len(after)]
        else:
            break
    return said
