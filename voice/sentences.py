"""Finds where a clause of running text ends, so that it can be spoken while the rest is being written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from voice.blocks import REACH

FEWEST, MOST, LONGEST = 4, 8, 40
"""Words: the first clause has FEWEST to MOST, a sentence of more than LONGEST is cut at a comma."""

_NEAR = 200
"""Characters within which most clauses end; looked at first."""

_ATOMS = (
    r"(?<!`)``(?!`)(?:[^`\n]|`(?!`)){1,300}``",
    r"(?<!`)`(?!`)[^`]{1,300}`",
    r"!?\[[^\[\]]{0,300}\]\([^()\s]{0,600}(?:\([^()\s]{0,100}\)[^()\s]{0,100})?(?:\s\"[^\"\n]{0,100}\")?\)",
    r"\\\(.{1,300}?\\\)",
    r"\$[^\s$\d][^$\n]{0,200}\$",
    r"<[^<>\s][^<>\n]{0,300}>",
)
_ATOM = "|".join(_ATOMS)
_OPENED = re.compile(rf"(?:{_ATOM})|`+|[\[$<]|\\\(", re.DOTALL)
_UNFINISHED = re.compile(
    r"`{1,2}\Z|``(?!`)(?:[^`\n]|`(?!`)){0,300}`?\Z|`(?!`)[^`]{0,300}\Z|\[[^\[\]]{0,300}\Z|\[[^\[\]]{0,300}\]\Z|\[[^\[\]]{0,300}\]\([^()\s]{0,600}"
    r"(?:\([^()\s]{0,100}(?:\)[^()\s]{0,100})?)?(?:\s(?:\"[^\"\n]{0,100}\"?)?)?\Z|"
    r"\\\(.{0,302}\Z|\$(?:[^\s$\d][^$\n]{0,200})?\Z|<(?:[^<>\s][^<>\n]{0,300})?\Z",
    re.DOTALL,
)
_WIDE_ENDS = "。！？｡"
_WIDE = "。！？｡，、；："
_CLOSERS = "*_~\"'”’»›)]」』）】"
_RUN = rf"(?>{_ATOM}|[^\s{_WIDE}])"
_TOKEN = re.compile(rf"{_RUN}*+[{_WIDE}]++[{re.escape(_CLOSERS)}]*+|{_RUN}++", re.DOTALL)
_IDEOGRAPHS = re.compile(r"[぀-ヿ㐀-鿿豈-﫿가-힯]")
_WORD = re.compile(r"[^\W_]")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_MONTHS = re.compile(
    r"(?:jan|feb|mär|mar|apr|mai|maj|jun|jul|aug|sep|okt|oct|nov|dez|dec|des)[^\W\d_]{0,6}\b", re.IGNORECASE
)

_NEVER_TEXT = """
al approx bspw bzw ca capt cf col d.h dott dr e.g ebd eg evtl excl ft gen ggf gov hon i.d.r i.e ie
incl inkl lt messrs mlle mme mr mrs ms mt o.ä p.ej ph.d prof rep resp rev s.o s.u sen sgt sig sog
sra srta st str u.a u.k u.s v vgl viz vs z.b zzgl
"""
_NEVER = frozenset(_NEVER_TEXT.split())
"""Never the end of a sentence."""

_NUMBERED_TEXT = """
abs art ch chap ed eq fig figs no nos nr p pp s sec vol vols
"""
_NUMBERED = frozenset(_NUMBERED_TEXT.split())
"""Not the end of a sentence before a number."""

_MAYBE_TEXT = """
a.m apr aug co corp dec dept etc feb fri inc jan jr jul jun ltd mar max min mon nov oct p.m sat sep
sept sr sun thu thurs tue tues usf usw wed
"""
_MAYBE = frozenset(_MAYBE_TEXT.split())
"""The end of a sentence only before a capital letter."""

_CONJUNCTIONS_TEXT = """
aber although and as because but car dass denn e eller en et if ma maar mais mas men o och oder
omdat or ou parce perché pero porque que since so sondern that then though und unless until weil
wenn when where which while who y
"""
_CONJUNCTIONS = frozenset(_CONJUNCTIONS_TEXT.split())
"""A reader could draw breath before them."""


@dataclass(frozen=True)
class _Token:
    begin: int
    end: int
    text: str
    words: float


def cut(text: str, closed: bool, eager: bool) -> int | None:
    """The offset behind the first clause of `text`, with the white space that follows it; None when more text
    must be seen first, which is never so where it is `closed` or REACH characters long.

    What is answered for a text is answered for every longer one as well. `eager`: end after FEWEST to MOST
    words already.
    """
    if len(text) > _NEAR and (near := cut(text[:_NEAR], False, eager)) is not None:
        return near
    limit = len(text) if closed else _decided(text)
    tokens = _tokens(text, limit)
    found = _cut(tokens, limit, closed, eager)
    if found is None and closed:
        return len(text)
    if found is None and len(text) >= REACH:
        return tokens[-1].begin if len(tokens) > 1 and tokens[-1].begin else REACH
    return found


def _cut(tokens: list[_Token], limit: int, closed: bool, eager: bool) -> int | None:
    words = 0.0
    for index, (token, following) in enumerate(pairwise(tokens)):
        words += token.words
        whole = closed or following.end < limit
        ends = _ends_sentence(token, following, index == 0, whole)
        if ends is None:
            return None
        if ends:
            return following.begin
        if eager and words >= FEWEST:
            pause = _pauses(token, following, whole)
            if pause is None:
                return None
            if pause or (words >= MOST and not _abbreviated(token, following)):
                return following.begin
        elif words >= LONGEST:
            return tokens[_comma(tokens, index) + 1].begin
    return None


def _decided(text: str) -> int:
    """Up to where no later text can make one thing of what is here: code, a link or math may still close."""
    for match in _OPENED.finditer(text):
        if len(match[0]) <= 2 and _UNFINISHED.match(text, match.start()):
            return match.start()
    return len(text)


def _tokens(text: str, limit: int) -> list[_Token]:
    found = []
    words = 0.0
    for match in _TOKEN.finditer(text, 0, limit):
        found.append(_Token(match.start(), match.end(), match[0], _words(match[0])))
        words += found[-1].words
        if words > LONGEST + 2:
            break
    return found


def _words(token: str) -> float:
    if wide := len(_IDEOGRAPHS.findall(token)):
        return wide / 2
    if " " not in token:
        return 1.0 if _WORD.search(token) else 0.0
    return float(len([word for word in token.partition("](")[0].split() if _WORD.search(word)]))


def _ends_sentence(token: _Token, following: _Token, first: bool, whole: bool) -> bool | None:
    """Whether a sentence ends between the two; None when more of the second must be seen."""
    bare = token.text.rstrip(_CLOSERS)
    if not bare or bare[-1] not in ".!?…" + _WIDE_ENDS + "؟۔।॥":
        return False
    if bare[-1] not in ".!?…":
        return True
    after = next((char for char in following.text if char.isalnum()), "")
    if not after and not whole:
        return None
    if after.islower():
        return False
    if bare[-1] != "." or bare.endswith(".."):
        return True
    if re.fullmatch(r"\W*\d{1,2}\.", bare):
        return None if not whole else not first and not _MONTHS.match(following.text)
    return not _abbreviated(token, following)


def _abbreviated(token: _Token, following: _Token) -> bool:
    bare = token.text.rstrip(_CLOSERS)
    if not bare.endswith("."):
        return False
    word = bare[:-1].lstrip("(\"'“‘*_[").lower()
    after = next((char for char in following.text if char.isalnum()), "")
    if word in _NEVER or (word in _NUMBERED and after.isdigit()):
        return True
    if word in _MAYBE:
        return not after.isupper()
    initial = len(word) == 1 and word.isalpha() and bare[-2].isupper()
    return initial or _INITIALS.fullmatch(word) is not None


def _pauses(token: _Token, following: _Token, whole: bool) -> bool | None:
    """Whether a reader could draw breath between the two."""
    bare = token.text.rstrip(_CLOSERS)
    if bare.endswith((",", ";", ":", "—", "–", "，", "、", "；", "：")) or bare == "-":
        return True
    word = following.text.strip("*_,").lower()
    if whole:
        return word in _CONJUNCTIONS
    return None if any(one.startswith(word) for one in _CONJUNCTIONS) else False


def _comma(tokens: list[_Token], last: int) -> int:
    """The best of the first `last` + 1 tokens to end a clause with."""
    places = range(last, FEWEST, -1)
    for index in places:
        if tokens[index].text.rstrip(_CLOSERS).endswith((",", ";", ":", "—", "–", "，", "、", "；", "：")):
            return index
    for index in places:
        if tokens[index + 1].text.strip("*_,").lower() in _CONJUNCTIONS:
            return index
    return last
