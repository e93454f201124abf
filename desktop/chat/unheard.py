"""Divides an answer where its speaking was interrupted, so that both parts are drawn as if it were whole."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_MARK = re.compile(r"\\.|`+|\*{1,3}|_{1,3}|~~", re.DOTALL)
_OPEN_LINK = re.compile(r"\[[^\[\]\n]*\Z")
_BLOCK = re.compile(r"([ \t]*)(?:(\d{1,9})([.)])|([-+>#|=]))(?=\s|#|\Z)")
_LINK_END = re.compile(r"[^\[\]\n]*(\]\([^()\s]*\))")


def divided(heard: str, rest: str) -> tuple[str, str]:
    """Both parts of an answer, with whatever mark of Markdown spans the cut closed in the first and opened
    again in the second. Marks that are never closed are left as they are written, and so is what would begin
    a list, a heading or a quotation only because the second part begins with it."""
    if fence := _open_fence(heard):
        mark, opening = fence
        return f"{heard.rstrip()}\n{mark}", f"{opening}\n{rest.lstrip(chr(10))}"
    link = _LINK_END.match(rest) if _OPEN_LINK.search(heard) else None
    if link is not None:
        heard, rest = heard + link[1], "[" + rest.lstrip()
    following = _PARAGRAPH.split(rest, maxsplit=1)[0]
    marks = _open_marks(_PARAGRAPH.split(heard)[-1])
    marks = [mark for mark in marks if _closes(mark, following)]
    if marks:
        heard, rest = heard.rstrip() + "".join(reversed(marks)), "".join(marks) + rest.lstrip()
    if heard.rpartition("\n")[2].strip():
        rest = _BLOCK.sub(r"\1\2\\\3\4", rest, count=1) if _BLOCK.match(rest) else rest
    return heard, rest


def _open_fence(text: str) -> tuple[str, str] | None:
    """The mark and the whole line that opened the block of code in which `text` ends."""
    opened: tuple[str, str] | None = None
    for line in _FENCE.finditer(text):
        if opened is None:
            opened = line[1], line[0].strip()
        elif line[1].startswith(opened[0]) and line[0].strip() == line[1]:
            opened = None
    return opened


def _open_marks(text: str) -> list[str]:
    """The marks of emphasis and code that are open at the end of `text`, in order."""
    opened: list[str] = []
    for found in _MARK.finditer(text):
        mark, before, behind = found[0], text[: found.start()][-1:], text[found.end() :][:1]
        code = opened[-1] if opened and opened[-1].startswith("`") else ""
        if code or mark.startswith("`"):
            if mark == code:
                opened.pop()
            elif not code:
                opened.append(mark)
        elif mark.startswith("\\"):
            continue
        elif mark in opened and before.strip():
            del opened[opened.index(mark) :]
        elif behind.strip() and not (mark.startswith("_") and before.isalnum()):
            opened.append(mark)
    return opened


def _closes(mark: str, text: str) -> bool:
    sign = re.escape(mark[0])
    before = "" if mark[0] == "`" else r"(?<=\S)"
    return re.search(rf"(?<!{sign}){before}{re.escape(mark)}(?!{sign})", text) is not None
