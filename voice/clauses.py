"""An answer that streams becomes clauses short enough to be spoken while the rest is still written."""

from __future__ import annotations

import re
from dataclasses import dataclass

from voice.blocks import REACH, Block, block_at, skip_blank, text_end
from voice.language import detect
from voice.sentences import FEWEST, cut
from voice.wording import Table, block_aloud, text_aloud

_BEGINS = re.compile(r"\n|\s\w")
"""A line or a word begins, so that what stands before it may have ended."""

_SHORT, _GROWN = 200, 1.0625
"""Beyond so many characters without an end, signs alone are looked at again when the text has grown."""


@dataclass(frozen=True)
class Clause:
    """`text` is the exact stretch of the answer; `spoken` is how it is read aloud, which may be empty."""

    text: str
    spoken: str


class Clauses:
    """Cuts one answer after another; the pieces an answer comes in change nothing about its clauses.

    The texts of all clauses, joined, are the answer. The first clause has four to eight words (see
    voice/sentences.py), then each sentence is one. Code, a row of a table, a heading and math on its own are
    one clause each. `language` is the answer's, empty to find it out.
    """

    def __init__(self, language: str = "") -> None:
        self._given = language
        self._begin_answer()

    def add(self, text: str) -> list[Clause]:
        """The clauses that `text` completed."""
        goes_on = text.isascii() and text.isalnum() and self._rest[-1:].isalnum()
        begins = _BEGINS.search(self._rest[-1:] + text) is not None
        self._rest += text
        if goes_on and len(self._rest) < REACH:
            return []
        if not begins and len(self._rest) > _SHORT and len(self._rest) < self._looked * _GROWN:
            return []
        return self._take(final=False)

    def end(self) -> list[Clause]:
        """What is left; then a new answer begins."""
        clauses = self._take(final=True)
        self._begin_answer()
        return clauses

    def _begin_answer(self) -> None:
        self._rest = ""
        self._language = self._given or "en"
        self._at_line = True
        self._quoted = False
        self._table: Table | None = None
        self._searched = 0
        self._looked = 0
        self._words = 0

    def _take(self, final: bool) -> list[Clause]:
        clauses = []
        while self._rest and (clause := self._next(final)) is not None:
            clauses.append(clause)
        self._looked = len(self._rest)
        return clauses

    def _next(self, final: bool) -> Clause | None:
        start, lead = 0, None
        if self._at_line:
            begin = skip_blank(self._rest)
            if begin == len(self._rest):
                return self._clause(begin, "") if final else None
            lead = block_at(self._rest, begin, final, self._table is not None, self._searched)
            if lead is None:
                self._searched = len(self._rest)
                return None
            if lead.end is not None:
                return self._block(lead, lead.end)
            start = lead.marker
            self._quoted = ">" in self._rest[begin:start]
        seen, closed = text_end(self._rest, start, final, self._quoted)
        length = cut(self._rest[start:seen], closed, self._words < FEWEST)
        if length is None:
            return None
        self._table = None
        self._at_line = closed and start + length == seen
        words = self._rest[start : start + length]
        self._hear(words)
        return self._clause(start + length, text_aloud(words, self._language, lead, self._at_line))

    def _block(self, block: Block, end: int) -> Clause:
        source = self._rest[block.marker : end]
        if block.kind != "code":
            self._hear(source)
        spoken, self._table = block_aloud(block, source, self._language, self._table)
        return self._clause(end, spoken)

    def _hear(self, text: str) -> None:
        if not self._given:
            self._language = detect(text, self._language)

    def _clause(self, length: int, spoken: str) -> Clause:
        text, self._rest = self._rest[:length], self._rest[length:]
        self._searched = 0
        self._words += len(spoken.split())
        return Clause(text, spoken)
