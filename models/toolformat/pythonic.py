"""Reads calls in Python's syntax: `[name(key=value, …), …]`."""

from __future__ import annotations

import re
from typing import Any

from models.toolformat import values
from models.toolformat.format import ToolFormat
from models.toolformat.relaxed import Malformed, Relaxed
from models.toolformat.scan import Scanner
from models.toolformat.source import Marks, Reading, Source
from models.toolformat.writer import OpenCall, Writer

_NAME = re.compile(r"[^\s\"'<>(){}\[\],|=`;]*")
_LONGEST = 200


class PythonReader:
    """Reads calls from behind their first mark on; `careful` where ordinary text may stand."""

    def __init__(self, known: ToolFormat, source: Source, writer: Writer, careful: bool = False) -> None:
        self._source = source
        self._writer = writer
        self._careful = careful
        self._marks = Marks((*known.opens(), *known.closes()))
        self._starts = Marks(f"{name}(" for name in writer.tools)
        self._scanner = Scanner(known.closes(), ('"', "'"), "[](){}")

    def read(self) -> Reading[bool]:
        """Read all calls that follow; False if there is none."""
        source, array, found = self._source, False, False
        while True:
            first = yield from source.space()
            mark = yield from source.mark(self._marks)
            if mark:
                continue
            if first == "[" and not array:
                source.take(source.at + 1)
                array = True
            elif first and first in ",;" and (array or found):
                source.take(source.at + 1)
            elif first == "]" and array:
                source.take(source.at + 1)
                array = False
                if self._careful:
                    return found
            elif found and not array:
                again = yield from self._again()
                if not again:
                    return True
                yield from self._one()
            else:
                taken = yield from self._one()
                if not taken:
                    return found
                found = True

    def _again(self) -> Reading[bool]:
        """Whether another call of a tool that was offered follows."""
        source = self._source
        while (mark := self._starts.at(source.text, source.at, source.ended)) is None:
            yield
        return bool(mark)

    def _one(self) -> Reading[bool]:
        call = OpenCall(self._writer)
        call.name = yield from self._source.run(_NAME, _LONGEST)
        first = yield from self._source.space()
        if not call.name or first != "(" or (self._careful and not call.known):
            return False
        self._source.record = None
        call.commit()
        parts: list[str] = []
        closed = yield from self._scanner.container(self._source, parts.append)
        text = "".join(parts)
        found = _keywords(text) if closed else None
        call.argue(text if found is None else values.strict(found))
        call.finish(closed)
        return True


def _keywords(text: str) -> dict[str, Any] | None:
    """The arguments between parentheses; None if they are none."""
    for lenient in (False, True):
        cursor = Relaxed(text, lenient=lenient)
        try:
            found = cursor.keywords()
        except (Malformed, RecursionError):
            continue
        if cursor.ends():
            return found
    return None
