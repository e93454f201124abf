"""Cuts growing Markdown into pieces that never change again once the next one began.

Boundaries depend only on characters already seen, so any way of feeding the same text gives the same
chunks; a chunk may hold several Markdown blocks, but no block is cut except at the stated limits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

MAX_LINES = 120
MAX_LINE = 4096
_FENCE = re.compile(r"^( {0,3})(`{3,}|~{3,})[ \t]*([^`\n]*)$")
_LIST = re.compile(r"^(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_REFERENCE = re.compile(r"^ {0,3}\[[^\]\n]{1,200}\]:[ \t]*\S+[^\n]*$", re.MULTILINE)


@dataclass(slots=True)
class Chunk:
    """A run of source. `code` holds only the content of a fence, `language` its label; `follows` says the
    chunk goes on with the one before it (a cut at a limit); `glued` that not even a newline is between."""

    kind: Literal["prose", "code"]
    text: str
    language: str = ""
    follows: bool = False
    glued: bool = False


@dataclass(slots=True)
class Cutter:
    """Feed it text in any portions; `done` grows, `open()` is the chunk still being written, if any."""

    done: list[Chunk] = field(default_factory=list)
    _lines: list[str] = field(default_factory=list)
    _partial: str = ""
    _kind: Literal["prose", "code"] = "prose"
    _language: str = ""
    _fence: str = ""
    _indent: int = 0
    _inner: str = ""
    _blank: bool = True
    _follows: bool = False
    _glued: bool = False
    _cut_line: bool = False

    def feed(self, text: str) -> None:
        """Take more text."""
        start = 0
        while start < len(text):
            end = text.find("\n", start)
            stop = len(text) if end < 0 else end
            room = MAX_LINE - len(self._partial)
            if stop - start > room:
                self._partial += text[start : start + room]
                start += room
                self._end_line(newline=False)
                continue
            self._partial += text[start:stop]
            start = stop
            if end >= 0:
                start += 1
                self._end_line(newline=True)

    def open(self) -> Chunk | None:
        """The chunk still being written, with the unfinished line."""
        lines = self._lines
        if self._partial and not self._closes(self._partial):
            opened = _FENCE.match(self._partial) if self._kind == "prose" and not self._inner else None
            if not (opened and not opened.group(1)):
                lines = [*lines, self._dedent(self._partial)]
        text = self._text(lines)
        if self._kind == "prose" and not text.strip():
            return None
        return Chunk(self._kind, text, self._language, self._follows, self._glued)

    def all(self) -> list[Chunk]:
        """Every chunk of what was fed so far."""
        last = self.open()
        return [*self.done, last] if last else list(self.done)

    def _end_line(self, *, newline: bool) -> None:
        line, self._partial = self._partial, ""
        whole = newline and not self._cut_line
        self._cut_line = not newline
        if self._kind == "code":
            if whole and self._closes(line):
                self._close("prose")
                return
            self._lines.append(self._dedent(line))
        elif not (whole and self._starts_fence(line)):
            if whole and self._lines and self._splits_before(line):
                self._close("prose")
            self._track_inner(line)
            self._lines.append(line)
            self._blank = not line.strip()
        if not newline:
            self._close(self._kind, follows=True, glued=True)
        elif len(self._lines) >= MAX_LINES:
            self._close(self._kind, follows=True)

    def _starts_fence(self, line: str) -> bool:
        match = _FENCE.match(line)
        in_list = bool(self._lines) and bool(_LIST.match(self._lines[0])) and line.startswith(" ")
        if match is None or self._inner or in_list:
            return False
        self._close("code")
        self._indent, self._fence = len(match.group(1)), match.group(2)
        self._language = match.group(3).strip().split(" ")[0] if match.group(3).strip() else ""
        return True

    def _track_inner(self, line: str) -> None:
        mark = line.lstrip(" \t>")[:3]
        if self._inner and mark == self._inner:
            self._inner = ""
        elif not self._inner and mark in ("```", "~~~") and line[:1] in " \t>":
            self._inner = mark

    def _splits_before(self, line: str) -> bool:
        if not self._blank or not line.strip() or line[0] in " \t":
            return False
        if self._inner and line[0] == ">":
            return False
        self._inner = ""
        return not (_LIST.match(line) and _LIST.match(self._lines[0]))

    def _closes(self, line: str) -> bool:
        shown = line.strip()
        return (
            self._kind == "code"
            and len(line) - len(line.lstrip(" ")) < 4
            and len(shown) >= len(self._fence)
            and set(shown) == {self._fence[0]}
        )

    def _dedent(self, line: str) -> str:
        if self._kind != "code" or not self._indent:
            return line
        return line[min(self._indent, len(line) - len(line.lstrip(" "))) :]

    def _text(self, lines: list[str]) -> str:
        return "\n".join(lines).strip("\n") if self._kind == "prose" else "\n".join(lines)

    def _close(self, kind: Literal["prose", "code"], *, follows: bool = False, glued: bool = False) -> None:
        text = self._text(self._lines)
        if text.strip() or (self._kind == "code" and not self._follows):
            self.done.append(Chunk(self._kind, text, self._language, self._follows, self._glued))
        elif follows and self._kind == "prose":
            follows = glued = False
        self._lines, self._blank, self._follows, self._glued = [], True, follows, glued
        if not (follows and kind == self._kind):
            self._language = self._fence = self._inner = ""
            self._indent = 0
        self._kind = kind


def chunks(text: str) -> list[Chunk]:
    """The chunks of a whole text."""
    cutter = Cutter()
    cutter.feed(text)
    return cutter.all()


def references(text: str) -> str:
    """The link reference definitions of a finished text, to be parsed beside each of its chunks."""
    return "\n".join(_REFERENCE.findall(text)[:200]) if "]:" in text else ""
