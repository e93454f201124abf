"""Reads calls whose name stands before an object of arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from models.toolformat.format import IDENTITY, ToolFormat, marks
from models.toolformat.scan import Scanner
from models.toolformat.source import Marks, Reading, Source
from models.toolformat.writer import OpenCall, Writer

_NAME = re.compile(r"[^\s\"'<>(){}\[\],|=`]*")
_IDENTITY = re.compile(r"[^\s<>{}\[\]|`]*")
_SUFFIX = re.compile(r":\d+$")
_LONGEST = 200


def resolve(written: str, known: ToolFormat, tools: Mapping[str, Any]) -> tuple[str, str]:
    """(name, id) of a call from what stands where the template writes the name."""
    if written in tools:
        return written, ""
    bare = _SUFFIX.sub("", written) if known.id_form else written
    prefix = known.id_form.partition("{name}")[0] if known.id_form else "functions."
    name = bare.removeprefix(prefix)
    for candidate in (name, name.rpartition(".")[2]):
        if candidate in tools:
            name = candidate
            break
    identity = ""
    if known.id_form and bare != written:
        identity = known.id_form.format(name=name, index=written.rpartition(":")[2])
    return name, identity


def read_name(source: Source, opens: Marks) -> Reading[tuple[str, str]]:
    """Read what stands where the name is written, and an id before it: (written name, id)."""
    identity = ""
    while True:
        yield from source.space()
        mark = yield from source.mark(opens)
        if mark:
            continue
        written = yield from source.run(_NAME, _LONGEST)
        mark = yield from source.mark(opens)
        if not mark:
            return written, identity
        identity = written or identity


def read_calls(
    source: Source, ends: Marks, opens: frozenset[str], one: Callable[[], Reading[bool]]
) -> Reading[bool]:
    """Read calls with `one` as long as marks that open one follow; False if there is none. `ends` are the
    marks that may stand between calls."""
    found = False
    while True:
        taken = yield from one()
        if not taken:
            return found
        found = True
        while True:
            yield from source.space()
            mark = yield from source.mark(ends)
            if not mark:
                return True
            if mark in opens:
                break


def read_head(call: OpenCall, known: ToolFormat, source: Source, tools: Mapping[str, Any]) -> Reading[bool]:
    """Read name and id of `call`; False if no name stands there."""
    written, before = yield from read_name(source, Marks(known.opens()))
    call.name, call.id = resolve(written, known, tools)
    call.id = call.id or (before if has_id(known) else "")
    return bool(call.name)


def has_id(known: ToolFormat) -> bool:
    """Whether an id stands beside the name."""
    return IDENTITY in known.call_open + known.name_close


class NamedReader:
    """Reads calls from behind their first mark on; `careful` where that mark may be ordinary text."""

    def __init__(self, known: ToolFormat, source: Source, writer: Writer, careful: bool = False) -> None:
        self._known = known
        self._source = source
        self._writer = writer
        self._careful = careful
        self._has_id = has_id(known)
        self._opens = frozenset(known.opens())
        closes = (*known.opens(), *known.closes())
        self._closes = Marks((*closes, *marks(known.name_close)))
        self._between = frozenset(marks(known.name_close))
        self._scanner = Scanner(closes, (known.quote,) if known.quote else ('"',))

    def read(self) -> Reading[bool]:
        """Read all calls that follow; False if there is none."""
        return (yield from read_calls(self._source, self._closes, self._opens, self._one))

    def _one(self) -> Reading[bool]:
        source, call = self._source, OpenCall(self._writer, self._known.quote)
        named = yield from read_head(call, self._known, source, self._writer.tools)
        if not named:
            return False
        after: list[str] = []
        first = yield from self._after_name(after)
        if first != "{" and (self._careful or not call.known):
            return False
        if self._careful and not call.known:
            return False
        call.id = call.id or ("".join(after) if self._has_id else "")
        source.record = None
        call.commit()
        closed = first == "}"
        if first == "{":
            closed = yield from self._scanner.container(source, call.argue)
        call.finish(closed)
        return True

    def _after_name(self, identity: list[str]) -> Reading[str]:
        """Read up to the arguments: "{" if they follow, "}" if the call closes without, else ""."""
        while True:
            first = yield from self._source.space()
            mark = yield from self._source.mark(self._closes)
            if mark in self._between:
                continue
            if mark:
                return "}"
            if first == "{":
                return "{"
            text = yield from self._source.run(_IDENTITY, _LONGEST)
            if not text:
                return ""
            identity.append(text)
            if len(identity) > 2:
                return ""
