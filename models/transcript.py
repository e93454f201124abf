"""Remembers which tokens stand for which text in a session's memory, so that a later prompt reuses them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field

Tokenise = Callable[[bytes, bool], list[int]]
"""(text, whether it begins the sequence) → tokens."""


@dataclass(slots=True)
class Transcript:
    """The tokens planned for a sequence, the text they stand for, and how many are evaluated (`held`).

    A model may write tokens that its tokeniser would not choose for the same text, so re-tokenising a
    conversation can break the common prefix. `joints` are the places where text and tokens are known to
    meet, as (bytes, tokens) pairs; from such a place only the rest of a new prompt is tokenised.
    """

    tokens: list[int] = field(default_factory=list)
    text: bytearray = field(default_factory=bytearray)
    held: int = 0
    text_joints: list[int] = field(default_factory=list)
    token_joints: list[int] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)

    def plan(self, prompt: bytes, tokenise: Tokenise, is_control: Callable[[int], bool]) -> list[int]:
        """The tokens of `prompt`, sharing as long a prefix with this transcript as its text allows.

        A joint is taken only if the whole known text is continued there or a control token follows, because
        control tokens always split a tokenisation; otherwise the start of the turn is tried, then all of it.
        """
        shared = _shared_prefix(self.text, prompt)
        last = bisect_right(self.text_joints, shared) - 1
        for joint in [last, *(turn for turn in reversed(self.turns) if turn < last)][:3]:
            if joint < 0:
                break
            at = self.text_joints[joint]
            rest = tokenise(prompt[at:], False) if at < len(prompt) else []
            if not rest or is_control(rest[0]) or at == len(self.text):
                return self.tokens[: self.token_joints[joint]] + rest
        return tokenise(prompt, True)

    def restart(self, prompt: bytes, tokens: list[int], shared: int) -> None:
        """Take `prompt` and its `tokens` (a list of ours from now on) as the new plan; the first `shared`
        tokens stay evaluated."""
        keep = bisect_right(self.token_joints, shared)
        matching = _shared_prefix(self.text, prompt)
        while keep and self.text_joints[keep - 1] > matching:
            keep -= 1
        del self.text_joints[keep:], self.token_joints[keep:]
        self.turns = [turn for turn in self.turns if turn < keep]
        self.tokens, self.text, self.held = tokens, bytearray(prompt), shared
        if not keep or self.text_joints[-1] != len(prompt):
            self._join()
        self.turns.append(len(self.text_joints) - 1)

    def common(self, tokens: list[int]) -> int:
        """How many leading `tokens` are evaluated already."""
        limit = min(self.held, len(tokens))
        return next((at for at in range(limit) if tokens[at] != self.tokens[at]), limit)

    def append(self, token: int, piece: bytes) -> None:
        """A generated token was evaluated."""
        self.tokens.append(token)
        self.text += piece
        self.held += 1
        self._join()

    def _join(self) -> None:
        self.text_joints.append(len(self.text))
        self.token_joints.append(len(self.tokens))


def _shared_prefix(old: bytes | bytearray, new: bytes) -> int:
    if new.startswith(old):
        return len(old)
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
