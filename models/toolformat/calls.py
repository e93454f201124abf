"""Reads from renderings how a template writes a call: syntax, marks, place of name and arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from models.toolformat.compare import common_prefix, split_between
from models.toolformat.format import ARGUMENTS, IDENTITY, NAME, ORDINAL, ToolFormat
from models.toolformat.probe import FIRST, IDS, KEYS, SECOND, VALUES
from models.toolformat.tagged import read_tags

_DIGIT = re.compile(r"(?<!\w)\d(?!\w)")
_DECODER = json.JSONDecoder()
_ONE_ARGUMENT = {KEYS[0]: VALUES[0]}
_NAMES = {FIRST: _ONE_ARGUMENT, SECOND: {KEYS[0]: VALUES[1]}}


@dataclass(frozen=True, slots=True)
class Written:
    """Turns with one call, two calls, a call of two arguments, and calls with a second argument of each type.

    A turn the template refuses is empty. `id_is_name` says that the name stands only inside the call's id.
    """

    one: str
    two: str
    pair: str
    typed: Mapping[str, str]
    arguments_as: Literal["object", "text"]
    id_is_name: bool = False


@dataclass(frozen=True, slots=True)
class _Spans:
    """Where the calls of a turn begin and end: (start, end) pairs, name and arguments included."""

    turn: str
    calls: tuple[tuple[int, int], ...]


def read_calls(known: ToolFormat, written: Written) -> ToolFormat:
    """`known` with the syntax of calls, or unchanged where none is recognised."""
    parallel = SECOND in written.two and VALUES[1] in written.two
    known = replace(known, parallel=parallel, arguments_as=written.arguments_as)
    for read in (_object, _named, _python, _tags):
        found = read(known, written)
        if found is not None:
            return _identified(found, written)
    return known


def _identified(known: ToolFormat, written: Written) -> ToolFormat:
    """Where the id carries the name, the form ids must have."""
    if written.id_is_name or f"functions.{FIRST}:0" in written.one:
        return replace(known, id_form="functions.{name}:{index}")
    return known


def _without_end(known: ToolFormat, tail: str) -> str:
    """The text after the last call without what ends every turn."""
    end = known.turn_end.strip()
    if end and end in tail:
        return tail[: tail.rindex(end)]
    for mark in known.silent:
        if mark in tail:
            tail = tail[: tail.index(mark)]
    return tail


def _enclosed(known: ToolFormat, one: _Spans, two: _Spans | None) -> ToolFormat:
    """`known` with the marks before, between and after the calls."""
    start = _turn_start(known, one.turn)
    before = _without_marks(known, _holes(one.turn[start : one.calls[0][0]]))
    after = _holes(one.turn[one.calls[-1][1] :])
    if two is None or len(two.calls) < 2:
        return replace(known, call_open=before, call_close=_without_end(known, after))
    between = _holes(two.turn[two.calls[0][1] : two.calls[1][0]])
    tail = _holes(two.turn[two.calls[1][1] :])
    at = split_between(_holes(one.turn[: one.calls[0][0]]), between, tail)
    call_open = between[at:].lstrip()
    lead = between[at : len(between) - len(call_open)]
    call_close = between[:at].rstrip() if tail.startswith(between[:at].rstrip()) else ""
    shared = known.header.endswith(call_open) and not before
    section_open = before[: len(before) - len(call_open)] if before.endswith(call_open) else before
    return replace(
        known,
        section_open=section_open,
        call_open=call_open if before.endswith(call_open) or shared else "",
        call_close=call_close,
        between=between[len(call_close) : at] + lead,
        section_close=_without_end(known, tail[len(call_close) :]),
    )


def _turn_start(known: ToolFormat, turn: str) -> int:
    """Where the model's own words begin: after header and an empty thought."""
    for lead in (known.header, known.header.strip()):
        if lead and lead in turn:
            at = turn.index(lead) + len(lead)
            break
    else:
        at = len(common_prefix([turn, known.header]))
    closing = known.reasoning[1]
    if closing and closing in turn[at:]:
        at = turn.index(closing, at) + len(closing)
    return at


def _without_marks(known: ToolFormat, text: str) -> str:
    """`text` without marks at its start that belong to an (empty) answer."""
    stripped = text.lstrip()
    for mark in known.silent:
        if stripped.startswith(mark):
            return _without_marks(known, stripped[len(mark) :])
    return text


def _holes(text: str) -> str:
    """Names and ids replaced by their placeholders."""
    for name in (FIRST, SECOND):
        text = text.replace(name, NAME)
    for identity in IDS:
        text = text.replace(identity, IDENTITY)
    return text


def _counted(text: str) -> str:
    """`_holes`, and a call's number replaced as well."""
    return _DIGIT.sub(ORDINAL, _holes(text))


def _object(known: ToolFormat, written: Written) -> ToolFormat | None:
    """Calls whose JSON holds the name as well."""
    found = _json_with(written.one, [FIRST])
    if found is None:
        return None
    start, end, value = found
    array = isinstance(value, list)
    path = _paths(value[0] if array else value, FIRST)
    if path is None:
        return None
    name_path, arguments_path, id_path = path
    known = replace(
        known,
        syntax="object",
        array=array,
        name_path=name_path,
        arguments_path=arguments_path,
        id_path=id_path,
        name_is_key=not name_path,
        layout=_layout(written.one[start:end], array),
    )
    one = _Spans(written.one, ((start, end),))
    if array:
        closed = replace(_enclosed(known, one, None))
        return replace(
            closed,
            section_open=closed.call_open,
            section_close=closed.call_close,
            call_open="",
            call_close="",
        )
    second = _json_with(written.two, [SECOND])
    first = _json_with(written.two, [FIRST])
    if first is None or second is None:
        return _enclosed(known, one, None)
    return _enclosed(known, one, _Spans(written.two, (first[:2], second[:2])))


def _json_with(turn: str, names: list[str]) -> tuple[int, int, Any] | None:
    """The outermost JSON value that holds the names, with its place."""
    for found in re.finditer(r"[\[{]", turn):
        try:
            value, end = _DECODER.raw_decode(turn, found.start())
        except ValueError:
            continue
        text = turn[found.start() : end]
        if all(name in text for name in names) and VALUES[0 if FIRST in names else 1] in text:
            first = value[0] if isinstance(value, list) and value else value
            if isinstance(first, dict):
                return found.start(), end, value
    return None


def _paths(value: Any, name: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] | None:
    """The paths of name, arguments and id in one call's object; the name's is empty where it is a key."""
    if not isinstance(value, dict):
        return None
    if _arguments(value.get(name)):
        return (), (name,), ()
    name_path: tuple[str, ...] = ()
    arguments_path: tuple[str, ...] = ()
    id_path: tuple[str, ...] = ()
    for key, inner in value.items():
        if inner == name or (isinstance(inner, str) and inner.endswith("." + name)):
            name_path = (key,)
        elif _arguments(inner):
            arguments_path = (key,)
        elif inner == IDS[0] or ("id" in key.lower() and isinstance(inner, str | int)):
            id_path = (key,)
        elif isinstance(inner, dict):
            deeper = _paths(inner, name)
            if deeper is not None and deeper[0]:
                name_path, arguments_path = (key, *deeper[0]), (key, *deeper[1])
    return (name_path, arguments_path, id_path) if name_path and arguments_path else None


def _arguments(value: Any) -> bool:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return False
    return isinstance(value, dict) and value == _ONE_ARGUMENT


def _layout(text: str, array: bool) -> str:
    """One call's object with placeholders for name, arguments and id; an array's brackets are taken off."""
    if array:
        text = text.strip()[1:-1].strip()
    at = text.index(KEYS[0])
    start = text.rindex("{", 0, at)
    _, end = _DECODER.raw_decode(text, start)
    holed = text[:start] + ARGUMENTS + text[end:]
    return re.sub(r'"(\d|callZq001)"', f'"{IDENTITY}"', holed.replace(FIRST, NAME))


def _named(known: ToolFormat, written: Written) -> ToolFormat | None:
    """Calls whose name stands before an object of arguments."""
    first = _named_call(written.one, FIRST, VALUES[0])
    if first is None:
        return None
    start, inner, end, quote = first
    name_close = written.one[start + len(FIRST) : inner]
    known = replace(known, syntax="named", name_close=_counted(name_close), quote=quote)
    one = _Spans(written.one, ((start, end),))
    both = [
        _named_call(written.two, name, value) for name, value in ((FIRST, VALUES[0]), (SECOND, VALUES[1]))
    ]
    if both[0] is None or both[1] is None:
        return _enclosed(known, one, None)
    return _enclosed(known, one, _Spans(written.two, ((both[0][0], both[0][2]), (both[1][0], both[1][2]))))


def _named_call(turn: str, name: str, value: str) -> tuple[int, int, int, str] | None:
    """(start of the name, start and end of the arguments, the mark around strings or "")."""
    key = turn.find(KEYS[0], turn.find(name))
    if name not in turn or value not in turn or key < 0:
        return None
    at, inner = turn.rindex(name, 0, key), turn.rfind("{", 0, key)
    if inner < at:
        return None
    try:
        found, end = _DECODER.raw_decode(turn, inner)
        return (at, inner, end, "") if found == {KEYS[0]: value} else None
    except ValueError:
        pass
    relaxed = re.compile(re.escape("{" + KEYS[0]) + r"\s*:\s*(\S*?)" + re.escape(value) + r"(\S*?)\}").match(
        turn, inner
    )
    if relaxed is None or relaxed.group(1) != relaxed.group(2):
        return None
    return at, inner, relaxed.end(), relaxed.group(1)


def _python(known: ToolFormat, written: Written) -> ToolFormat | None:
    """Calls in Python's syntax, alone or in a list."""
    form = r"\s*\(\s*" + KEYS[0] + r"\s*=\s*[\"']"
    found = re.search(FIRST + form + VALUES[0] + r"[\"']\s*\)", written.one)
    if found is None:
        return None
    start, end = found.span()
    array = written.one[:start].rstrip().endswith("[")
    if array:
        start, end = written.one.rindex("[", 0, start), written.one.index("]", end) + 1
    closed = _enclosed(
        replace(known, syntax="python", array=array), _Spans(written.one, ((start, end),)), None
    )
    return replace(
        closed, section_open=closed.call_open, section_close=closed.call_close, call_open="", call_close=""
    )


def _tags(known: ToolFormat, written: Written) -> ToolFormat | None:
    """Calls whose arguments are tags."""
    found = read_tags(written.pair, written.one, written.typed)
    if found is None:
        return None
    start, name_close, end, arguments = found
    known = replace(known, syntax="tags", name_close=_counted(name_close), tags=arguments)
    one = _Spans(written.one, ((start, end),))
    first, second = (
        _tagged_span(written.two, name, value, arguments.value_close)
        for name, value in ((FIRST, VALUES[0]), (SECOND, VALUES[1]))
    )
    if first is None or second is None:
        return _enclosed(known, one, None)
    return _enclosed(known, one, _Spans(written.two, (first, second)))


def _tagged_span(turn: str, name: str, value: str, close: str) -> tuple[int, int] | None:
    at = turn.find(value)
    if at < 0 or name not in turn[:at]:
        return None
    shown = close.replace("\ue003", KEYS[0])
    end = turn.find(shown, at)
    return None if end < 0 else (turn.rindex(name, 0, at), end + len(shown))
