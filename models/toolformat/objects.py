"""Reads calls that are JSON objects with a name and arguments inside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from models.toolformat.format import ToolFormat
from models.toolformat.scan import Scanner, string_rest
from models.toolformat.source import Marks, Reading, Source
from models.toolformat.writer import OpenCall, Writer

_NAMES = ("name", "tool_name", "function_name", "function", "tool")
_ARGUMENTS = ("arguments", "parameters", "args", "input")
_IDS = ("id", "call_id", "tool_call_id", "type", "index")


class ObjectReader:
    """Reads one or more objects, bare, in a list, or each between marks.

    A `careful` reader stands where ordinary JSON may stand too: it takes an object for a call only if that
    names a tool that was offered.
    """

    def __init__(self, known: ToolFormat, source: Source, writer: Writer, careful: bool = False) -> None:
        self._known = known
        self._source = source
        self._writer = writer
        self._careful = careful
        closes = ("```",) if careful else (*known.opens(), *known.closes())
        self._marks = Marks(closes)
        self._scanner = Scanner(() if careful else closes)

    def read(self) -> Reading[bool]:
        """Read all calls that follow; False if there is none."""
        source, array, found = self._source, False, False
        while True:
            first = yield from source.space()
            mark = yield from source.mark(self._marks)
            if mark:
                if self._careful:
                    return found
                continue
            if first == "{":
                taken = yield from self._one()
                if not taken:
                    return found
                found = True
            elif first == "[" and not array and not found:
                source.take(source.at + 1)
                array = True
            elif first == "," and array:
                source.take(source.at + 1)
            elif first == "]" and array:
                source.take(source.at + 1)
                array = False
                if not found:
                    return not self._careful
            else:
                return found

    def _one(self) -> Reading[bool]:
        call = OpenCall(self._writer)
        seen: dict[str, Any] = {}
        closed = yield from self._members(call, (), seen)
        if not call.committed and (not call.name or self._careful):
            return False
        self._source.record = None
        call.finish(bool(closed))
        return True

    def _members(self, call: OpenCall, path: tuple[str, ...], seen: dict[str, Any]) -> Reading[bool | None]:
        """Read an object's members; None if it is no call, False if it does not close."""
        source = self._source
        source.take(source.at + 1)
        while True:
            first = yield from source.space()
            if first == "}":
                source.take(source.at + 1)
                return True
            if first == ",":
                source.take(source.at + 1)
                continue
            if first != '"':
                return False if call.committed or not first else None
            key = yield from self._string()
            colon = yield from source.space()
            if colon != ":":
                return False if call.committed or not colon else None
            source.take(source.at + 1)
            closed = yield from self._member(call, (*path, key), seen)
            if not closed:
                return closed

    def _member(self, call: OpenCall, path: tuple[str, ...], seen: dict[str, Any]) -> Reading[bool | None]:
        first = yield from self._source.space()
        role = self._role(path, first)
        if role == "key":
            call.name, role = path[-1], "arguments"
            self._consider(call, seen)
        if role == "name":
            call.name = yield from self._string()
            self._consider(call, seen)
            return True
        if role == "arguments":
            seen["arguments"] = True
            self._consider(call, seen)
            return (yield from self._scanner.value(self._source, call.argue))
        if role == "inside":
            return (yield from self._members(call, path, seen))
        if self._careful and role != "id" and not call.committed:
            return None
        text: list[str] = []
        closed = yield from self._scanner.value(self._source, text.append)
        if role == "id":
            call.id = "".join(text).strip('"')[:200] if path[-1] not in ("type", "index") else call.id
        return closed

    def _role(self, path: tuple[str, ...], first: str) -> str:
        known, key = self._known, path[-1]
        if known.name_is_key and not self._careful:
            return "key" if len(path) == 1 else "other"
        if first == '"' and (path == known.name_path or key in _NAMES):
            return "name"
        if path == known.arguments_path or (key in _ARGUMENTS and first in ("{", '"', "n")):
            return "arguments"
        if first == "{" and (path == known.name_path[: len(path)] or key in ("function", "tool_call")):
            return "inside"
        return "id" if key in _IDS or path == known.id_path else "other"

    def _consider(self, call: OpenCall, seen: Mapping[str, Any]) -> None:
        """Hand the call out as soon as its name is certain."""
        if call.name and not call.committed and seen.get("arguments") and self._acceptable(call):
            self._source.record = None
            call.commit()

    def _acceptable(self, call: OpenCall) -> bool:
        return call.known or not self._careful

    def _string(self) -> Reading[str]:
        """Read a JSON string, as its value."""
        parts: list[str] = []
        self._source.take(self._source.at + 1)
        yield from string_rest(self._source, parts.append, '"')
        text = "".join(parts)
        try:
            value = json.loads('"' + text, strict=False)
        except ValueError:
            value = text.rstrip('"')
        return str(value)
