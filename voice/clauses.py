"""An answer that streams becomes clauses short enough to be spoken while the rest is still written."""

from __future__ import annotations

from dataclasses import dataclass

from voice.wording import aloud


@dataclass(frozen=True)
class Clause:
    """`text` is the exact stretch of the answer; `spoken` is how it is read aloud, which may be empty."""

    text: str
    spoken: str


class Clauses:
    """Cuts one answer; the pieces it comes in change nothing about the clauses.

    The texts of all clauses, joined, are the answer.
    """

    def __init__(self) -> None:
        self._rest = ""

    def add(self, text: str) -> list[Clause]:
        """The clauses that `text` completed."""
        self._rest += text
        head, line, self._rest = self._rest.rpartition("\n")
        return [Clause(head + line, aloud(head))] if line else []

    def end(self) -> list[Clause]:
        """What is left; the object then begins a new answer."""
        rest, self._rest = self._rest, ""
        return [Clause(rest, aloud(rest))] if rest else []
