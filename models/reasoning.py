"""Tells reasoning from answer while a reply streams in, whatever pieces it is cut into."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["text", "reasoning"]
Span = tuple[Kind, str]

PAIRS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel>thought", "<channel|>"),
    ("<|channel|>analysis<|message|>", "<|end|>"),
)
"""How model families open and close their reasoning."""

_SILENT = (
    "<|START_RESPONSE|>",
    "<|END_RESPONSE|>",
    "<|start|>assistant",
    "<|channel|>final<|message|>",
)
"""Markers between reasoning and answer that nobody should read."""


def opened_by(prompt: str) -> str:
    """The opening marker that the end of a rendered prompt leaves open, or ""."""
    tail = prompt.rstrip()
    return next((opening for opening, _ in PAIRS if tail.endswith(opening)), "")


@dataclass(slots=True)
class ReasoningSplitter:
    """Feed it pieces, get spans; `opening` is the marker a prompt left open.

    Reasoning is recognised only before the first word of the answer, so that an answer may speak about the
    markers. A reply without reasoning passes through unchanged. White space around reasoning is dropped.
    """

    opening: str = ""
    _closing: str = ""
    _held: str = ""
    _answering: bool = False
    _reasoned: bool = False
    _fresh: bool = False
    _space: str = field(default="")

    def __post_init__(self) -> None:
        if self.opening:
            self._open(dict(PAIRS)[self.opening])

    def feed(self, piece: str) -> list[Span]:
        """The spans that are certain after `piece`."""
        self._held += piece
        spans: list[Span] = []
        while self._held and self._step(spans):
            pass
        return _merged(spans)

    def finish(self) -> list[Span]:
        """What was held back at the end of the reply."""
        held, self._held = self._held, ""
        if self._closing:
            text = (self._space + held).rstrip()
            return [("reasoning", text)] if text else []
        if self._reasoned and not self._answering:
            held = held.lstrip()
        return [("text", held)] if held else []

    def _step(self, spans: list[Span]) -> bool:
        if self._closing:
            return self._reason(spans)
        if self._answering:
            spans.append(("text", self._held))
            self._held = ""
            return False
        return self._decide(spans)

    def _decide(self, spans: list[Span]) -> bool:
        """Before the first word of the answer: a marker, the beginning of one, or the answer."""
        head = self._held.lstrip()
        if not head:
            return False
        for opening, closing in PAIRS:
            if head.startswith(opening):
                self._held = head[len(opening) :]
                self._open(closing)
                return True
        for marker in _SILENT:
            if head.startswith(marker):
                self._held, self._reasoned = head[len(marker) :], True
                return True
        markers = [opening for opening, _ in PAIRS] + list(_SILENT)
        if any(marker.startswith(head) for marker in markers):
            return False
        self._answering = True
        if self._reasoned:
            self._held = head
        return True

    def _reason(self, spans: list[Span]) -> bool:
        """Inside reasoning: up to the closing marker, never past what may be its beginning."""
        if self._fresh:
            self._held = self._held.lstrip()
            self._fresh = not self._held
            if self._fresh:
                return False
        body, marker, rest = self._held.partition(self._closing)
        if marker:
            text = (self._space + body).rstrip()
            self._space, self._closing, self._held = "", "", rest
            if text:
                spans.append(("reasoning", text))
            return True
        keep = _overlap(self._held, self._closing)
        body = self._space + self._held[: len(self._held) - keep]
        self._held = self._held[len(self._held) - keep :] if keep else ""
        text = body.rstrip()
        self._space = body[len(text) :]
        if text:
            spans.append(("reasoning", text))
        return False

    def _open(self, closing: str) -> None:
        self._closing, self._reasoned, self._fresh, self._space = closing, True, True, ""


def _overlap(text: str, marker: str) -> int:
    """Length of the longest end of `text` that begins `marker`."""
    return next(
        (size for size in range(min(len(text), len(marker) - 1), 0, -1) if text.endswith(marker[:size])), 0
    )


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for kind, text in spans:
        if merged and merged[-1][0] == kind:
            merged[-1] = (kind, merged[-1][1] + text)
        else:
            merged.append((kind, text))
    return merged
