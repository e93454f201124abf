"""Notices while a reply is written that a call begins, and says to what grammar the rest is held."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from models.toolformat.constraint import Constraint

_FENCE = "```"
_QUOTED = re.compile(r"`([^`\s(]+)(?:\([^`]*\))?`")
_TELLING = 2
"""Letters of a tool's name after which a fenced object is taken for a call and not for an answer."""


class Trigger:
    """Fed every piece of one reply as it is sampled. `primer` is what the prompt wrote of the reply.

    Marks inside reasoning are nothing. A mark of the model's own format begins a call at once. Fenced JSON
    that begins like a call is one where the reply begins with it (any fenced JSON, where the model was asked
    for a list of calls); behind other words it must name a tool, because an answer may show JSON. An object
    without any mark is a call where the reply begins with it and it names a tool. Where `concerned` is given,
    words that name a tool in backticks announce a call as well, and only the tools that it returns may be
    called; with each comes how far the question speaks for it, in nats.
    """

    def __init__(
        self,
        constraint: Constraint,
        primer: str = "",
        concerned: Callable[[], Mapping[str, float]] | None = None,
    ) -> None:
        self._constraint = constraint
        self._concerned = concerned
        self._opening, self._closing = constraint.known.reasoning
        self._plain = tuple(mark for mark in constraint.marks if not mark.startswith(_FENCE))
        self._fences = tuple(mark for mark in constraint.marks if mark.startswith(_FENCE))
        known = constraint.known
        bracket = "[" if known.array else ""
        self._head = _solid(f'{bracket}{{"{known.name_path[0]}":"') if known.name_path else ""
        self._longest = max((len(mark) for mark in (*constraint.marks, self._closing)), default=0)
        self._names = [name for name, _ in constraint.tools]
        self.weights: dict[str, float] = {}
        """How far the question speaks for the texts that may follow, once a call has begun."""
        self._text = ""
        self._bare = self._may_be_bare()
        self._fence = -1
        self._leading = False
        self._announced = False
        self._thinking = False
        self._over = False
        if primer:
            self.feed(primer)

    def feed(self, piece: str) -> str:
        """The grammar for what follows `piece`, once; "" as long as there is none."""
        if self._over or not piece:
            return ""
        start = max(0, len(self._text) - self._longest)
        self._text += piece
        if self._thinking:
            self._think(start)
            return ""
        if self._opening and len(self._text) < 4 * self._longest:
            head = self._text.lstrip()
            if head.startswith(self._opening):
                self._text, self._thinking = head[len(self._opening) :], True
                self._think(0)
                return ""
        return self._grammar(start)

    def _think(self, start: int) -> None:
        at = self._text.find(self._closing, start) if self._closing else -1
        if at >= 0:
            self._text, self._thinking = self._text[at + len(self._closing) :], False
            self._bare = self._may_be_bare()

    def _grammar(self, start: int) -> str:
        constraint = self._constraint
        if constraint.at_start:
            words = self._text.lstrip()
            for mark in self._plain:
                if words.startswith(mark):
                    return self._found(mark, words[len(mark) :])
        else:
            for mark in self._plain:
                at = self._text.find(mark, start)
                if at >= 0 and (found := self._found(mark, self._text[at + len(mark) :])):
                    return found
        return self._fenced(start) or self._unmarked()

    def _may_be_bare(self) -> bool:
        return bool(self._head) and not self._constraint.at_start

    def _unmarked(self) -> str:
        """An object that begins the reply as a call's does."""
        written = self._text.lstrip()
        if not self._bare or not written:
            return ""
        head = self._head.removeprefix("[")
        body = _solid(written)
        inner = body.removeprefix("[")
        name = inner[len(head) :]
        if not head.startswith(inner[: len(head)]) or not any(one.startswith(name) for one in self._names):
            self._bare = False
        elif len(inner) > len(head) and self._tells(name):
            return self._found("", written, self._constraint.unmarked(array=body != inner))
        return ""

    def _tells(self, name: str) -> bool:
        return any(one.startswith(name) and len(name) >= min(_TELLING, len(one)) for one in self._names)

    def _fenced(self, start: int) -> str:
        """A fence at the start of a line, from the first letters of a tool's name on."""
        for mark in self._fences:
            at = self._text.find(mark, start)
            if at >= 0 and not self._text[:at].rpartition("\n")[2].strip():
                self._fence = at + len(mark)
                self._leading = not self._text[:at].strip()
                self._announced = self._announces(self._text[:at])
            if self._fence < 0:
                continue
            written = self._text[self._fence :]
            body = _solid(written)
            if not self._head.startswith(body[: len(self._head)]):
                self._fence = -1
            elif self._announced or (self._leading and (body == self._head or self._constraint.known.array)):
                return self._found(mark, written)
            elif len(body) > len(self._head):
                name = body[len(self._head) :]
                if self._tells(name):
                    return self._found(mark, written)
                if not any(one.startswith(name) for one in self._names):
                    self._fence = -1
        return ""

    def _found(self, mark: str, written: str, constraint: Constraint | None = None) -> str:
        constraint = constraint or self._constraint
        if constraint.known.array and mark.startswith(_FENCE):
            mark, written = mark[:-1], mark[-1] + written  # a whole fence would mean objects without a list
        grammar = None
        if self._concerned is not None:
            names = self._concerned()
            narrowed = constraint.among(names)
            grammar = narrowed.grammar(mark, written)
            self.weights = {text: names[name] for name, text in narrowed.texts(mark, written).items()}
        grammar = grammar or constraint.grammar(mark, written)
        self._over = grammar is not None
        return grammar or ""

    def _announces(self, words: str) -> bool:
        """Whether `words` say what tool is to be called."""
        return self._concerned is not None and any(name in self._names for name in _QUOTED.findall(words))


def _solid(text: str) -> str:
    """Without white space."""
    return "".join(text.split())
