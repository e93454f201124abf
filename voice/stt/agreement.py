"""Finds how much of the words so far two quick readings agree on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

_OPEN = 4
"""Tokens at the end of what was agreed that the next reading may still change."""


class Agreement:
    """Fed with the tokens of each quick reading of one stretch of speech."""

    def __init__(self) -> None:
        self._last: tuple[int, ...] = ()
        self._agreed: tuple[int, ...] = ()

    @property
    def prefix(self) -> tuple[int, ...]:
        """The tokens with which the next reading may begin."""
        return self._agreed[:-_OPEN]

    def add(self, tokens: Sequence[int]) -> tuple[int, ...]:
        """Take a reading; gives the tokens that it begins with as the one before did."""
        same = takewhile(lambda pair: pair[0] == pair[1], zip(self._last, tokens, strict=False))
        self._agreed = tuple(token for token, _ in same)
        self._last = tuple(tokens)
        return self._agreed
