"""Collects what a parser reads: items for the stream, and the reply they add up to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from models.toolformat import values
from models.toolformat.items import CallArguments, CallFinished, CallStarted, Item, Reply, Text, ToolCall


class Writer:
    """Takes text and calls in their order; drops white space around reasoning and before calls."""

    __slots__ = ("_calls", "_content", "_items", "_reasoning", "_space", "begun", "line_start", "tools")

    def __init__(self, tools: Mapping[str, Any]) -> None:
        self.tools = tools
        self.begun = False
        self.line_start = True
        self._items: list[Item] = []
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[ToolCall] = []
        self._space = ""

    def content(self, text: str) -> None:
        """More of the answer."""
        if not self.begun:
            text = text.lstrip()
        if not text:
            return
        self.begun = True
        self.raw(text)

    def raw(self, text: str) -> None:
        """More of the answer, with the white space it has."""
        body = text.rstrip()
        if not body:
            self._space += text
        else:
            self._emit("content", self._content, self._space + body)
            self._space = text[len(body) :]
        self.line_start = "\n" in self._space or not self._content

    def reasoning(self, text: str, fresh: bool = False) -> None:
        """More of the reasoning; `fresh` begins a new thought."""
        if fresh:
            self._space = "\n" if self._reasoning else ""
        if not self._reasoning or fresh:
            text = text.lstrip()
        body = text.rstrip()
        if body:
            self._emit("reasoning", self._reasoning, self._space + body)
            self._space = text[len(body) :]
        else:
            self._space += text if self._reasoning else ""

    def part(self) -> None:
        """A mark stands here: white space around it is not the answer's."""
        self._space = ""
        self.begun = False
        self.line_start = True

    def keep_space(self) -> None:
        """White space so far stays in the answer though a call follows."""
        if self._space and self._content:
            self._emit("content", self._content, self._space)
        self._space = ""

    def start(self, name: str) -> int:
        """A call begins; returns its number."""
        self.part()
        index = len(self._calls)
        self._items.append(CallStarted(index, name))
        return index

    def delta(self, index: int, text: str) -> None:
        """More of the text of a call's arguments."""
        if text:
            self._items.append(CallArguments(index, text))

    def finish(self, call: ToolCall) -> None:
        """The call that began last is complete."""
        self._items.append(CallFinished(len(self._calls), call))
        self._calls.append(call)

    def end(self) -> None:
        """The reply ends: white space at the end of an answer stays, at the end of reasoning it goes."""
        if self.begun and self._space:
            self._emit("content", self._content, self._space)
        self._space = ""

    def drain(self) -> list[Item]:
        """The items since the last call of this."""
        items, self._items = self._items, []
        merged: list[Item] = []
        for item in items:
            last = merged[-1] if merged else None
            if isinstance(item, CallArguments) and isinstance(last, CallArguments):
                merged[-1] = CallArguments(item.index, last.text + item.text)
            elif isinstance(item, Text) and isinstance(last, Text) and item.kind == last.kind:
                merged[-1] = Text(item.kind, last.text + item.text)
            else:
                merged.append(item)
        return merged

    def reply(self) -> Reply:
        """Everything so far."""
        return Reply("".join(self._content), "".join(self._reasoning), tuple(self._calls))

    def _emit(self, kind: Literal["content", "reasoning"], into: list[str], text: str) -> None:
        into.append(text)
        self._items.append(Text(kind, text))


class OpenCall:
    """A call while it is read. Nothing is handed out before `commit`; afterwards it is never taken back."""

    __slots__ = ("_parts", "_quote", "_sent", "_writer", "id", "index", "name")

    def __init__(self, writer: Writer, quote: str = "") -> None:
        self._writer = writer
        self._quote = quote
        self._parts: list[str] = []
        self._sent = 0
        self.id = ""
        self.name = ""
        self.index = -1

    @property
    def known(self) -> bool:
        """Whether a tool of this name was offered."""
        return self.name in self._writer.tools

    @property
    def committed(self) -> bool:
        """Whether the call was handed out."""
        return self.index >= 0

    def commit(self) -> None:
        """Hand out the call and what is known of its arguments."""
        if self.committed:
            return
        self.index = self._writer.start(self.name)
        self._writer.delta(self.index, "".join(self._parts))

    def argue(self, text: str) -> None:
        """More of the arguments' text."""
        self._parts.append(text)
        if self.committed:
            self._writer.delta(self.index, text)

    def finish(self, closed: bool) -> None:
        """Hand out the finished call, whose arguments are the text taken by `argue`."""
        self.commit()
        text = "".join(self._parts)
        arguments, fault = values.whole(text, self._quote)
        if not closed and (fault == "not_json" or not text.strip()):
            fault = "unclosed"
        self._writer.finish(ToolCall(self.name, arguments, self.id, fault, self.known))

    def finish_with(self, found: Mapping[str, Any], closed: bool) -> None:
        """Hand out the finished call with arguments that were read one by one."""
        self.commit()
        text = values.strict(found)
        fault = "" if closed else "unclosed"
        self._writer.finish(ToolCall(self.name, text, self.id, fault, self.known))
