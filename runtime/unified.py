"""A change as text that a person can read: a unified diff that is bounded and says what it leaves out."""

from __future__ import annotations

import difflib

MAX_BYTES = 400_000
MAX_LINES = 4_000
MAX_SHOWN = 64_000
MAX_LINE = 500


def unified(path: str, before: bytes | None, after: bytes | None, source: str = "") -> str:
    """The diff of one file; None is a file that is not there. Contents that are binary or too long for a
    diff are described by their sizes; the result has at most about 64,000 characters."""
    if source:
        return f"rename from {source}\nrename to {path}\n"
    old_name = f"a/{path}" if before is not None else "/dev/null"
    new_name = f"b/{path}" if after is not None else "/dev/null"
    head = [f"--- {old_name}", f"+++ {new_name}"]
    if before == after:
        return "\n".join(head) + "\n"
    old, new = _lines(before or b""), _lines(after or b"")
    if old is None or new is None:
        return "\n".join([*head, f"{_size(before)} -> {_size(after)}"]) + "\n"
    body = list(difflib.unified_diff(old, new, lineterm=""))[2:]
    return _bounded([*head, *body])


def _lines(content: bytes) -> list[str] | None:
    if len(content) > MAX_BYTES or b"\0" in content:
        return None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    lines = text.split("\n")
    if len(lines) > MAX_LINES:
        return None
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
    else:
        lines.pop()
    return lines


def _size(content: bytes | None) -> str:
    if content is None:
        return "no file"
    form = "binary" if b"\0" in content[:8192] else "text"
    return f"{form}, {len(content)} bytes"


def _bounded(lines: list[str]) -> str:
    shown: list[str] = []
    room = MAX_SHOWN
    for number, line in enumerate(lines):
        piece = line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}… ({len(line)} characters)"
        room -= len(piece) + 1
        if room < 0:
            shown.append(f"… {len(lines) - number} more lines")
            break
        shown.append(piece)
    return "\n".join(shown) + "\n"
