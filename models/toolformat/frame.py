"""Reads from renderings what stands around calls: the turn's header, reasoning, marks of an answer."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import takewhile

from models.toolformat import probe
from models.toolformat.compare import closing_mark, common_prefix, tags, whole_tags
from models.toolformat.format import ToolFormat, marks

PAIRS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel>thought", "<channel|>"),
)
"""How models reason whose template names these marks but shows no reasoning of an earlier turn. The first
stands for a template that names none: models are tuned to think whose template was not."""

_LAST_TAG = re.compile(r"(?:<[^<>]*>\w+)?<[^<>]*>\s*$")
_MARKLIKE = re.compile(r"[<>\[\]|]")
_LONGEST = 60
"""A mark longer than this is a sentence of the prompt, not a mark."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Renderings to compare: what asks for a reply, an answer, a call, and an answer after reasoning."""

    source: str
    prompt: str
    plain: str
    called: str
    thinking: str
    reasoning_field: str

    def around(self, known: ToolFormat, header: str = "") -> ToolFormat:
        """`known` with header, reasoning and answer marks; a `header` that is given is taken as it is."""
        turns = [turn for turn in (self.prompt, self.plain, self.thinking, self.called) if turn]
        header = header or _shared(turns).lstrip("\n")
        shift = self.plain.find(header)
        pair = self._reasoning(header)
        if pair[0] and pair[0] in header:
            header = header[: header.rindex(pair[0])]
        before, found, after = self.plain[shift + len(header) :].partition(probe.REPLY)
        if not found:
            before = after = ""
        for mark in pair:
            before = before.rpartition(mark)[2] if mark else before
        ends = takewhile(_is_mark, marks(after))
        lead = [mark for mark in marks(before) if mark in self.plain]
        silent = [
            mark
            for mark in (*lead, *ends, *[mark for mark in marks(header)[-1:] if tags(mark)])
            if _is_mark(mark) and not any(one and one in mark for one in pair)
        ]
        return replace(
            known,
            header=header,
            turn_end=after,
            reasoning=pair,
            reasoning_field=self.reasoning_field,
            answer_open=before,
            silent=tuple(dict.fromkeys(silent)),
        )

    def _reasoning(self, header: str) -> tuple[str, str]:
        """The marks around reasoning, as far as a turn, the prompt or the template's text shows them."""
        if self.thinking:
            start = self.thinking.index(probe.THOUGHT)
            rest = self.thinking[start + len(probe.THOUGHT) : self.thinking.index(probe.REPLY)]
            own = self.thinking[self.thinking.find(header) + len(header) : start].strip()
            left = self.prompt[self.prompt.find(header) + len(header) :].strip()
            ending = _LAST_TAG.search(header)
            last = ending.group().strip() if ending else ""
            closing = closing_mark(own or last, rest)
            if own or (left and closing not in left):
                return own or left, closing_mark(own or left, rest)
            return last, closing
        shown = self.prompt + self.plain + self.called
        for opening, closing in PAIRS:
            if opening in shown or closing in shown:
                return opening, closing
        for opening, closing in PAIRS:
            if opening in self.source or closing in self.source:
                return opening, closing
        return PAIRS[0]


def _is_mark(text: str) -> bool:
    """Whether a line looks like a mark and not like a sentence of the prompt."""
    return 2 < len(text) <= _LONGEST and bool(_MARKLIKE.search(text))


def _shared(turns: list[str]) -> str:
    """What all turns begin with; where they differ in white space before a shared tag, that tag."""
    header = whole_tags(common_prefix(turns))
    again = whole_tags(common_prefix([turn[len(header) :].lstrip() for turn in turns]))
    return again if tags(again) else header
