"""The blocks of Markdown as a reader needs them: what stands where a line begins, and where it ends."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["code", "heading", "header", "row", "rule", "math", "comment", "item", "text"]

REACH = 1500
"""Characters within which a clause ends, and beyond which nothing is looked for."""

_BLANK = re.compile(r"(?:[ \t]*\n)*")
_QUOTE = re.compile(r"(?:[ \t]*>)+[ \t]?")
_FENCE = re.compile(r"[ \t]*(?:>[ \t]*)*(`{3,}|~{3,})[ \t]*([^`\n]*)$")
_HEADING = re.compile(r"[ \t]*#{1,6}(?:[ \t]|$)")
_ITEM = re.compile(r"[ \t]*(?:[-*+•‣◦]|(\d{1,3})[.)])[ \t]+(?:\[([ xX])\][ \t]+)?")
_RULE = re.compile(r"[ \t]*([-*_=])(?:[ \t]*\1)*[ \t]*$")
_DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_DEFINITION = re.compile(r"[ \t]*\[[^\]^\n]+\]:[ \t]*\S+.*$")
_ENDS = re.compile(r"[.!?…。！？`$\\[\\\\]")
_CELL_WORDS = 3
_FAR = 5000
_LEADS = "`~#|>$\\<-*+_=[•‣◦0123456789"


@dataclass(frozen=True)
class Block:
    """What begins at a line: `end` is the offset behind it, None for "item" and "text", whose end is found
    while they are read. `marker` is the offset where the words begin; `number` and `tick` are of an item
    ("3", "x"), `info` of code."""

    kind: Kind
    marker: int
    end: int | None = None
    number: str = ""
    tick: str = ""
    info: str = ""


def skip_blank(text: str) -> int:
    """The offset of the first line of `text` that is not empty."""
    match = _BLANK.match(text)
    return match.end() if match else 0


def block_at(text: str, begin: int, final: bool, in_table: bool, searched: int = 0) -> Block | None:
    """The block at the line that begins at `begin`; None when it takes more text to know it, which never
    happens with `final`. `in_table`: the block before was the header or a row of a table. `searched` is how
    much of the text was already seen without the end of the code that begins here."""
    line_end = text.find("\n", begin)
    whole = line_end >= 0 or final
    line = text[begin : line_end if line_end >= 0 else len(text)]
    quote = _QUOTE.match(line)
    marker = begin + (quote.end() if quote else 0)
    bare = line[marker - begin :]
    stripped = bare.lstrip()
    if not whole and (in_table or not stripped):
        return None
    if not stripped or stripped[0] not in _LEADS:
        return _plain(text, marker, line_end, final, in_table)
    if stripped.startswith(("```", "~~~")):
        return _code(text, begin, line_end, whole, final, searched)
    if stripped.startswith(("$$", "\\[", "<!--")):
        return _closed_by(text, marker, bare, final)
    after = line_end + 1 if line_end >= 0 else len(text)
    if stripped[0] == "|":
        return _table(text, marker, after, whole, final, in_table)
    if (item := _ITEM.match(bare)) is not None and (whole or item.end() < len(bare)):
        if _RULE.match(bare) and len(stripped.replace(" ", "")) > 2:
            return Block("rule", marker, after) if whole else None
        return Block("item", marker + item.end(), None, item[1] or "", (item[2] or "").lower())
    if not whole and undecided(bare):
        return None
    if whole and _HEADING.match(bare):
        return Block("heading", marker, after)
    if whole and _RULE.match(bare) and len(stripped.replace(" ", "")) > 2:
        return Block("rule", marker, after)
    if stripped[0] == "[" and not whole and "]" not in stripped[:-1]:
        return None if len(stripped) < REACH else Block("text", marker)
    if _DEFINITION.match(bare):
        return Block("rule", marker, after) if whole else None
    return _plain(text, marker, line_end, final, in_table)


def undecided(line: str) -> bool:
    """Whether the beginning of a line could still become more than one thing."""
    stripped = line.lstrip(" \t>")
    if not stripped:
        return True
    if stripped[0] == "#":
        return _HEADING.match(stripped + " ") is not None or _HEADING.match(stripped) is not None
    if stripped[0] in "-*_=+~`$" and not stripped.strip(stripped[0] + " \t"):
        return True
    if stripped in ("\\", "<", "<!", "<!-", "•", "‣", "◦"):
        return True
    return re.fullmatch(r"\d{1,3}[.)]?[ \t]*", stripped) is not None


def begins_block(line: str, whole: bool) -> bool | None:
    """Whether a line that follows a line of text is empty or begins something new; None when that cannot be
    known before more of it is there."""
    stripped = line.lstrip(" \t")
    if not stripped:
        return True if whole else None
    if stripped[0] not in _LEADS:
        return False
    if stripped.startswith(("```", "~~~", "$$", "\\[", "|", ">", "<!--")):
        return True
    item = _ITEM.match(stripped)
    if item is not None and (whole or item.end() < len(stripped)):
        return True
    if not whole and undecided(stripped):
        return None
    return bool(_HEADING.match(stripped) or (whole and _RULE.match(stripped)))


def text_end(text: str, begin: int, final: bool, quoted: bool) -> tuple[int, bool]:
    """How far the text that begins at `begin` can be read now, and whether it ends there.

    Looks no further than REACH. `quoted`: its lines begin with ">".
    """
    at = begin
    reach = begin + REACH
    while True:
        newline = text.find("\n", at, reach + 1)
        if newline < 0:
            seen = min(len(text), reach)
            return seen, final and seen == len(text)
        following = text.find("\n", newline + 1)
        whole = following >= 0 or final
        line = text[newline + 1 : following if following >= 0 else len(text)]
        begins = begins_block(_QUOTE.sub("", line, count=1) if quoted else line, whole)
        if begins is None:
            return newline, False
        if begins:
            return newline + 1, True
        at = newline + 1


def _plain(text: str, marker: int, line_end: int, final: bool, in_table: bool) -> Block | None:
    """Text, or part of a table without bars at its edges, whose first cell is so short that no clause can end
    in it before the bar is seen."""
    end = line_end if line_end >= 0 else len(text)
    cell, bar, _ = text[marker : min(end, marker + REACH)].partition("|")
    if not bar or len(cell.split()) > _CELL_WORDS or _ENDS.search(cell):
        return Block("text", marker)
    if line_end < 0 and not final:
        return None if end - marker < REACH else Block("text", marker)
    return _table(text, marker, end + 1, True, final, in_table)


def _table(text: str, marker: int, after: int, whole: bool, final: bool, in_table: bool) -> Block | None:
    if in_table:
        return Block("row", marker, min(after, len(text))) if whole else None
    below = text.find("\n", after)
    if below < 0 and not final:
        return None
    line = text[after : below if below >= 0 else len(text)]
    if "-" in line and _DELIMITER.match(line.lstrip("> \t") if text[:marker].endswith(("> ", ">")) else line):
        return Block("header", marker, below + 1 if below >= 0 else len(text))
    return Block("text", marker)


def _code(text: str, begin: int, line_end: int, whole: bool, final: bool, searched: int) -> Block | None:
    if not whole:
        return None
    line = text[begin : line_end if line_end >= 0 else len(text)]
    fence = _FENCE.match(line)
    if fence is None:
        return Block("text", begin)
    if line_end < 0:
        return Block("code", begin, len(text), info=fence[2].strip())
    mark = re.escape(fence[1][0])
    close = re.compile(rf"^[ \t]*(?:>[ \t]*)*{mark}{{{len(fence[1])},}}[ \t]*(?:\n|\Z)", re.MULTILINE)
    from_line = text.rfind("\n", 0, max(searched, line_end + 1)) + 1
    found = close.search(text, max(from_line, line_end + 1))
    if found is not None and (final or found[0].endswith("\n")):
        return Block("code", begin, found.end(), info=fence[2].strip())
    return Block("code", begin, len(text), info=fence[2].strip()) if final else None


def _closed_by(text: str, marker: int, bare: str, final: bool) -> Block | None:
    """Math on lines of its own, or a comment, with the rest of the line that closes it."""
    lead = bare.lstrip()
    opening, closing, kind = ("$$", "$$", "math")
    if lead.startswith("\\["):
        opening, closing = "\\[", "\\]"
    elif lead.startswith("<!--"):
        opening, closing, kind = "<!--", "-->", "comment"
    begin = text.index(opening, marker) + len(opening)
    found = text.find(closing, begin, begin + _FAR + len(closing))
    if found < 0:
        if len(text) >= begin + _FAR + len(closing):
            return Block("text", marker)
        return Block(_closable(kind), marker, len(text)) if final else None
    newline = text.find("\n", found)
    if newline < 0 and not final:
        return None
    end = newline + 1 if newline >= 0 else len(text)
    if text[found + len(closing) : end].strip(" \t\n.,;"):
        return Block("text", marker)
    return Block(_closable(kind), marker, end)


def _closable(kind: str) -> Kind:
    return "math" if kind == "math" else "comment"
