"""Reads values that are nearly JSON: Python literals, bare keys, trailing commas, other quotes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

DEPTH = 64
"""Values nested deeper are refused."""

_SPACE = re.compile(r"[\s]*")
_WORD = re.compile(r"[A-Za-z_$][\w.$-]*")
_NUMBER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|(?:\d[\d_]*)?\.?\d+(?:[eE][-+]?\d+)?\.?|\d+\.)")
_WORDS = {"true": True, "false": False, "null": None, "none": None, "undefined": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0", "\n": ""}
_PLAIN = re.compile(r"[^\\\"']*")
_AFTER = re.compile(r"\s*(?:[,)\]}:=]|$)")
_BARE = re.compile(r"[^,\[\]{}()<>]*")


class Malformed(Exception):
    """The text is no value; the number is where."""


@dataclass(slots=True)
class Relaxed:
    """A cursor over `text`; `quote` is a mark that encloses strings besides ' and ".

    A `lenient` one ends a string only where a separator follows its quote, for text whose writer did not
    escape quotes inside strings.
    """

    text: str
    at: int = 0
    quote: str = ""
    lenient: bool = False

    def value(self, depth: int = 0) -> Any:
        """The next value. Raises Malformed."""
        if depth > DEPTH:
            raise Malformed(self.at)
        first = self.space()
        if self.quote and self.text.startswith(self.quote, self.at):
            return self._between(self.quote)
        if first in ("'", '"') and first:
            return self._string(first)
        if first == "{":
            return self._mapping(depth)
        if first and first in "[(":
            return self._sequence("]" if first == "[" else ")", depth)
        return self._atom()

    def space(self) -> str:
        """Skip white space; returns the next character, "" at the end."""
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.text[self.at : self.at + 1]

    def ends(self) -> bool:
        """Whether only white space is left."""
        return not self.space()

    def keywords(self) -> dict[str, Any]:
        """`(key=value, …)` from the opening parenthesis on. Raises Malformed."""
        self.at += 1
        found: dict[str, Any] = {}
        while (first := self.space()) != ")":
            if first == ",":
                self.at += 1
                continue
            key = self.word()
            if self.space() not in ("=", ":"):
                raise Malformed(self.at)
            self.at += 1
            found[key] = self.value(1)
        self.at += 1
        return found

    def word(self) -> str:
        """A name. Raises Malformed."""
        found = _WORD.match(self.text, self.at)
        if found is None:
            raise Malformed(self.at)
        self.at = found.end()
        return found.group()

    def _mapping(self, depth: int) -> dict[str, Any]:
        self.at += 1
        found: dict[str, Any] = {}
        while (first := self.space()) != "}":
            if first == ",":
                self.at += 1
                continue
            if first in ("'", '"') or (self.quote and self.text.startswith(self.quote, self.at)):
                key = str(self.value(depth + 1))
            else:
                key = self.word()
            if self.space() not in (":", "="):
                raise Malformed(self.at)
            self.at += 1
            found[key] = self.value(depth + 1)
            if self.space() not in (",", "}"):
                raise Malformed(self.at)
        self.at += 1
        return found

    def _sequence(self, end: str, depth: int) -> list[Any]:
        self.at += 1
        found: list[Any] = []
        while (first := self.space()) != end:
            if first == ",":
                self.at += 1
                continue
            found.append(self.value(depth + 1))
            if self.space() not in (",", end):
                raise Malformed(self.at)
        self.at += 1
        return found

    def _between(self, mark: str) -> str:
        start = self.at + len(mark)
        end = self.text.find(mark, start)
        if end < 0:
            raise Malformed(self.at)
        self.at = end + len(mark)
        return self.text[start:end]

    def _string(self, quote: str) -> str:
        triple = quote * 3
        if self.text.startswith(triple, self.at) and self.text.find(triple, self.at + 3) >= 0:
            return self._between(triple)
        self.at += 1
        pieces: list[str] = []
        while True:
            found = _PLAIN.match(self.text, self.at)
            assert found is not None
            pieces.append(found.group())
            self.at = found.end()
            character = self.text[self.at : self.at + 1]
            if not character:
                raise Malformed(self.at)
            self.at += 1
            if character == quote and (not self.lenient or _AFTER.match(self.text, self.at)):
                return "".join(pieces)
            pieces.append(self._escape() if character == "\\" else character)

    def _escape(self) -> str:
        character = self.text[self.at : self.at + 1]
        self.at += 1
        sizes = {"u": 4, "x": 2, "U": 8}
        if character in sizes:
            digits = self.text[self.at : self.at + sizes[character]]
            try:
                code = int(digits, 16)
                self.at += len(digits)
                return chr(code)
            except (ValueError, OverflowError):
                return character
        if character in _ESCAPES:
            return _ESCAPES[character]
        return character if character in "\\'\"/`" else "\\" + character

    def _atom(self) -> Any:
        word = _WORD.match(self.text, self.at)
        if word and word.group().lower() in _WORDS:
            self.at = word.end()
            return _WORDS[word.group().lower()]
        number = _NUMBER.match(self.text, self.at)
        if number:
            self.at = number.end()
            return _number(number.group())
        bare = _BARE.match(self.text, self.at)
        if self.quote and bare and bare.group().strip():
            self.at = bare.end()
            return bare.group().strip()
        raise Malformed(self.at)


def _number(text: str) -> int | float:
    plain = text.replace("_", "")
    if "x" in plain.lower():
        return int(plain, 16)
    if re.fullmatch(r"[-+]?\d+", plain):
        return int(plain) if len(plain) < 4000 else float(plain)
    return float(plain.rstrip(".") if plain.endswith(".") else plain)
