"""Guarantees well-formed calls of existing tools: a grammar for what follows a call's first mark."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from models.toolformat.format import ARGUMENTS, IDENTITY, NAME, ORDINAL, ToolFormat, marks
from models.toolformat.schema_grammar import Rules, literal

_HOLES = re.compile(f"([{NAME}{ARGUMENTS}{IDENTITY}{ORDINAL}])")
_FENCE = "```json"
_RECIPIENT = "to=functions."
_CLASSES = {IDENTITY: "[a-zA-Z0-9]{1,9}", ORDINAL: "[0-9]{1,3}"}


@dataclass(frozen=True, slots=True)
class Constraint:
    """Marks that begin a call, and the grammar of the text behind them.

    Write freely until one of `marks` stands in the reply outside reasoning; if `at_start` it counts only as
    the first words of the answer. From there on sample with `grammar(mark, written)`, where `written` is what
    the reply holds behind the mark. `forced()` is the grammar of a reply that must be a call, from its first
    character on (behind reasoning). After the grammar's end only the end of the reply is allowed.
    """

    known: ToolFormat
    tools: tuple[tuple[str, Any], ...]
    parallel: bool
    marks: tuple[str, ...]
    at_start: bool = False

    def among(self, names: Collection[str]) -> Constraint:
        """The same for calls of these tools alone."""
        return replace(self, tools=tuple(tool for tool in self.tools if tool[0] in names))

    def unmarked(self, *, array: bool) -> Constraint:
        """The same for a reply that begins with a call's object, or a list of them, without any mark; its one
        mark is ""."""
        known = replace(_fenced(self.known), section_close="", array=array)
        return replace(self, known=known, marks=("",), at_start=True)

    def grammar(self, mark: str, written: str = "") -> str | None:
        """GBNF with the start symbol `root`, or None where `written` does not begin a call."""
        if mark != _FENCE and self.known.syntax == "channels":
            return self._channels(written)
        led = self._led(mark)
        return None if led is None else self._grammar(*led, written)

    def texts(self, mark: str, written: str = "") -> dict[str, str]:
        """For each tool that may be called what the reply goes on with to the end of its name; {} where that
        does not stand at once."""
        led = self._led(mark)
        if led is None or led[0].syntax == "channels":
            return {}
        known, lead = led
        head, _, tail = (
            known.layout.partition(NAME) if known.syntax == "object" else ("", "", known.name_close)
        )
        rest = _consumed(lead + head, written)
        if rest is None or _HOLES.search(rest[0]):
            return {}
        close = "" if _HOLES.match(tail) else tail[:1]
        return {
            name: f"{rest[0]}{name[len(rest[1]) :]}{close}"
            for name, _ in self.tools
            if name.startswith(rest[1])
        }

    def _led(self, mark: str) -> tuple[ToolFormat, str] | None:
        """The format of a call that `mark` begins, and what of it stands between mark and head."""
        if mark == _FENCE:
            return _fenced(self.known), "\n"
        known = self.known
        lead = known.section_open + ("[" if known.array else "") + known.call_open + _head(known)
        at = lead.find(mark)
        return None if at < 0 else (known, lead[at + len(mark) : len(lead) - len(_head(known))])

    def forced(self) -> str | None:
        """GBNF of a reply that is nothing but calls."""
        known = self.known
        if known.syntax == "channels":
            return self._channels("", "<|channel|>commentary " + _RECIPIENT)
        return self._grammar(known, known.section_open + ("[" if known.array else "") + known.call_open, "")

    def _grammar(self, known: ToolFormat, lead: str, written: str) -> str | None:
        rest = _consumed(lead + _head(known), written)
        if rest is None:
            return None
        missing, name_begun = rest
        rules = Rules()
        bodies = {
            name: rules.schema(schema or {"type": "object"}, schema, name) for name, schema in self.tools
        }
        starts = [
            _body(known, name, bodies[name], name[len(name_begun) :])
            for name, _ in self.tools
            if name.startswith(name_begun)
        ]
        if not starts:
            return None
        begin = rules.add("begin", " | ".join(starts))
        again = rules.add(
            "call", " | ".join(_head_of(known) + _body(known, name, bodies[name], name) for name in bodies)
        )
        end = rules.add("end", _tail(known))
        several = ""
        if self.parallel and known.parallel:
            separator = (
                literal(", ") if known.array else _pattern(known.call_close + known.between + known.call_open)
            )
            several = f" ({separator} {again})*" if separator != '""' else f" {again}*"
        return rules.text(f"{_pattern(missing)} {begin}{several} {end}")

    def _channels(self, written: str, lead: str = "") -> str | None:
        starts = []
        rules = Rules()
        for name, schema in self.tools:
            if name.startswith(written):
                arguments = rules.schema(schema or {"type": "object"}, schema, name)
                starts.append(f"{literal(name[len(written) :])} header {arguments}")
        if not starts:
            return None
        begin = rules.add("begin", " | ".join(starts))
        text = rules.text(f"{literal(lead)} {begin}")
        header = (
            '("<|channel|>" ("commentary" | "analysis"))? (" json" | " "? "<|constrain|>json")? "<|message|>"'
        )
        return f"{text}header ::= {header}\n"


def constraint(
    known: ToolFormat,
    tools: Sequence[Mapping[str, Any]],
    *,
    parallel: bool = True,
    only: str = "",
    fence: bool = False,
) -> Constraint | None:
    """How to constrain replies in this format, or None if it can only be parsed and repaired.

    `only` allows a single tool. `fence` lets a block of fenced JSON count as a call too, for models that
    answer so whatever their template says; such a model can then no longer show other JSON in a fence.
    """
    named = [tool.get("function", tool) for tool in tools]
    offered = tuple(
        (one["name"], one.get("parameters") or {}) for one in named if not only or one["name"] == only
    )
    if not offered or not known.constrainable:
        return None
    fences = (_FENCE,) if fence else ()
    if known.syntax == "channels":
        return Constraint(known, offered, parallel, (_RECIPIENT,))
    firsts = [marks(text)[0] for text in (known.section_open, known.call_open) if marks(text)]
    firsts = [mark for mark in firsts if NAME not in mark]
    if firsts:
        return Constraint(known, offered, parallel, (*dict.fromkeys(firsts), *fences))
    head = _head(known).rstrip('" ')
    return Constraint(known, offered, parallel, ((head,) if head else ()) + fences, at_start=True)


def _fenced(known: ToolFormat) -> ToolFormat:
    """Calls as objects in a fenced block."""
    layout = f'{{"name": "{NAME}", "arguments": {ARGUMENTS}}}'
    if known.syntax == "object" and not known.name_is_key and IDENTITY not in known.layout:
        layout = " ".join(known.layout.split())
    return ToolFormat(
        syntax="object", layout=layout, section_close="\n```", between="\n", parallel=known.parallel
    )


def _head(known: ToolFormat) -> str:
    """The literal between a call's mark and the first hole."""
    return _HOLES.split(known.layout)[0] if known.syntax == "object" else ""


def _head_of(known: ToolFormat) -> str:
    head = _head(known)
    return f"{literal(head)} " if head else ""


def _body(known: ToolFormat, name: str, arguments: str, begun: str) -> str:
    """A call from its name on; `begun` is the part of the name still to come."""
    text = known.layout if known.syntax == "object" else f"{NAME}{known.name_close}{ARGUMENTS}"
    pieces = _HOLES.split(text)[1 if known.syntax == "object" else 0 :]
    holes = {NAME: literal(name), ARGUMENTS: arguments, **_CLASSES}
    written: list[str] = []
    for piece in pieces:
        if piece == NAME and begun != name:
            written.append(literal(begun))
            begun = name
        elif piece:
            written.append(holes.get(piece) or literal(piece))
    return " ".join(written)


def _pattern(text: str) -> str:
    """A literal whose ids and numbers are free."""
    pieces = [_CLASSES.get(piece) or literal(piece) for piece in _HOLES.split(text) if piece]
    return " ".join(pieces) or '""'


def _tail(known: ToolFormat) -> str:
    """What ends the calls. The marks behind the last bracket may be left to the model's own end mark."""
    bracket = '"]" ' if known.array else ""
    closing = known.call_close + known.section_close
    return f"{bracket}({literal(closing.rstrip())})?" if closing.strip() else f'{bracket}""'


def _consumed(lead: str, written: str) -> tuple[str, str] | None:
    """(what of `lead` is still to be written, what was written beyond it); white space may differ."""
    at = 0
    for index, one in enumerate(written):
        while at < len(lead) and lead[at].isspace() and one != lead[at] and not one.isspace():
            at += 1
        if at == len(lead):
            return "", written[index:]
        if lead[at] == one:
            at += 1
        elif not one.isspace():
            return None
    return lead[at:], ""
