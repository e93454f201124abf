"""A changed file as parts that can be taken one by one, exact to the byte."""

from __future__ import annotations

import difflib
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

Form = Literal["text", "utf16", "binary", "large"]

CONTEXT = 3
MAX_BYTES = 2_000_000
MAX_WORK = 250_000
"""Pairs of lines of one stretch that are compared at most; a longer stretch differs as a whole."""
MAX_LINE = 500
MAX_SHOWN = 64_000


@dataclass(frozen=True, slots=True)
class Hunk:
    """One stretch of lines that differs: `old` and `new` are half-open ranges of lines, counted from 0,
    without the lines around. `text` shows it in unified form, with them; `added` and `removed` are counts."""

    old: tuple[int, int]
    new: tuple[int, int]
    text: str
    added: int
    removed: int

    @property
    def head(self) -> str:
        """Where it stands, as unified diffs say it."""
        return f"@@ -{_range(self.old)} +{_range(self.new)} @@"


def form_of(content: bytes) -> Form:
    """What a content is; only `text` (UTF-8 without NUL) has hunks, everything else goes as a whole."""
    if len(content) > MAX_BYTES:
        return "large"
    if content[:2] in (b"\xff\xfe", b"\xfe\xff") and _decodes(content, "utf-16"):
        return "utf16"
    return "text" if b"\0" not in content and _decodes(content, "utf-8") else "binary"


def split(before: bytes, after: bytes) -> tuple[Hunk, ...]:
    """The hunks that lead from one text to the other, in order; empty when they are equal.

    Both must be of the form `text`; lines end at LF, CR or CRLF, and the last may lack its end.
    """
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    plain_ends = _ends(old) | _ends(new) <= {b"\n", b""} or _ends(old) | _ends(new) <= {b"\r\n", b""}
    return tuple(_hunk(old, new, group, plain_ends) for group in _groups(_changes(old, new)))


def merge(before: bytes, after: bytes, chosen: Collection[int]) -> bytes:
    """`before` with the chosen of `split(before, after)`, given by number, taken over."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    made: list[bytes] = []
    place = 0
    for number, hunk in enumerate(split(before, after)):
        made += old[place : hunk.old[0]]
        made += new[slice(*hunk.new)] if number in chosen else old[slice(*hunk.old)]
        place = hunk.old[1]
    return b"".join([*made, *old[place:]])


# --- finding them -------------------------------------------------------------------------------------

Change = tuple[int, int, int, int]


def _changes(old: list[bytes], new: list[bytes]) -> list[Change]:
    """Ranges of lines that differ. Lines that stand once on each side hold both together; only what lies
    between two of them is compared further, so that no text takes long."""
    changes: list[Change] = []
    i = j = 0
    for next_i, next_j in (*_anchors(old, new), (len(old), len(new))):
        changes += _between(old, new, (i, next_i, j, next_j))
        i, j = next_i + 1, next_j + 1
    return changes


def _anchors(old: list[bytes], new: list[bytes]) -> list[tuple[int, int]]:
    """Places of lines that stand once on each side, as many as keep their order on both."""
    once_old, once_new = ({line for line, n in Counter(side).items() if n == 1} for side in (old, new))
    places = {line: number for number, line in enumerate(new) if line in once_new}
    pairs = [(i, places[line]) for i, line in enumerate(old) if line in once_old and line in places]
    ends: list[int] = []
    at: list[int] = []
    back: list[int] = []
    for number, (_i, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        back.append(at[length - 1] if length else -1)
        ends[length : length + 1] = [j]
        at[length : length + 1] = [number]
    chain: list[tuple[int, int]] = []
    number = at[-1] if at else -1
    while number >= 0:
        chain.append(pairs[number])
        number = back[number]
    return chain[::-1]


def _between(old: list[bytes], new: list[bytes], part: Change) -> list[Change]:
    """The changes within one stretch of both sides."""
    i1, i2, j1, j2 = part
    while i1 < i2 and j1 < j2 and old[i1] == new[j1]:
        i1, j1 = i1 + 1, j1 + 1
    while i1 < i2 and j1 < j2 and old[i2 - 1] == new[j2 - 1]:
        i2, j2 = i2 - 1, j2 - 1
    if i1 == i2 and j1 == j2:
        return []
    if (i2 - i1) * (j2 - j1) > MAX_WORK:
        return [(i1, i2, j1, j2)]
    matcher = difflib.SequenceMatcher(None, old[i1:i2], new[j1:j2], autojunk=False)
    return [(a + i1, b + i1, c + j1, d + j1) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]


def _groups(changes: list[Change]) -> list[list[Change]]:
    """Changes whose surroundings touch belong together."""
    groups: list[list[Change]] = []
    for change in changes:
        if groups and change[0] - groups[-1][-1][1] <= 2 * CONTEXT:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(old: list[bytes], new: list[bytes], group: list[Change], plain_ends: bool) -> Hunk:
    first, last = group[0], group[-1]
    lines: list[tuple[str, bytes]] = [(" ", line) for line in old[max(0, first[0] - CONTEXT) : first[0]]]
    place = first[0]
    for i1, i2, j1, j2 in group:
        lines += [(" ", line) for line in old[place:i1]]
        lines += [("-", line) for line in old[i1:i2]]
        lines += [("+", line) for line in new[j1:j2]]
        place = i2
    lines += [(" ", line) for line in old[place : place + CONTEXT]]
    return Hunk(
        (first[0], last[1]),
        (first[2], last[3]),
        _text(lines, plain_ends),
        sum(j2 - j1 for _i1, _i2, j1, j2 in group),
        sum(i2 - i1 for i1, i2, _j1, _j2 in group),
    )


# --- showing them -------------------------------------------------------------------------------------


def _text(lines: list[tuple[str, bytes]], plain_ends: bool) -> str:
    shown: list[str] = []
    room = MAX_SHOWN
    for number, (mark, line) in enumerate(lines):
        body = line.rstrip(b"\r\n")
        end = "" if plain_ends or not line.endswith((b"\r", b"\r\n")) else "␍"
        piece = mark + _seen(body.decode("utf-8")) + end
        if line == body:
            piece += "\n\\ No newline at end of file"
        room -= len(piece) + 1
        if room < 0:
            shown.append(f"… {len(lines) - number} more lines")
            break
        shown.append(piece)
    return "\n".join(shown)


def _seen(line: str) -> str:
    """A line in which nothing hides: characters that are not seen or turn the order stand as escapes."""
    hidden = ("Cc", "Cf", "Zl", "Zp", "Cs")
    whole = len(line)
    kept = "".join(
        ascii(char)[1:-1] if char != "\t" and unicodedata.category(char) in hidden else char
        for char in line[:MAX_LINE]
    )
    return kept if whole <= MAX_LINE else f"{kept}… ({whole} characters)"


def _ends(lines: list[bytes]) -> set[bytes]:
    return {line[len(line.rstrip(b"\r\n")) :] for line in lines}


def _range(lines: tuple[int, int]) -> str:
    start, end = lines
    return f"{start + 1 if end > start else start},{end - start}"


def _decodes(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True
