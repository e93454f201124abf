"""Reads JSON values from a source without parsing them, passing their text on as it arrives."""

from __future__ import annotations

import re
from collections.abc import Iterable

from models.toolformat.source import Marks, Reading, Sink, Source

_IN_STRING = re.compile(r'["\\]')
_SCALAR = re.compile(r"[^\s,\]})<]*")
_LONGEST_SCALAR = 4096


class Scanner:
    """Scans values that end where their brackets close or where one of `stops` stands outside a string.

    `quotes` are the marks that enclose strings; a backslash escapes inside those of one character.
    """

    __slots__ = ("_marks", "_outside", "_quotes", "_stops")

    def __init__(
        self, stops: Iterable[str] = (), quotes: Iterable[str] = ('"',), brackets: str = "[]{}"
    ) -> None:
        self._stops = frozenset(stops)
        self._quotes = frozenset(quotes)
        self._marks = Marks((*self._stops, *self._quotes, *brackets))
        firsts = "".join({mark[0] for mark in (*self._stops, *self._quotes)}) + brackets
        self._outside = re.compile("[" + re.escape(firsts) + "]")

    def container(self, source: Source, sink: Sink) -> Reading[bool]:
        """Read an object or a list from its first bracket on; False if it does not close."""
        depth = 0
        while True:
            found = self._outside.search(source.text, source.at)
            if found is None or found.start() > source.at:
                sink(source.take(found.start() if found else len(source.text)))
            if found is None:
                if source.ended:
                    return False
                yield
                continue
            mark = self._marks.at(source.text, source.at, source.ended)
            if mark is None:
                yield
                continue
            if mark in self._stops:
                return False
            sink(source.take(source.at + max(1, len(mark))))
            if mark in self._quotes:
                closed = yield from string_rest(source, sink, mark)
                if not closed:
                    return False
            elif mark and mark in "[{(":
                depth += 1
            elif mark and mark in "]})":
                depth -= 1
                if depth <= 0:
                    return True

    def value(self, source: Source, sink: Sink) -> Reading[bool]:
        """Read any value; False if the source ends or a stop comes before it does."""
        first = yield from source.space()
        if first and first in "[{":
            return (yield from self.container(source, sink))
        if first == '"':
            sink(source.take(source.at + 1))
            return (yield from string_rest(source, sink, '"'))
        taken = yield from source.run(_SCALAR, _LONGEST_SCALAR)
        sink(taken)
        return bool(taken) and source.at < len(source.text)


def string_rest(source: Source, sink: Sink, quote: str) -> Reading[bool]:
    """Read a string after its opening quote, with the closing one; False if it does not close."""
    if len(quote) > 1:
        mark = yield from source.until(Marks((quote,)), sink)
        sink(mark)
        return bool(mark)
    pattern = _IN_STRING if quote == '"' else re.compile("[" + re.escape(quote) + r"\\]")
    while True:
        found = pattern.search(source.text, source.at)
        if found is None:
            sink(source.take(len(source.text)))
        elif found.group() == quote:
            sink(source.take(found.end()))
            return True
        elif found.end() < len(source.text):
            sink(source.take(found.end() + 1))
            continue
        else:
            sink(source.take(found.start()))
        if source.ended:
            sink(source.take(len(source.text)))
            return False
        yield
