"""Reads calls whose arguments are tags, and gives their values the types of the tool's schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from models.toolformat import values
from models.toolformat.compare import common_suffix
from models.toolformat.format import KEY, TagArguments, ToolFormat, marks
from models.toolformat.named import read_calls, read_head
from models.toolformat.nested import nested
from models.toolformat.source import Marks, Reading, Source
from models.toolformat.writer import OpenCall, Writer

_KEY = re.compile(r"[^\s\"'<>\[\]=]*")
_CDATA = "<![CDATA["
_LONGEST = 300
_SAID = {"integer": {"integer", "number"}, "number": {"integer", "number"}}


class TagReader:
    """Reads calls from behind their first mark on."""

    def __init__(self, known: ToolFormat, source: Source, writer: Writer) -> None:
        assert known.tags is not None
        self._known = known
        self._tags: TagArguments = known.tags
        self._source = source
        self._writer = writer
        self._opens = frozenset(known.opens())
        self._ends = Marks((*known.opens(), *known.closes()))
        self._inside = frozenset(marks(known.name_close))
        key_open = self._tags.key_open.strip()
        self._next = Marks((key_open, *known.opens(), *known.closes(), *self._inside))
        self._after_value = Marks((key_open, *known.closes()))
        self._key_open = key_open
        self._said = _said(self._tags.key_close)
        self._closers = Marks(key.strip() for key in self._said)

    def read(self) -> Reading[bool]:
        """Read all calls that follow; False if there is none."""
        return (yield from read_calls(self._source, self._ends, self._opens, self._one))

    def _one(self) -> Reading[bool]:
        source, call = self._source, OpenCall(self._writer)
        named = yield from read_head(call, self._known, source, self._writer.tools)
        if not named:
            return False
        if not call.known:
            mark = yield from self._skip_to_argument(peek=True)
            if not mark:
                return False
        source.record = None
        call.commit()
        found, closed = yield from self._arguments(call)
        call.finish_with(found, closed)
        return True

    def _skip_to_argument(self, peek: bool = False) -> Reading[str]:
        """Read up to the first argument or the call's end; the mark there, which `peek` leaves unread."""
        source = self._source
        for _ in range(8):
            first = yield from source.space()
            while (mark := self._next.at(source.text, source.at, source.ended)) is None:
                yield
            if mark and mark not in self._inside:
                if not peek:
                    source.take(source.at + len(mark))
                return mark
            if mark:
                source.take(source.at + len(mark))
            elif not first or first.isspace():
                return ""
            else:
                text = yield from source.run(_KEY, _LONGEST)
                if not text:
                    if first not in "\"'>=" or (peek and not self._inside):
                        return ""
                    source.take(source.at + 1)
        return ""

    def _arguments(self, call: OpenCall) -> Reading[tuple[dict[str, Any], bool]]:
        found: dict[str, Any] = {}
        function = self._writer.tools.get(call.name, {})
        schema = function if isinstance(function, Mapping) else {}
        mark = yield from self._skip_to_argument()
        while mark == self._key_open:
            key = yield from self._source.run(_KEY, _LONGEST)
            said = yield from self._key_close()
            text, closed = yield from self._value(key)
            of = values.property_of(schema, schema, key)
            if self._tags.item:
                found[key] = nested(text, self._tags, of, schema)
            else:
                found[key] = values.typed(text, of, schema, said)
            call.argue(f"{', ' if len(found) > 1 else '{'}{values.strict(key)}: {values.strict(found[key])}")
            if not closed:
                return found, False
            yield from self._source.space()
            mark = yield from self._source.mark(self._next)
            while mark in self._inside and mark != self._key_open:
                mark = yield from self._source.mark(self._next)
        call.argue("}" if found else "{}")
        return found, bool(mark)

    def _key_close(self) -> Reading[frozenset[str]]:
        """Read what stands between key and value; the JSON types it speaks of."""
        source = self._source
        if len(self._said) > 1:
            mark = yield from source.mark(self._closers)
            if not mark:
                shared = common_suffix([key.strip() for key in self._said])
                mark = yield from source.until(Marks((shared or ">",)), lambda _: None)
            return self._said.get(mark, values.types(None, {}))
        exact = next(iter(self._said), "")
        for token in marks(exact):
            yield from source.space()
            yield from source.mark(Marks((token,)))
        if exact.endswith("\n"):
            first = yield from source.peek()
            if first == "\n":
                source.take(source.at + 1)
        return values.types(None, {})

    def _value(self, key: str) -> Reading[tuple[str, bool]]:
        """Read a value and its closing mark. A closing mark counts if an argument or an end follows it."""
        source, parts = self._source, list[str]()
        exact = self._tags.value_close.replace(KEY, key)
        close = exact.strip()
        again = f"{self._key_open}{key}{self._tags.key_close['string'].strip()}" if self._tags.item else ""
        around, depth = Marks((close, again)), 0
        while True:
            mark = yield from source.until(around, parts.append)
            if not mark:
                return self._cut("".join(parts)), False
            if again and mark == again:
                depth += 1
            elif depth:
                depth -= 1
            else:
                follows = yield from self._follows()
                if follows:
                    break
            parts.append(mark)
        text = "".join(parts)
        return _plain(text.removesuffix("\n") if exact.startswith("\n") else text), True

    def _follows(self) -> Reading[bool]:
        """Whether, after white space left unread, an argument, an end of the call or the end follows."""
        source = self._source
        skipped = 0
        while True:
            text = source.text
            while source.at + skipped < len(text) and text[source.at + skipped].isspace():
                skipped += 1
            at = source.at + skipped
            if at < len(text):
                mark = self._after_value.at(text, at, source.ended)
                if mark is not None:
                    return bool(mark)
            elif source.ended:
                return True
            yield

    def _cut(self, text: str) -> str:
        """An unclosed value without the marks of the call's end that it swallowed."""
        end = len(text)
        for mark in self._known.closes():
            at = text.rfind(mark, max(0, len(text) - 200))
            end = min(end, at) if at >= 0 else end
        return text[:end].strip("\n")


def _plain(text: str) -> str:
    """`text` without a CDATA section around it."""
    body = text.strip()
    if body.startswith(_CDATA) and body.endswith("]]>"):
        return body[len(_CDATA) : -3]
    return text


def _said(key_close: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """What a text between key and value says of the value's JSON type."""
    found: dict[str, set[str]] = {}
    for kind, text in key_close.items():
        found.setdefault(text, set()).update(_SAID.get(kind, {kind}))
    return {
        text: frozenset(kinds | ({"number"} if "integer" in kinds else set()))
        for text, kinds in found.items()
    }
