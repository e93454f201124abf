"""Parses a reply while it streams in: answer, reasoning and tool calls, whatever pieces it is cut into."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from models.toolformat.channels import ChannelReader
from models.toolformat.compare import tags
from models.toolformat.format import NAME, ToolFormat, marks
from models.toolformat.items import Item, Reply, ToolCall
from models.toolformat.named import NamedReader
from models.toolformat.objects import ObjectReader
from models.toolformat.pythonic import PythonReader
from models.toolformat.source import Marks, Reading, Source
from models.toolformat.tag_calls import TagReader
from models.toolformat.writer import Writer

Reader = ObjectReader | NamedReader | PythonReader | TagReader

_BRACE = "{"
FENCES = ("```json", "```tool_call", "```")
_DISTINCT = re.compile(r"[<>\[\]|{}]")


class StreamParser:
    """Feed it pieces of a reply; it hands out what is certain.

    `tools` are the offered tools as in a request; with none, nothing is taken for a call. `primer` is what
    the prompt already wrote of the reply (see `primer_of`). `keep_reasoning` leaves thoughts, with their
    marks, in the answer. Any text gives a result: nothing raises, time grows with the length of the text,
    and the result does not depend on how it is cut. Not for use in two threads at once.
    """

    def __init__(
        self,
        known: ToolFormat,
        tools: Sequence[Mapping[str, Any]] = (),
        *,
        primer: str = "",
        keep_reasoning: bool = False,
    ) -> None:
        self._source = Source()
        self._writer = Writer({name: schema for name, schema in map(_named_schema, tools) if name})
        self._known = _expanded(known, self._writer.tools)
        self._keep = keep_reasoning
        self._tools = tools
        self._set_marks()
        self._routine: Generator[None, None, None] = self._run()
        self._running = True
        self._called = False
        self._advance()
        if primer:
            self._source.feed(primer)
            self._advance()

    def feed(self, text: str) -> list[Item]:
        """What `text` makes certain."""
        self._source.feed(text)
        self._advance()
        return self._writer.drain()

    def finish(self) -> list[Item]:
        """The reply ends here: the rest."""
        if not self._source.ended:
            self._source.ended = True
            self._advance()
            self._writer.end()
        return self._writer.drain()

    @property
    def reply(self) -> Reply:
        """Everything handed out so far."""
        return self._writer.reply()

    def _advance(self) -> None:
        if self._running:
            try:
                next(self._routine)
            except StopIteration:
                self._running = False

    def _set_marks(self) -> None:
        known, offered = self._known, bool(self._writer.tools)
        opens = known.opens() if offered and known.syntax not in ("none", "channels") else ()
        distinct = tuple(mark for mark in opens if _DISTINCT.search(mark))
        self._opens = frozenset(distinct or opens)
        self._bare = offered and known.syntax in ("object", "named", "python") and not self._opens
        self._fences = frozenset(FENCES if offered and known.fenced else ())
        self._reason = frozenset(known.reasoning) - {""}
        self._set_silent(known.silent)
        answer = tuple(mark for mark in marks(known.answer_open) if tags(mark))
        self._thought_ends = Marks((known.reasoning[1], *answer, *self._opens))

    def _set_silent(self, silent: tuple[str, ...]) -> None:
        self._silent = frozenset(silent)
        bare = (_BRACE,) if self._bare and self._known.syntax == "object" else ()
        self._marks = Marks((*self._opens, *self._fences, *self._silent, *self._reason, *bare))

    def _run(self) -> Reading[None]:
        if self._known.syntax == "channels":
            yield from ChannelReader(self._source, self._writer, self._keep).read()
            return
        source, writer = self._source, self._writer
        while True:
            if not writer.begun:
                yield from self._at_start()
            mark = yield from source.until(
                self._marks, writer.raw if writer.begun and self._keep else writer.content
            )
            if not mark:
                return
            if mark in self._opens:
                yield from self._calls(mark)
            elif mark in self._reason:
                yield from self._thought(mark)
            elif mark == _BRACE:
                yield from self._brace()
            elif mark in self._silent:
                writer.part() if not writer.begun else None
            else:
                yield from self._fence(mark)

    def _at_start(self) -> Reading[None]:
        """Where an answer would begin: an object may be a call without marks."""
        first = yield from self._source.space()
        if not first or not self._writer.tools:
            return
        known = self._known
        if known.syntax == "named" and self._bare:
            named = yield from self._names_a_tool()
            if named:
                yield from self._attempt("", NamedReader(known, self._source, self._writer, careful=True))
        elif first == "[" and known.syntax == "python" and self._bare:
            yield from self._attempt("", PythonReader(known, self._source, self._writer, careful=True))
        elif first in "{[":
            while (mark := self._marks.at(self._source.text, self._source.at, self._source.ended)) is None:
                yield
            if mark in ("", _BRACE):
                yield from self._attempt("", ObjectReader(known, self._source, self._writer, careful=True))

    def _names_a_tool(self) -> Reading[bool]:
        names = Marks(self._writer.tools)
        source = self._source
        while (mark := names.at(source.text, source.at, source.ended)) is None:
            yield
        return bool(mark)

    def _calls(self, mark: str) -> Reading[None]:
        known, source, writer = self._known, self._source, self._writer
        first = (known.opens() or ("",))[0]
        if mark != first:
            writer.keep_space()
        reader: Reader
        if known.syntax == "tags":
            reader = TagReader(known, source, writer)
        elif known.syntax == "named":
            reader = NamedReader(known, source, writer)
        elif known.syntax == "python":
            reader = PythonReader(known, source, writer)
        else:
            reader = ObjectReader(known, source, writer)
        yield from self._attempt(mark, reader)
        if not self._called and writer.reply().calls:
            self._called = True
            self._set_silent((*known.silent, *(mark for mark in known.closes() if tags(mark))))

    def _attempt(self, mark: str, reader: Reader) -> Reading[None]:
        """Read calls; where there is none after all, what was read is part of the answer."""
        source = self._source
        source.record = [mark]
        found = yield from reader.read()
        record, source.record = source.record, None
        if not found and record is not None:
            text = "".join(record)
            self._writer.content(text.removeprefix(mark) if mark in self._silent else text)
            self._writer.begun = True

    def _brace(self) -> Reading[None]:
        """A brace at the start of a line may begin a call, where calls stand without marks."""
        source = self._source
        if not self._writer.line_start:
            self._writer.content(_BRACE)
            return
        source.at -= len(_BRACE)
        yield from self._attempt("", ObjectReader(self._known, source, self._writer, careful=True))

    def _fence(self, mark: str) -> Reading[None]:
        """A fenced block at the start of a line may hold calls."""
        if not self._writer.line_start:
            self._writer.content(mark)
            return
        source = self._source
        source.record = [mark]
        first = yield from source.space()
        record, source.record = source.record, None
        if not first or first not in "{[":
            self._writer.content("".join(record or ()))
            return
        yield from self._attempt(
            "".join(record or ()), ObjectReader(self._known, source, self._writer, careful=True)
        )

    def _thought(self, mark: str) -> Reading[None]:
        """Reasoning, if it stands before the first word of an answer; a stray closing mark is nothing."""
        opening, closing = self._known.reasoning
        if self._writer.begun:
            if mark != closing or closing not in marks(self._known.turn_end):
                self._writer.content(mark)
            return
        if mark == closing and mark != opening:
            self._writer.part()
            return
        yield from self._reason_until(opening, closing)

    def _reason_until(self, opening: str, closing: str) -> Reading[None]:
        source, writer = self._source, self._writer
        sink, held = _Thought(writer, opening if self._keep else ""), list[str]()
        mark = yield from source.until(self._thought_ends, sink)
        while mark in self._opens:
            held.append(mark)
            mark = yield from source.until(self._thought_ends, held.append)
        if not mark and held:
            if not self._replay("".join(held)):
                sink("".join(held))
            return
        for text in held:
            sink(text)
        sink.close(mark if mark == closing else "")

    def _replay(self, text: str) -> bool:
        """Take calls out of reasoning that never closed, if they are complete."""
        inner = StreamParser(replace(self._known, reasoning=("", "")), self._tools)
        inner.feed(text)
        inner.finish()
        calls = inner.reply.calls
        if not calls or any(call.fault for call in calls):
            return False
        self._writer.part()
        for call in calls:
            self._take(call)
        self._writer.content(inner.reply.content)
        return True

    def _take(self, call: ToolCall) -> None:
        index = self._writer.start(call.name)
        self._writer.delta(index, call.arguments)
        self._writer.finish(call)


class _Thought:
    """Where reasoning goes: its own place, or with its opening mark into the answer."""

    def __init__(self, writer: Writer, kept: str) -> None:
        self._writer = writer
        self._kept = kept
        self._begun = False
        if not kept:
            writer.reasoning("", fresh=True)

    def __call__(self, text: str) -> None:
        if not self._kept:
            self._writer.reasoning(text)
        elif text.strip() or self._begun:
            self._writer.raw(text if self._begun else self._kept + text)
            self._begun = self._writer.begun = True
        else:
            self._kept += text

    def close(self, mark: str) -> None:
        if not self._kept:
            self._writer.part()
        elif self._begun:
            self._writer.raw(mark)


def primer_of(known: ToolFormat, prompt: str) -> str:
    """What a rendered prompt already wrote of the reply after the turn's header, such as `<think>`."""
    for header in (known.header, known.header.strip(), (marks(known.header) or ("",))[-1]):
        if header and header in prompt:
            return prompt[prompt.rindex(header) + len(header) :]
    return ""


def _named_schema(tool: Mapping[str, Any]) -> tuple[str, Any]:
    """(name, schema of the arguments) of a tool of a request."""
    function = tool.get("function", tool)
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        return "", {}
    return function["name"], function.get("parameters") or {}


def _expanded(known: ToolFormat, tools: Mapping[str, Any]) -> ToolFormat:
    """`known` without placeholders of names in its marks: a mark for each tool stands in for them."""
    if NAME not in known.section_open + known.call_open + known.between:
        return known

    def listed(text: str) -> str:
        return "\n".join(
            mark.replace(NAME, name) for mark in marks(text) for name in (tools if NAME in mark else ("",))
        )

    return replace(
        known,
        section_open=listed(known.section_open),
        call_open=listed(known.call_open),
        between=listed(known.between),
    )
