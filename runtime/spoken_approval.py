"""Reads an approval aloud and judges the spoken answer: rather refuse a right one than take a wrong one.

An answer allows a call only when it says yes and then, with nothing foreign in it, what the call does and to
what. What is read aloud never holds those words in that order, so that its own echo cannot allow it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import PurePath
from typing import Literal

import resources
from resources.sentences import sentence
from resources.translation import _, ngettext
from runtime.events import ApprovalRequired
from runtime.spoken_words import FALLBACK, FILE, Words, phrases, trimmed, words

Judgement = Literal["approve", "deny", "unclear"]

TRIES = 2
LONGEST = 60
"""Characters of a name that a person can be asked to repeat."""
MOST_LOOSE = 10
"""Words that may or may not belong to the name; more are not searched."""
_FORGIVING = 7
"""From so many letters on, one may be another of the same sound: the recogniser's slip, not the person's."""
_SOUNDS = ("td", "pb", "kgcq", "szc", "fv", "mn", "aeiouy")
_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_DECADES = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBERS = {word: str(n) for n, word in enumerate(_UNITS.split())}
_TENS = {word: n for n, word in enumerate(_DECADES, start=2)}
_PARTS = re.compile(r"[^\W\d_]+|\d+")


@dataclass(frozen=True, slots=True)
class Reading:
    """A question as it is read aloud. `key_words` is what allows the call, as a person would write it."""

    id: str
    digest: str
    ask: str
    key_words: str
    _verbs: frozenset[str]
    _names: frozenset[str]

    def judge(self, said: str, language: str = "") -> Judgement:
        """What the utterance `said` means for exactly this call."""
        heard = words(said)
        while polite := next((found for found in _longest("polite") if heard[: len(found)] == found), ()):
            heard = heard[len(polite) :]
        if _denies(said, heard, language):
            return "deny"
        after_yes = next((heard[len(yes) :] for yes in _longest("yes") if heard[: len(yes)] == yes), ())
        while after_yes and (after_yes[0],) in phrases("beside", FALLBACK):
            after_yes = after_yes[1:]
        if not after_yes or after_yes[0] not in self._verbs or not self._is_name(after_yes[1:]):
            return "unclear"
        return "approve"

    def _is_name(self, said: Words) -> bool:
        """Whether the words are the name, with nothing beside it but words that mean nothing here."""
        loose = phrases("beside", FALLBACK)
        places = [place for place, word in enumerate(said) if (word,) in loose]
        if len(places) > MOST_LOOSE:
            return False
        negations = phrases("negations", FALLBACK)
        negated = any((word,) in negations for word in said)
        for left_out in _subsets(places):
            kept = [word for place, word in enumerate(said) if place not in left_out]
            found = _letters(kept)
            if any(found == name or (not negated and _alike(found, name)) for name in self._names):
                return True
        return False


def reading(asked: ApprovalRequired, object_argument: str) -> Reading | None:
    """How `asked` is read aloud; `object_argument` is the argument that says what the call is about. None
    where the voice must not or cannot decide: high risk, a call without words of its own, a name that nobody
    can repeat."""
    verbs = resources.yaml(FILE)[FALLBACK]["verbs"].get(asked.name, ())
    name = str(asked.arguments.get(object_argument, "")) if object_argument else ""
    names = frozenset(_names(name))
    if asked.risk == "high" or not verbs or not names or len(name) > LONGEST:
        return None
    ask = " ".join(filter(None, [_question(asked, name), _change(asked.preview), _why(asked), _how()]))
    key_words = _("yes, {verb} {name}").format(verb=verbs[0], name=name)
    return Reading(asked.id, asked.digest, ask, key_words, frozenset(verbs), names)


def by_hand(asked: ApprovalRequired) -> str:
    """What is said of a question that the voice cannot decide."""
    tool = asked.name.replace("_", " ")
    told = _("The agent asks to use {tool}. This needs your hand: please decide in the window.")
    return " ".join(filter(None, [told.format(tool=tool), _why(asked)]))


def again() -> str:
    """What is said after an answer that was not understood."""
    return _("I did not get that. To allow it, hold the key and say yes, the verb and the name; or say no.")


def with_the_key() -> str:
    """What is said after the right words of somebody who did not hold the key."""
    return _("To allow it, hold the key while you say that. To refuse it, say no.")


def given_up() -> str:
    """What is said after the last try."""
    return _("I did not get that either. It waits for your hand in the window.")


def _question(asked: ApprovalRequired, name: str) -> str:
    match asked.name:
        case "write_file" if asked.arguments.get("append"):
            return _("May I write more at the end of `{name}`?").format(name=name)
        case "write_file":
            return _("May I write the file `{name}`?").format(name=name)
        case "edit_file":
            return _("May I edit the file `{name}`?").format(name=name)
        case "delete_file":
            return _("May I delete the file `{name}`?").format(name=name)
        case _:
            return _("May I use {tool} with `{name}`?").format(tool=asked.name.replace("_", " "), name=name)


def _change(preview: str) -> str:
    """The size of the change that a diff shows."""
    lines = [line for line in preview.splitlines() if not line.startswith(("+++", "---"))]
    more = sum(line.startswith("+") for line in lines)
    less = sum(line.startswith("-") for line in lines)
    told = []
    if more:
        told.append(ngettext("It adds one line.", "It adds {n} lines.", more).format(n=more))
    if less:
        told.append(ngettext("It takes out one line.", "It takes out {n} lines.", less).format(n=less))
    return " ".join(told)


def _why(asked: ApprovalRequired) -> str:
    """Why it can be allowed only once, where there is something to say."""
    return sentence(asked.why_once) if asked.why_once else ""


def _how() -> str:
    return _("To allow it, hold the key and answer with yes, the verb and the name.")


def _denies(said: str, heard: Words, language: str) -> bool:
    """Whether it is a refusal: as a whole, or because it begins like one."""
    for tongue in dict.fromkeys((language or FALLBACK, FALLBACK)):
        whole = trimmed(words(said), phrases("polite", tongue))
        if whole in phrases("no", tongue):
            return True
    return any(heard[: len(no)] == no for no in phrases("no", FALLBACK))


def _longest(kind: str) -> list[Words]:
    return sorted(phrases(kind, FALLBACK), key=len, reverse=True)


def _subsets(places: list[int]) -> Iterator[frozenset[int]]:
    """All sets of `places`, the largest first."""
    for size in range(len(places), -1, -1):
        yield from map(frozenset, combinations(places, size))


def _names(name: str) -> Iterator[str]:
    """The letters of every way to say a path: with its ending, with one as it is misheard, without it."""
    path = PurePath(name.replace("\\", "/"))
    ending = path.suffix.removeprefix(".").casefold()
    stem = _letters(words(str(path.with_suffix("")).replace("_", " "))) if path.name else ""
    if not stem:
        return
    yield stem
    if ending:
        misheard = resources.yaml(FILE)[FALLBACK]["endings"].get(ending, ())
        yield from (stem + _letters(words(str(form))) for form in (ending, *misheard))


def _letters(said: list[str] | Words) -> str:
    """Words run together, numbers as digits: how a name is cut into words does not count."""
    out: list[str] = []
    tens = 0
    for part in (part for word in said for part in _PARTS.findall(word)):
        unit = _NUMBERS.get(part, "")
        if tens:
            if unit and 0 < int(unit) < 10:
                out.append(str(tens * 10 + int(unit)))
                tens = 0
                continue
            out.append(str(tens * 10))
            tens = 0
        if part in _TENS:
            tens = _TENS[part]
        else:
            out.append(unit or part)
    return "".join([*out, str(tens * 10) if tens else ""])


def _alike(said: str, name: str) -> bool:
    """Whether a long name was heard but for one letter of the same sound, or one that was doubled or not."""
    if min(len(said), len(name)) < _FORGIVING or abs(len(said) - len(name)) > 1:
        return False
    start = next((n for n, (a, b) in enumerate(zip(said, name, strict=False)) if a != b), None)
    if start is None:
        return len(said) == len(name)
    if len(said) == len(name):
        same = any(said[start] in sound and name[start] in sound for sound in _SOUNDS)
        return same and said[start + 1 :] == name[start + 1 :]
    longer, shorter = sorted((said, name), key=len, reverse=True)
    return longer[start] == longer[start - 1].strip() and longer[start + 1 :] == shorter[start:]
