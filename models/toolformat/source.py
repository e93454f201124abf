"""Text that arrives in pieces, read by a routine that waits where it cannot yet decide."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable
from typing import TypeVar

Result = TypeVar("Result")
Reading = Generator[None, None, Result]
"""A routine that yields whenever it needs more text."""

Sink = Callable[[str], None]

_SPACE = re.compile(r"\s*")


class Marks:
    """Literals to look for together. Where one begins with another, the longer wins."""

    __slots__ = ("_begins", "_firsts", "_longer", "_pattern", "_reach")

    def __init__(self, literals: Iterable[str]) -> None:
        known = sorted({literal for literal in literals if literal}, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, known))) if known else None
        self._begins = {one[:size] for one in known for size in range(1, len(one))}
        self._longer = {one for one in known if one in self._begins}
        self._firsts = (
            re.compile("[" + re.escape("".join({one[0] for one in known})) + "]") if known else None
        )
        self._reach = max(map(len, known), default=1) - 1

    def find(self, text: str, at: int, ended: bool) -> tuple[int, str]:
        """(where the first mark stands, the mark), or (where one may be beginning, "")."""
        if self._pattern is None or self._firsts is None:
            return len(text), ""
        found = self._pattern.search(text, at)
        if ended:
            return (found.start(), found.group()) if found else (len(text), "")
        maybe = self._beginning(text, max(at, len(text) - self._reach))
        if found is None or maybe < found.start():
            return maybe, ""
        if maybe == found.start() and found.group() in self._longer:
            return maybe, ""
        return found.start(), found.group()

    def at(self, text: str, at: int, ended: bool) -> str | None:
        """The mark that stands at `at`; "" for none; None if more text is needed to tell."""
        if self._pattern is None:
            return ""
        found = self._pattern.match(text, at)
        if not ended and text[at : at + self._reach + 1] in self._begins and len(text) - at <= self._reach:
            return None
        return found.group() if found else ""

    def _beginning(self, text: str, start: int) -> int:
        assert self._firsts is not None
        for found in self._firsts.finditer(text, start):
            if text[found.start() :] in self._begins:
                return found.start()
        return len(text)


class Source:
    """What has been fed and not yet been read; reading takes time in proportion to the text."""

    __slots__ = ("at", "ended", "record", "text")

    def __init__(self) -> None:
        self.text = ""
        self.at = 0
        self.ended = False
        self.record: list[str] | None = None

    def feed(self, piece: str) -> None:
        """More text."""
        self.text = self.text[self.at :] + piece
        self.at = 0

    def take(self, end: int) -> str:
        """The text up to `end`, now read."""
        taken = self.text[self.at : end]
        self.at = end
        if self.record is not None:
            self.record.append(taken)
        return taken

    def peek(self) -> Reading[str]:
        """The next character without reading it; "" at the end."""
        while self.at >= len(self.text) and not self.ended:
            yield
        return self.text[self.at : self.at + 1]

    def space(self) -> Reading[str]:
        """Read white space; returns the character after it, which is not read."""
        while True:
            found = _SPACE.match(self.text, self.at)
            self.take(found.end() if found else self.at)
            if self.at < len(self.text) or self.ended:
                return self.text[self.at : self.at + 1]
            yield

    def until(self, marks: Marks, sink: Sink) -> Reading[str]:
        """Pass text to `sink` up to the next mark, which is read and returned; "" at the end of the text."""
        while True:
            end, mark = marks.find(self.text, self.at, self.ended)
            if end > self.at:
                sink(self.take(end))
            if mark:
                self.take(self.at + len(mark))
                return mark
            if self.ended:
                return ""
            yield

    def mark(self, marks: Marks) -> Reading[str]:
        """Read the mark that comes next and return it; "" if none does."""
        while True:
            found = marks.at(self.text, self.at, self.ended)
            if found is not None:
                self.take(self.at + len(found))
                return found
            yield

    def run(self, pattern: re.Pattern[str], limit: int) -> Reading[str]:
        """Read the longest run of characters that `pattern` (a repeated class) matches, at most `limit`."""
        taken = ""
        while True:
            found = pattern.match(self.text, self.at)
            end = min(found.end() if found else self.at, self.at + limit - len(taken))
            taken += self.take(end)
            if self.at < len(self.text) or self.ended or len(taken) >= limit:
                return taken
            yield
