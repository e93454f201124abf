"""Search through the contents of the workspace, bounded in time whatever the pattern is."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from runtime.confine import Confined, Parts, Stat
from runtime.pathnames import WorkspaceError, is_name
from runtime.survey import walk

MAX_PATTERN = 1_000
MAX_SHOWN = 300
_SNIFF = 8_192


@dataclass(frozen=True, slots=True)
class Match:
    """One line that matches, shortened around the match; `line` counts from 1."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search; `stopped` tells why it ended before the last file."""

    matches: tuple[Match, ...]
    files: int
    skipped: int
    stopped: Literal["", "limit", "time", "cancelled"] = ""


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for: literal text or an RE2 expression, in files whose path or name fits `glob`."""

    pattern: str
    regex: bool = False
    ignore_case: bool = False
    glob: str = ""
    limit: int = 100
    seconds: float = 5.0


def search(
    files: Confined, parts: Parts, query: Query, max_file: int, stop: threading.Event | None = None
) -> Found:
    """Matching lines in path order, at most one per line. Binary, unreadable and larger files are skipped.

    RE2 matches in linear time and bounded memory; the clock is read between matches and files.
    """
    wanted = compiled(query.pattern, literal=not query.regex, ignore_case=query.ignore_case)
    chosen = compiled(_glob(query.glob)) if query.glob else None
    until = time.monotonic() + query.seconds
    matches: list[Match] = []
    read = skipped = 0
    for path, state in walk(files, parts):
        if stop is not None and stop.is_set():
            return Found(tuple(matches), read, skipped, "cancelled")
        if time.monotonic() > until:
            return Found(tuple(matches), read, skipped, "time")
        shown = "/".join(path)
        if chosen is not None and not chosen.search(shown.encode("utf-8", "surrogateescape")):
            continue
        content = _text(files, path, state, max_file)
        if content is None:
            skipped += 1
            continue
        read += 1
        for match in _lines(shown, content, wanted):
            if len(matches) >= query.limit:
                return Found(tuple(matches), read, skipped, "limit")
            matches.append(match)
            if time.monotonic() > until:
                return Found(tuple(matches), read, skipped, "time")
    return Found(tuple(matches), read, skipped)


def compiled(pattern: str, *, literal: bool = False, ignore_case: bool = False) -> Any:
    """An RE2 expression over UTF-8 bytes, in which ^ and $ are ends of lines.

    Raises WorkspaceError `search_pattern` with RE2's reason; look-around and back references do not exist.
    """
    import re2

    options = re2.Options()
    options.log_errors = False
    options.literal = literal
    options.case_sensitive = not ignore_case
    options.never_nl = False
    try:
        if not pattern or len(pattern) > MAX_PATTERN:
            raise WorkspaceError(
                "search_pattern", pattern=pattern[:80], reason=f"1 to {MAX_PATTERN} characters"
            )
        return re2.compile((pattern if literal else f"(?m){pattern}").encode(), options)
    except UnicodeEncodeError as error:
        raise WorkspaceError("search_pattern", pattern=ascii(pattern[:80]), reason=error.reason) from error
    except re2.error as error:
        detail = error.args[0] if error.args else b""
        reason = detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)
        raise WorkspaceError("search_pattern", pattern=pattern[:80], reason=reason) from error


def _text(files: Confined, path: Parts, state: Stat, limit: int) -> bytes | None:
    if state.sort != "file" or state.size > limit or not is_name(path[-1]):
        return None
    try:
        content = files.read(path, limit)
    except WorkspaceError:
        return None
    return None if b"\0" in content[:_SNIFF] else content


def _lines(path: str, content: bytes, wanted: Any) -> Iterator[Match]:
    position, line = 0, 1
    while position <= len(content):
        match = wanted.search(content, position)
        if match is None:
            return
        start, end = match.span()
        if start == len(content) and content.endswith(b"\n"):
            return  # behind the last line there is no line
        line += content.count(b"\n", position, start)
        first = content.rfind(b"\n", 0, start) + 1
        last = content.find(b"\n", start)
        last = len(content) if last < 0 else last
        yield Match(path, line, _around(content[first:last], start - first, min(end, last) - first))
        position, line = last + 1, line + 1


def _around(line: bytes, start: int, end: int) -> str:
    line = line.removesuffix(b"\r")
    if len(line) <= MAX_SHOWN:
        return line.decode("utf-8", "replace")
    left = max(0, start - MAX_SHOWN // 3)
    right = min(len(line), max(left + MAX_SHOWN, min(end, start + MAX_SHOWN)))
    middle = line[left:right].decode("utf-8", "ignore")
    return ("…" if left else "") + middle + ("…" if right < len(line) else "")


def _glob(pattern: str) -> str:
    """A shell pattern as an expression: `*` within a name, `**` across folders; without / any folder."""
    import re2

    out = ["^" if "/" in pattern else "(^|/)"]
    rest = pattern.removeprefix("/")
    while rest:
        if rest.startswith("**/"):
            out.append("(.*/)?")
            rest = rest[3:]
        elif rest.startswith("**"):
            out.append(".*")
            rest = rest[2:]
        else:
            out.append({"*": "[^/]*", "?": "[^/]"}.get(rest[0]) or re2.escape(rest[0]))
            rest = rest[1:]
    return "".join(out) + "$"
