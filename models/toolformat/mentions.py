"""Tells whether a conversation mentioned a value: a number, a date or a name, however it was said."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import cache

import resources

WORD = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NUMBER = re.compile(r"(\d[\d,]*\.?\d*|\.\d+)(?:(k|m|bn|b)\b)?", re.IGNORECASE)
_PERCENTS = re.compile(r"(\d[\d,]*(?:\.\d+)?)\s?(?:%|per\s?cent)", re.IGNORECASE)
_JOINING = re.compile(
    r"\b(?:after|also|and|as well|before|both|compared?|each|or|plus|then|versus|vs)\b|;|[.?!]\s+\w",
    re.IGNORECASE,
)
_MONEY = re.compile(r"[$€£¥]\s?(\d[\d,]*(?:\.\d+)?)")
_NAMES = re.compile(r"(?:[A-Z]\w+ ?){2,}")
_CODE = re.compile(r"[A-Z]{1,5}")
_POINTED = re.compile(
    r"[\w-]{2,}\.[A-Za-z]\w{1,4}\b|[A-Za-z]\w+[/\\]\w\w|\w@\w|\d\s*[+*^×÷]\s*\d|\d\s+[-/]\s+\d"
)
_PLAIN = re.compile(r"[\w ,'’&-]+")

_ALIKE = 4
"""Letters that two forms of a word have in common at least, and at least half of the longer one."""

_LONG = 4
"""Words of a value from which on it is composed text and no name."""

_MOST = 40
"""Numbers of a conversation that are combined with each other."""

_HUGE = 1e100

_UNITS = {"": 1, "k": 1e3, "m": 1e6, "b": 1e9, "bn": 1e9}

_FACTORS = (1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e9, 7, 12, 24, 30, 60, 365, 3600)
"""Between units that people mix: per cent, thousands, the parts of a day and of a year."""

_COUNTED = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
_ORDERED = "once first second third fourth fifth sixth seventh eighth ninth tenth"
_TENS = "ten twenty thirty forty fifty sixty seventy eighty ninety"
_MONTHS = "january february march april may june july august september october november december"
_NAMED: dict[str, float] = (
    {word: at for at, word in enumerate(_COUNTED.split())}
    | {word: at for at, word in enumerate(_ORDERED.split()) if at}
    | {word: at * 10 for at, word in enumerate(_TENS.split(), 1)}
    | {word: at for at, word in enumerate(_MONTHS.split(), 1)}
    | {"hundred": 100, "thousand": 1e3, "million": 1e6, "billion": 1e9, "dozen": 12, "half": 0.5}
    | {"quarter": 0.25, "twice": 2, "couple": 2, "pair": 2, "single": 1, "double": 2, "triple": 3}
    | {"minute": 60, "hour": 60, "day": 24, "week": 7, "month": 30, "year": 365, "decade": 10, "century": 100}
    | {"daily": 365, "biweekly": 26, "weekly": 52, "monthly": 12, "quarterly": 4, "yearly": 1, "annually": 1}
    | {"noon": 12, "midnight": 0}
)


class Mentions:
    """What `text` mentions."""

    def __init__(self, text: str) -> None:
        self._folded = text.casefold()
        self.words = telling(text)
        self._all = {word.casefold() for word in WORD.findall(text)}
        self._initials = _initials(text)
        self._numbers = numbers(text) - {0, 1}
        self.percents = {float(one.replace(",", "")) for one in _PERCENTS.findall(text)}
        self._ordered = sorted(self._numbers)[:_MOST]

    def literally(self, value: str) -> bool:
        """Whether `value` stands there, capitals aside."""
        return value.casefold().strip() in self._folded

    def quotes(self, value: str) -> bool:
        """Whether `value` stands there as it is and could hardly by chance: a path, an address, a sum."""
        value = value.strip().casefold()
        return len(value) > 2 and not _PLAIN.fullmatch(re.sub(r"\d", ".", value)) and value in self._folded

    def number(self, value: float) -> bool:
        """Whether `value` was said or follows from what was said: in another unit, as a sum, a difference or
        a product. 0 and 1 always do, and nothing follows from them."""
        value = abs(value)
        if value > _HUGE:
            return False
        if value in (0, 1) or (12 < value <= 24 and value - 12 in self._numbers):
            return True
        if any(_same(value, one * by) or _same(value * by, one) for one in self._numbers for by in _FACTORS):
            return True
        return any(
            _same(value, made)
            for at, one in enumerate(self._ordered)
            for other in self._ordered[at:]
            for made in (one * other, one + other, abs(one - other))
        )

    def shortened(self, value: float) -> float:
        """`value`, or the number that was said where `value` is that with zeros too many: small models lose
        count of them. A number that follows from what was said stays, but money is in no other unit."""
        known = self._numbers
        if not 1 < value < _HUGE or value != int(value) or value in known:
            return value
        money = {float(one.replace(",", "")) for one in _MONEY.findall(self._folded)}
        units = known & {1e3, 1e6, 1e9}
        amounts = known | {one * unit for one in known for unit in units}
        meant = max((one for one in amounts if one > 1 and _zeros(value / one)), default=value)
        paid = meant in money or any(meant / unit in money for unit in units)
        return value if value in amounts or (self.number(value) and not paid) else meant

    def text(self, value: str) -> bool | None:
        """Whether a name, a date or a number in `value` was said; None where that cannot be told, because it
        is composed text, a code or a path."""
        folded = value.casefold().strip()
        told = telling(value)
        if folded and (folded in self._folded or shared(told, self.words)):
            return True
        if not folded or _CODE.fullmatch(value.strip()):
            return None
        if (told and told <= self._initials) or _initials(value) & self._all:
            return True
        digits = [float(one) for one in re.findall(r"\d+", value)]
        if digits and 2 * sum(one.isdigit() for one in value) >= sum(one.isalnum() for one in value):
            return any(one > 1 and self.number(one) for one in digits)
        if any(one > 1 and one in self._numbers for one in digits):
            return True
        if not (told or digits) or not _PLAIN.fullmatch(value) or len(value.split()) > _LONG:
            return None
        return False


def telling(text: str) -> set[str]:
    """The words of `text`, folded, without the commonest ones; also those inside names of tools."""
    words = {word.casefold() for word in WORD.findall(_CAMEL.sub(" ", text))}
    return {word for word in words - common() if len(word) > 1 and not word.isdigit()}


def shared(words: Iterable[str], others: set[str]) -> set[str]:
    """Those of `words` that are among `others` in some form."""
    near: dict[str, list[str]] = {}
    for other in others:
        near.setdefault(other[:_ALIKE], []).append(other)
    return {word for word in words if any(_alike(word, other) for other in near.get(word[:_ALIKE], ()))}


def pointed(text: str) -> bool:
    """Whether a path, an address or a sum stands in `text`."""
    return _POINTED.search(text) is not None


def joins(text: str) -> bool:
    """Whether `text` may ask for several things: it has a joining word or more than one sentence."""
    return _JOINING.search(text) is not None


@cache
def common() -> frozenset[str]:
    """The commonest English words."""
    return frozenset(resources.text("common_words.txt").split())


def _alike(one: str, other: str) -> bool:
    if one == other:
        return True
    length = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        length += 1
    return length >= _ALIKE and 2 * length >= max(len(one), len(other))


def _zeros(factor: float) -> bool:
    """Whether a number is written with `factor` by putting zeros behind it, but not as cents."""
    return (
        factor >= 10
        and factor != 100
        and f"{factor:.9f}".rstrip("0") == f"{10 ** round(math.log10(factor))}."
    )


def _same(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-6 * max(1, abs(one), abs(other))


def _initials(text: str) -> set[str]:
    """The first letters of the names in `text`."""
    return {"".join(word[0] for word in name.split()).casefold() for name in _NAMES.findall(text)}


def numbers(text: str) -> set[float]:
    """The numbers in `text`, in digits or in words; 1,5 is both a thousands' and a list's comma."""
    found: set[float] = set()
    for written, unit in _NUMBER.findall(text):
        for one in (written.replace(",", ""), *written.split(",")):
            if one.strip("."):
                found |= {float(one), float(one) * _UNITS[unit.casefold()]}
    words = set(WORD.findall(text.casefold()))
    return found | {_NAMED[one] for word in words for one in (word, word.rstrip("s")) if one in _NAMED}
