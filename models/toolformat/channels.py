"""Reads replies written as messages, each with a channel and perhaps a recipient (the Harmony format)."""

from __future__ import annotations

import re

from models.toolformat.scan import Scanner
from models.toolformat.source import Marks, Reading, Source
from models.toolformat.writer import OpenCall, Writer

_HEADER = Marks(("<|message|>", "<|end|>", "<|call|>", "<|return|>"))
_ENDS = ("<|end|>", "<|call|>", "<|return|>", "<|start|>", "<|channel|>")
_BODY = Marks(_ENDS)
_BEGINS = Marks(("<|start|>", "<|channel|>", "<|message|>", "to=", *_ENDS))
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)")
_RECIPIENT = re.compile(r"to=(?:functions\.)?([^\s<]+)")
_FUNCTION = re.compile(r"to=functions\.")


class ChannelReader:
    """Reads a whole reply; `keep` leaves reasoning, with its marks, in the answer."""

    def __init__(self, source: Source, writer: Writer, keep: bool = False) -> None:
        self._source = source
        self._writer = writer
        self._keep = keep
        self._scanner = Scanner(_ENDS)

    def read(self) -> Reading[None]:
        """Read to the end."""
        source, opened = self._source, ""
        while True:
            first = yield from source.space() if not opened else source.peek()
            if not first and not opened:
                return
            while (mark := _BEGINS.at(source.text, source.at, source.ended)) is None:
                yield
            if mark in ("<|end|>", "<|call|>", "<|return|>") and not opened:
                source.take(source.at + len(mark))
                continue
            if not mark and not opened:
                opened = yield from self._content(False)
                continue
            header = [opened]
            yield from source.until(_HEADER, header.append)
            opened = yield from self._message("".join(header))

    def _message(self, header: str) -> Reading[str]:
        """Read a message's body; returns the mark of the next header if the message ends with one."""
        named = _CHANNEL.findall(header)
        channel = named[-1] if named else ""
        recipient = _RECIPIENT.search(header)
        tools = self._writer.tools
        if recipient and recipient.group(1) not in ("user", "assistant", "self", "all"):
            if recipient.group(1) in tools or (tools and _FUNCTION.search(header)):
                return (yield from self._call(recipient.group(1)))
            return _header((yield from self._source.until(_BODY, lambda _: None)))
        if channel == "analysis":
            return (yield from self._reasoning())
        return (yield from self._content(True))

    def _content(self, fresh: bool) -> Reading[str]:
        if fresh and self._writer.begun and not self._keep:
            self._writer.raw("\n")
        return _header((yield from self._source.until(_BODY, self._writer.content)))

    def _reasoning(self) -> Reading[str]:
        writer = self._writer
        if not self._keep:
            writer.reasoning("", fresh=True)
            return _header((yield from self._source.until(_BODY, writer.reasoning)))
        writer.content("<|channel|>analysis<|message|>")
        mark = yield from self._source.until(_BODY, writer.raw)
        writer.raw(mark if mark == "<|end|>" else "")
        return _header(mark)

    def _call(self, name: str) -> Reading[str]:
        call = OpenCall(self._writer)
        call.name = name
        call.commit()
        first = yield from self._source.space()
        closed = False
        if first == "{":
            closed = yield from self._scanner.container(self._source, call.argue)
        mark = yield from self._source.until(_BODY, (lambda _: None) if closed else call.argue)
        call.finish(closed or bool(mark))
        return _header(mark)


def _header(mark: str) -> str:
    return mark if mark in ("<|start|>", "<|channel|>") else ""
