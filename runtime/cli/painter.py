"""Colours Markdown while it streams: every character stays, wherever the stream is cut."""

from __future__ import annotations

import re
from unicodedata import east_asian_width

from runtime.cli.terminal import STYLES, visible

_LEAD = re.compile(r" {0,12}(?:#{0,6}|`{0,9}|~{0,9}|[-*+]|\d{1,9}[.)]?|>)")
_HEADING = re.compile(r" {0,3}#{1,6} ")
_ITEM = re.compile(r" *(?:[-*+]|\d{1,9}[.)]) ")
_QUOTE = re.compile(r" {0,3}> ?")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LONGEST_HELD = 24
_LONGEST_FENCE = 400
_PIECE = 512


def _columns(text: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


class Painter:
    """Feed it an answer in pieces of any size; it returns what to write to a terminal `width` columns wide.

    Prose is broken between words; apart from those breaks and the colours the text is what was fed, with
    control characters made visible. `width` 0 never breaks, `colour` false never colours.
    """

    def __init__(self, width: int, *, colour: bool = True) -> None:
        self._width = width
        self._colour = colour
        self._held = ""
        self._start = True
        self._fence = ""
        self._line = ""
        self._bold = False
        self._code = False
        self._word: list[tuple[str, str]] = []
        self._word_columns = 0
        self._space = ""
        self._column = 0
        self._indent = 0

    def feed(self, text: str) -> str:
        """The next piece, as far as it can be decided."""
        shown = visible(text)
        painted = []
        for start in range(0, len(shown), _PIECE):
            self._held += shown[start : start + _PIECE]
            painted.append(self._drain(final=False))
        return "".join(painted)

    def finish(self) -> str:
        """What was held back. One painter paints one text."""
        return self._drain(final=True) + self._flush()

    def _drain(self, *, final: bool) -> str:
        painted = ""
        while self._held:
            if self._start:
                lead = self._opening(final)
                if lead is None:
                    break
                painted += lead
            else:
                taken = self._inline(final)
                if taken is None:
                    break
                painted += taken
        return painted

    def _opening(self, final: bool) -> str | None:
        """Decide what kind of line begins; None while that depends on what comes next."""
        line, newline, _rest = self._held.partition("\n")
        undecided = _LEAD.fullmatch(line) is not None
        fence = _FENCE.match(line)
        if not newline and not final and (undecided or (fence and len(line) < _LONGEST_FENCE)):
            return None
        self._start = False
        self._line = ""
        if fence and self._is_border(line, fence.group(1)):
            self._fence = "" if self._fence else fence.group(1)
            self._held = self._held[len(line) :]
            return self._tint(line, "dim")
        if self._fence:
            self._line = "code"
            return ""
        return self._prose(line)

    def _is_border(self, line: str, marks: str) -> bool:
        """Whether a line that begins with fence `marks` opens a block of code, or closes the open one."""
        if not self._fence:
            return marks[0] == "~" or "`" not in line.strip()[len(marks) :]
        return line.strip() == marks and marks[0] == self._fence[0] and len(marks) >= len(self._fence)

    def _prose(self, line: str) -> str:
        heading, item, quote = _HEADING.match(line), _ITEM.match(line), _QUOTE.match(line)
        found = heading or item or quote
        self._line = "heading" if heading else "prose"
        self._indent = 0
        if found is None:
            self._indent = len(line) - len(line.lstrip(" ")) if line.strip() else 0
            return ""
        mark = found.group()
        self._held = self._held[len(mark) :]
        self._indent = len(mark) if item else 0
        self._column = len(mark)
        return self._tint(mark, "accent" if item else "dim")

    def _inline(self, final: bool) -> str | None:
        character = self._held[0]
        if character == "\n":
            return self._newline()
        if self._line == "code":
            end = self._held.find("\n")
            taken = self._held if end < 0 else self._held[:end]
            self._held = self._held[len(taken) :]
            return self._tint(taken, "code")
        if character == "*" and not self._code:
            if len(self._held) < 3 and not final and self._held in ("*", "**"):
                return None
            if self._held.startswith("**") and (self._bold or self._held[2:3].strip()):
                self._held = self._held[2:]
                self._bold = not self._bold
                return self._put("**", "dim")
        self._held = self._held[1:]
        if character == "`":
            self._code = not self._code
            return self._put(character, "dim")
        return self._put(character, "code" if self._code else "bold" if self._is_bold else "")

    @property
    def _is_bold(self) -> bool:
        return self._bold or self._line == "heading"

    def _newline(self) -> str:
        self._held = self._held[1:]
        painted = self._flush() + "\n"
        self._start = True
        self._column = 0
        self._bold = self._code = False
        return painted

    def _put(self, text: str, style: str) -> str:
        """Take a piece of the current word; a blank ends the word."""
        if text in " \t":
            painted = self._flush()
            self._space += text
            return painted
        if self._word and self._word[-1][0] == style:
            text = self._word.pop()[1] + text
        self._word.append((style, text))
        self._word_columns = sum(_columns(piece) for _style, piece in self._word)
        return self._flush() if self._word_columns >= _LONGEST_HELD or _columns(text) > len(text) else ""

    def _flush(self) -> str:
        """Write the blanks and the word; where it does not fit, a break takes the place of the blanks."""
        space, columns = self._space, self._word_columns
        word = "".join(self._tint(piece, style) for style, piece in self._word)
        self._space, self._word, self._word_columns = "", [], 0
        before = _columns(space)
        if word and space and self._width and self._column + before + columns > self._width:
            indent = self._indent if self._indent < self._width // 2 else 0
            self._column = indent + columns
            return "\n" + " " * indent + word
        self._column += before + columns
        return space + word

    def _tint(self, text: str, style: str) -> str:
        code = STYLES[style]
        return f"\x1b[{code}m{text}\x1b[0m" if code and text and self._colour else text
