"""Describes, as plain data, how one chat template writes reasoning, answers and tool calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

NAME = "\ue000"
ARGUMENTS = "\ue001"
IDENTITY = "\ue002"
KEY = "\ue003"
ORDINAL = "\ue004"
"""Private-use characters that stand for a tool's name, its arguments, a call's id, an argument's key and a
call's number."""

Syntax = Literal["object", "named", "tags", "python", "channels", "none"]
"""How a call is written.

object: one JSON object holds name and arguments. named: the name stands outside, the arguments are an object.
tags: each argument is a tag. python: `name(key=value)`. channels: messages with a recipient and a channel.
none: the template never shows a call.
"""

_BOUNDARY = re.compile(r"\n+|(?<=>)(?=<)|" + f"[{IDENTITY}{ORDINAL}]")
_VERSION = 1


@dataclass(frozen=True, slots=True)
class TagArguments:
    """How the arguments of a `tags` call are written: `key_open KEY key_close VALUE value_close`.

    `key_close` depends on the value's JSON type where the template says the type; `value_close` may hold the
    placeholder KEY. `item` names the tag of an array's element where arrays and objects are tags as well.
    """

    key_open: str
    key_close: Mapping[str, str]
    value_close: str
    item: str = ""


@dataclass(frozen=True, slots=True)
class ToolFormat:
    """What is known of a template. Texts are exact, with the white space the template writes.

    A reply with calls is `section_open, call, between, call, …, section_close`; a call is
    `call_open NAME name_close ARGUMENTS call_close`, or for `object` the text `layout` between call_open and
    call_close. `header` opens the assistant's turn, `turn_end` closes it; no reader sees `silent` marks.
    """

    syntax: Syntax = "none"
    origin: Literal["template", "text", "fallback"] = "template"
    section_open: str = ""
    section_close: str = ""
    call_open: str = ""
    call_close: str = ""
    between: str = ""
    name_close: str = ""
    layout: str = ""
    array: bool = False
    name_path: tuple[str, ...] = ()
    arguments_path: tuple[str, ...] = ()
    id_path: tuple[str, ...] = ()
    name_is_key: bool = False
    quote: str = ""
    tags: TagArguments | None = None
    header: str = ""
    turn_end: str = ""
    reasoning: tuple[str, str] = ("", "")
    reasoning_field: str = ""
    silent: tuple[str, ...] = ()
    answer_open: str = ""
    parallel: bool = False
    shows_tools: bool = False
    arguments_as: Literal["object", "text"] = "object"
    id_form: str = ""
    fenced: bool = True
    fault: str = ""

    @property
    def constrainable(self) -> bool:
        """Whether a grammar can guarantee well-formed calls; otherwise replies are parsed and repaired."""
        return self.syntax in ("object", "named", "channels") and not self.quote

    def opens(self) -> tuple[str, ...]:
        """The marks that open a section or a call, in their order, without white space around them."""
        return _unique((*marks(self.section_open), *marks(self.call_open)))

    def closes(self) -> tuple[str, ...]:
        """The marks that may stand between and after calls."""
        whole = (self.call_close, self.between, self.section_close)
        return _unique(tuple(mark for text in whole for mark in marks(text)))

    def to_json(self) -> dict[str, Any]:
        """As JSON; `from_json` is the inverse."""
        return asdict(self) | {"version": _VERSION}


def from_json(data: Mapping[str, Any]) -> ToolFormat | None:
    """The format written by `to_json`, or None if another version wrote it."""
    if data.get("version") != _VERSION:
        return None
    known = {one.name for one in fields(ToolFormat)}
    values = {name: _tuples(value) for name, value in data.items() if name in known}
    if isinstance(values.get("tags"), Mapping):
        values["tags"] = TagArguments(**values["tags"])
    return ToolFormat(**values)


def marks(text: str) -> tuple[str, ...]:
    """The marks that make up a literal: split at line breaks, between adjacent tags and at ids."""
    pieces = (piece.strip() for piece in _BOUNDARY.split(text))
    return tuple(piece for piece in pieces if piece)


def _unique(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
